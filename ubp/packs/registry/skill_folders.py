"""Folders of skills that are watched: their files stay the truth."""

from ubp.messages import Warned
from ubp.packs.registry.acting import thresholds_of
from ubp.packs.registry.contributions import Contribution, skill_contribution
from ubp.project import Project
from ubp.reading.markdown_files import markdown_source
from ubp.reading.project_folders import outermost, path_in_project
from ubp.toolkit import FileText, Source

__all__ = ("fingerprint", "read_skill", "source_of")

_READER = 3
"""Raised whenever the same file would give another record: then every skill is read
again."""

_CLEANED = "skill_cleaned"


def source_of(project: Project) -> Source:
    """The folders ``registry.skills_dirs`` names. Paths are from the root.

    Raises:
        ConfigError: One of these is no folder skills can be in, or a glob in the
            settings cannot be used.
    """
    given = project.settings.registry.skills_dirs
    setting = "registry.skills_dirs"
    return markdown_source(
        project,
        project.root,
        tops=outermost(path_in_project(project.root, each, setting) for each in given),
        include=["**/{SKILL,Skill,skill}.md"],
    )


def fingerprint(project: Project) -> str:
    """What the result of reading depends on beside the file."""
    thresholds = thresholds_of(project)
    return f"{_READER}:{thresholds.reject_at}:{thresholds.suspicious_at}"


def read_skill(file: FileText) -> tuple[Contribution, list[Warned]]:
    """The skill in a file, checked and cleaned as if somebody contributed it.

    Raises:
        RegistryError: It cannot be taken.
    """
    skill = skill_contribution(file.text, None, thresholds_of(file.project))
    redacted = [f"Redacted: {each.type} ({each.count})" for each in skill.redactions]
    return skill, [Warned(_CLEANED, text) for text in (*skill.warnings, *redacted)]

"""Where the notes of a project are."""

from ubp.project import Project
from ubp.reading.markdown_files import markdown_source
from ubp.reading.project_folders import outermost, path_in_project
from ubp.toolkit import Source

__all__ = ("source_of",)

_README = ("{README,Readme,readme}.md",)
"""At the project's root it is about the project: a cover, not a note."""


def source_of(project: Project) -> Source:
    """The docs folder, or the folders ``notes.dirs`` names. Paths are from the root.

    Raises:
        ConfigError: One of these is no folder notes can be in, or a glob in the
            settings cannot be used.
    """
    dirs = project.settings.notes.dirs
    if dirs is None:
        top = project.docs_dir.relative_to(project.root).as_posix()
        tops = ["" if top == "." else top]
    else:
        given = (path_in_project(project.root, each, "notes.dirs") for each in dirs)
        tops = outermost(given)
    return markdown_source(
        project,
        project.root,
        tops=tops,
        # What is said of the docs folder need not hold for other ones.
        include=None if dirs is None else ["**/*.md"],
        besides=_README if "" in tops else (),
    )

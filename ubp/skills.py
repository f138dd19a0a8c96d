"""Skills: the terms in which packs and the protocol speak of what agents can do.

They are those of the MCP extension ``io.modelcontextprotocol/skills``.
"""

from typing import Any

from msgspec import Struct

__all__ = ("GetSkill", "ListSkills", "Skill", "SkillFile", "SkillList")


class SkillFile(Struct, frozen=True, kw_only=True):
    """A file of a skill, as it is now."""

    uri: str
    digest: str
    """``sha256:`` and 64 hexadecimal digits, of its bytes."""
    size: int
    """In bytes."""


class Skill(Struct, frozen=True, kw_only=True):
    """A skill: its SKILL.md, what the front matter of that says, and all its files."""

    uri: str
    frontmatter: dict[str, Any]
    resources: list[SkillFile]


class ListSkills(Struct, frozen=True, kw_only=True):
    """List at most so many skills, in the pack's order."""

    after: str | None = None
    """Where the last list ended, in the pack's own words."""
    limit: int


class SkillList(Struct, frozen=True):
    """Some skills, and where the next list begins; None if there are no more."""

    skills: list[Skill]
    next: str | None = None


class GetSkill(Struct, frozen=True):
    """Say what is to be known of the skill whose SKILL.md has this URI."""

    uri: str

"""What the tools of the pack take and give, where several do."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ubp.packs.specs.languages import Policy
from ubp.packs.specs.search import Match

__all__ = ("Citation", "Doc", "LanguageName", "Snippet", "Version")

LanguageName = Annotated[str, Meta(description="Language")]

Version = Annotated[str, Meta(description="Snapshot, or latest")]

Doc = Annotated[str, Meta(description="Default the first")]


class Snippet(Struct, frozen=True, kw_only=True):
    """Some of a section's text, and which of its characters."""

    text: str
    start_char: int
    end_char: int


class Citation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where something is said."""

    language: str
    doc: str
    version: str
    section_id: str
    title: str
    section_path: str
    url: str
    snippet: Snippet
    source_policy: Policy
    score: float | UnsetType = UNSET
    match: Match | UnsetType = UNSET

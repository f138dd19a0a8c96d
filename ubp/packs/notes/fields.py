"""Arguments and results that several notes tools share."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ubp.errors import InvalidArguments
from ubp.packs.notes.queries import ListedNote
from ubp.toolkit import ArrayResult

__all__ = ("UNTITLED", "FilePath", "NoteEntries", "NoteEntry", "entry", "some", "title")

UNTITLED = "(untitled)"

FilePath = Annotated[str, Meta(description="From search_docs")]


class NoteEntry(Struct, frozen=True, kw_only=True):
    """A note in a list."""

    title: str
    file_path: str
    tags: list[str]


class NoteEntries(ArrayResult, frozen=True, kw_only=True):
    """Notes."""

    result: list[NoteEntry]


def title(of: str) -> str:
    """What a note is called where its front matter has no title."""
    return of or UNTITLED


def entry(note: ListedNote) -> NoteEntry:
    return NoteEntry(title=title(note.title), file_path=note.path, tags=note.tags)


def some(name: str, *given: str) -> Sequence[str]:
    """*given*, none of which may be blank.

    Raises:
        InvalidArguments: One is, or there is none.
    """
    if not given or not all(each.strip() for each in given):
        raise InvalidArguments(
            f"Invalid arguments `{name}`: it is empty. Say what to look for."
        )
    return given

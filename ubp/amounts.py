"""How much is said at once, and where an answer goes on.

Whatever a tool returns is put before a model, which pays for it and reads nothing
else meanwhile. So answers that can grow end somewhere, and say where the rest begins.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ubp.errors import InvalidArguments

__all__ = (
    "MOST_BYTES_FOUND",
    "MOST_CHARACTERS",
    "MOST_ENTRIES",
    "Cursor",
    "NextCursor",
    "at_once",
    "beginning",
    "entries_from",
    "length",
    "next_after",
    "part_of_text",
    "size",
    "whole_answers",
)

MOST_BYTES_FOUND = 6_000
"""Of the answer to a search with the limit it has unless one is given."""

MOST_CHARACTERS = 50_000
"""Of an answer that is a text: as many as a context is made of.

One beyond ASCII is worth as much of them as ``length`` says.
"""

MOST_ENTRIES = 1_000
"""Of a list of all there is."""

Cursor = Annotated[str | None, Meta(description="Go on here")]
NextCursor = (
    Annotated[str, Meta(description="There is more: the `cursor` of the rest.")]
    | UnsetType
)

T = TypeVar("T")

_LONGEST = 15
_in_parts: ContextVar[bool] = ContextVar("in_parts", default=True)


@contextmanager
def whole_answers() -> Iterator[None]:
    """Answers end nowhere inside: for people, who have no context to be flooded."""
    before = _in_parts.set(False)
    try:
        yield
    finally:
        _in_parts.reset(before)


def at_once(most: int) -> int | None:
    """*most*, where there is a most."""
    return most if _in_parts.get() else None


def size(value: Any, *, indented: bool = False) -> int:
    """The bytes of *value* as JSON, as the text of an answer has it."""
    encoded = msgspec.json.encode(value)
    return len(msgspec.json.format(encoded, indent=2) if indented else encoded)


def beginning(cursor: str | None) -> int:
    """Where a part begins that is asked for with *cursor*.

    Raises:
        InvalidArguments: It is none that was given.
    """
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _LONGEST):
        raise InvalidArguments(
            "Invalid `cursor`: it is not one that was given.",
            hint="Leave it out to begin again.",
        )
    return int(cursor)


def next_after(end: int, there: int) -> str | UnsetType:
    """The cursor of what comes after *end*, of as much as is *there*."""
    return str(end) if end < there else UNSET


def part_of_text(
    text: str, cursor: str | None, most: int = MOST_CHARACTERS
) -> tuple[str, str | UnsetType]:
    """The part of *text* that begins at *cursor*, and the cursor of the next.

    It ends with a line, unless the line alone is more than half of it.
    """
    start = beginning(cursor)
    end = start + _characters_of(text[start : start + most], most)
    if end >= len(text) or at_once(most) is None:
        return text[start:], UNSET
    line = text.rfind("\n", (start + end) // 2, end)
    end = end if line < 0 else line + 1
    return text[start:end], next_after(end, len(text))


def entries_from(
    entries: Sequence[T], cursor: str | None, most: int = MOST_ENTRIES
) -> tuple[Sequence[T], str | UnsetType]:
    """The *entries* that begin at *cursor*, and the cursor of the next."""
    start = beginning(cursor)
    end = len(entries) if at_once(most) is None else start + most
    return entries[start:end], next_after(end, len(entries))


def length(text: str) -> int:
    """How much of an answer *text* is, in characters.

    To a model one of Japanese is about four of English. Counted are three halves of a
    byte, so two for one.
    """
    return max(len(text), len(text.encode()) * 2 // 3)


def _characters_of(text: str, most: int) -> int:
    """How many characters from the beginning of *text* are no longer than *most*."""
    if length(text) <= most:
        return len(text)
    begins = text.encode()[: most * 3 // 2].decode(errors="ignore")
    return max(1, len(begins))

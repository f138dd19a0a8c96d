"""How much is said at once, and where an answer goes on.

Whatever a tool returns is put before a model, which pays for it and reads nothing
else meanwhile. So answers that can grow end somewhere, and say where the rest begins.
"""

from collections.abc import Sequence
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
    "beginning",
    "entries_from",
    "next_after",
    "part_of_text",
    "size",
)

MOST_BYTES_FOUND = 6_000
"""Of the answer to a search with the limit it has unless one is given."""

MOST_CHARACTERS = 50_000
"""Of a text that is read: as many as a context is made of."""

MOST_ENTRIES = 1_000
"""Of a list of all there is."""

Cursor = Annotated[str | None, Meta(description="Go on here")]
NextCursor = (
    Annotated[str, Meta(description="There is more: the `cursor` of the rest.")]
    | UnsetType
)

T = TypeVar("T")

_LONGEST = 15


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
    end = start + most
    if end >= len(text):
        return text[start:], UNSET
    line = text.rfind("\n", start + most // 2, end)
    end = end if line < 0 else line + 1
    return text[start:end], next_after(end, len(text))


def entries_from(
    entries: Sequence[T], cursor: str | None, most: int = MOST_ENTRIES
) -> tuple[Sequence[T], str | UnsetType]:
    """The *entries* that begin at *cursor*, and the cursor of the next."""
    start = beginning(cursor)
    return entries[start : start + most], next_after(start + most, len(entries))

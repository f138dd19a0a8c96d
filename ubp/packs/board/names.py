"""Names on disk: files of cards, and columns."""

import re
import unicodedata
from typing import NamedTuple

from ubp.packs.board.ulids import ulid_or_none

__all__ = (
    "DONE",
    "RESERVED",
    "FileName",
    "column_key",
    "file_name",
    "is_column_name",
    "parsed",
    "slug_of",
)

DONE = "done"

RESERVED = frozenset({"notes", "templates", "generated", "packed"})
"""Folders of a board that are never columns."""

_SUFFIX = ".md"
_LONGEST_SLUG = 80
_MOST_BYTES = 200
_LONGEST_COLUMN = 64

# Windows keeps these for devices, whatever follows a dot.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z", re.IGNORECASE)
_COLUMN = re.compile(r"[\w-]+\Z")
_NOT_IN_SLUG = re.compile(r"[\W_]+")


class FileName(NamedTuple):
    """What the name of a card's file says."""

    id: str
    slug: str


def slug_of(title: str) -> str:
    """The readable part of a file name: letters and digits of every script."""
    text = unicodedata.normalize("NFC", title).lower()
    # Lower case may be decomposed where upper case was not.
    text = unicodedata.normalize("NFC", text)
    slug = _NOT_IN_SLUG.sub("-", text).strip("-")[:_LONGEST_SLUG]
    while len(slug.encode()) > _MOST_BYTES:
        slug = slug[:-1]
    return slug.strip("-") or "card"


def file_name(ident: str, title: str) -> str:
    return f"{ident}__{slug_of(title)}{_SUFFIX}"


def parsed(name: str) -> FileName | None:
    """What *name* says; None if it is not that of a card's file."""
    ident, separator, rest = name.partition("__")
    if not separator or not rest.endswith(_SUFFIX):
        return None
    ulid = ulid_or_none(ident)
    return None if ulid is None else FileName(ulid, rest.removesuffix(_SUFFIX))


def is_column_name(name: str) -> bool:
    """Whether a folder of that name could be a column."""
    return (
        len(name) <= _LONGEST_COLUMN
        and len(name.encode("utf-8", "replace")) <= _MOST_BYTES
        and _COLUMN.match(_without_marks(name)) is not None
        and _DEVICES.match(name) is None
        and column_key(name) not in RESERVED
    )


def _without_marks(name: str) -> str:
    """*name* without what belongs to the letter before it.

    Some scripts are not written without; and where macOS has been, a voiced kana is two
    characters.
    """
    return name[:1] + "".join(
        character
        for character in name[1:]
        if not unicodedata.category(character).startswith("M")
    )


def column_key(name: str) -> str:
    """A column's name as it is compared: file systems may not tell cases apart."""
    return unicodedata.normalize("NFC", name).casefold()

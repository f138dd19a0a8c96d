"""A card: what its file says, however its author wrote it."""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ubp.packs.board.names import FileName, column_key
from ubp.packs.board.ulids import ulid_or_none
from ubp.reading import frontmatter
from ubp.reading.frontmatter_edits import Parts, parts_of

__all__ = ("Card", "body_of", "decoded", "digest_of", "read_card", "trait", "with_body")

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Card:
    """One card, as its file was when it was read."""

    id: str
    """That of the file's name."""
    path: str
    """From the board's root, with forward slashes."""
    column: str
    title: str
    hash: str
    values: Mapping[str, Any]
    """All of the front matter."""
    problem: str | None
    """Why the front matter cannot be used."""
    parent: str | None
    depends_on: list[str]
    relates: list[str]
    column_key: str
    """The column as it is compared."""
    traits: frozenset[tuple[str, str]]
    """What it can be chosen by, as it is compared: column, lane, priority, and every
    label and assignee."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def text(self, key: str) -> str | None:
        """A value that should be a line of text."""
        found = frontmatter.texts(self.values.get(key))
        return " ".join(found) if found else None

    def texts(self, key: str) -> list[str]:
        """A value that should be a list of texts."""
        return frontmatter.texts(self.values.get(key))

    @property
    def size(self) -> int | None:
        given = self.values.get("size")
        is_size = isinstance(given, int) and not isinstance(given, bool) and given >= 0
        return given if is_size else None

    @property
    def completed_at(self) -> str | None:
        return self.text("completed_at")

    @property
    def is_done(self) -> bool:
        return self.column == "done"


def _ulids(values: Mapping[str, Any], *keys: str) -> list[str]:
    texts = [text for key in keys for text in frontmatter.texts(values.get(key))]
    found = (ulid_or_none(text) for text in texts)
    return list(dict.fromkeys(ulid for ulid in found if ulid is not None))


def read_card(path: str, column: str, name: FileName, content: bytes) -> Card:
    """What the file at *path* says."""
    text = decoded(content)
    if text is None:
        values: dict[str, Any] = {}
        problem: str | None = "The file is not UTF-8."
    else:
        values, _, warnings = frontmatter.split(text.replace("\r\n", "\n"))
        problem = warnings[0].text if warnings else None
    title = " ".join(" ".join(frontmatter.texts(values.get("title"))).split())
    # Whoever looks for a card whose head is damaged needs something to know it by.
    shown = title or name.slug.replace("-", " ")
    return Card(
        id=name.id,
        path=path,
        column=column,
        title=shown,
        hash=digest_of(content),
        values=values,
        problem=problem,
        parent=next(iter(_ulids(values, "parent")), None),
        depends_on=_ulids(values, "depends_on"),
        relates=_ulids(values, "relates", "relates_to"),
        column_key=column_key(column),
        traits=_traits(column, values),
    )


def trait(kind: str, value: str) -> tuple[str, str]:
    """Something a card can be chosen by, as it is compared."""
    return kind, unicodedata.normalize("NFC", value).strip().casefold()


def _traits(column: str, values: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    return frozenset(
        trait(kind, text)
        for kind, texts in (
            ("column", [column]),
            ("lane", frontmatter.texts(values.get("lane"))),
            ("priority", frontmatter.texts(values.get("priority"))),
            ("label", frontmatter.texts(values.get("labels"))),
            ("assignee", frontmatter.texts(values.get("assignees"))),
        )
        for text in texts
    )


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def decoded(content: bytes) -> str | None:
    """The text of a file, without byte order mark; None if it is not UTF-8."""
    try:
        return content.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError:
        return None


def body_of(text: str) -> str:
    """What follows the front matter and its blank line."""
    parts = parts_of(text)
    rest = text if parts is None else parts.rest
    for newline in ("\r\n", "\n"):
        if parts is not None and rest.startswith(newline):
            return rest.removeprefix(newline)
    return rest


def with_body(parts: Parts, text: str, *, replace: bool) -> Parts:
    """*parts* with *text* behind its body, or in place of it."""
    newline = parts.newline
    if not parts.closing.endswith("\n"):
        parts = parts._replace(closing=parts.closing + newline)
    added = text.replace("\r\n", "\n").replace("\n", newline)
    if replace:
        if added and not added.endswith(newline):
            added += newline
        return parts._replace(rest=newline + added if added else "")
    rest = parts.rest
    if not rest.strip("\r\n"):
        rest = newline  # the blank line before the body, however many there were
    elif not rest.endswith("\n"):
        rest += newline
    return parts._replace(rest=f"{rest}{added}{newline}")

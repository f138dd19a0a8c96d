"""SQL: pages that are named from outside the document graph, and by what."""

from collections.abc import Sequence
from typing import NamedTuple

import apsw

__all__ = ("Mention", "everything", "forget", "save")

_EVERYTHING = """
    SELECT source, shown, title, target FROM mention ORDER BY pack, path, ordinal
"""
_DELETE = "DELETE FROM mention WHERE pack = ? AND path = ?"
_INSERT = """
    INSERT INTO mention (pack, path, ordinal, source, shown, title, target)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""


class Mention(NamedTuple):
    """Something names a page."""

    source: str
    """Its id."""
    path: str
    """From the project's root."""
    title: str
    target: str


def everything(db: apsw.Connection) -> list[Mention]:
    return [Mention(*row) for row in db.execute(_EVERYTHING)]


def save(
    db: apsw.Connection, pack: str, path: str, mentions: Sequence[Mention]
) -> None:
    """What the file at *path* of a pack names, and nothing else."""
    forget(db, pack, path)
    db.executemany(
        _INSERT,
        [(pack, path, number, *mention) for number, mention in enumerate(mentions)],
    )


def forget(db: apsw.Connection, pack: str, path: str) -> None:
    db.execute(_DELETE, (pack, path))

"""Files: what the index knows of each file a pack reads, or could not read.

All SQL that names ``file``, ``failure`` or ``warning`` is in this file.
"""

import posixpath
from collections.abc import Collection, Iterable
from typing import Any

import apsw
import msgspec
from msgspec import Struct

from ubp.messages import FileStamp, Known, Warned
from ubp.store.ids import now

__all__ = (
    "Failure",
    "Noted",
    "fail",
    "failures",
    "fingerprint",
    "forget",
    "known",
    "known_at",
    "known_below",
    "remember",
    "rename",
    "same_content",
    "set_fingerprint",
    "touch",
    "warnings",
)


_MOST_LOOKED_AT = 32
_MOST_SORTED = 1_000
"""Files of the same content that may have been the one, and of how many these are the
likeliest: thousands may be empty, and come one after the other."""


class Failure(Struct, frozen=True):
    """A file that is not indexed, and why."""

    pack: str
    path: str
    reason: str
    at: str


class Noted(Struct, frozen=True):
    """Something in an indexed file that was not understood."""

    pack: str
    path: str
    kind: str
    text: str


_KNOWN = """
    SELECT path, size, mtime_ns, ctime_ns, digest FROM file WHERE pack = :pack
    UNION ALL
    SELECT path, size, mtime_ns, ctime_ns, NULL FROM failure WHERE pack = :pack
"""

_KNOWN_BELOW = """
    SELECT met.path, size, mtime_ns, ctime_ns, digest
      FROM json_each(:places) CROSS JOIN file AS met
        ON pack = :pack AND met.path = value
    UNION
    SELECT met.path, size, mtime_ns, ctime_ns, digest
      FROM json_each(:places) CROSS JOIN file AS met
        ON pack = :pack AND met.path > value || '/' AND met.path < value || '0'
    UNION
    SELECT met.path, size, mtime_ns, ctime_ns, NULL
      FROM json_each(:places) CROSS JOIN failure AS met
        ON pack = :pack AND met.path = value
    UNION
    SELECT met.path, size, mtime_ns, ctime_ns, NULL
      FROM json_each(:places) CROSS JOIN failure AS met
        ON pack = :pack AND met.path > value || '/' AND met.path < value || '0'
"""
"""The character after the slash is 0. One after the other, and places first: with OR,
or in another order, SQLite looks at every row for every place."""

_KNOWN_AT = """
    SELECT path, size, mtime_ns, ctime_ns, digest FROM file
     WHERE pack = :pack AND path = :path
    UNION ALL
    SELECT path, size, mtime_ns, ctime_ns, NULL FROM failure
     WHERE pack = :pack AND path = :path
"""

_REMEMBER = """
    INSERT OR REPLACE INTO file (pack, path, size, mtime_ns, ctime_ns, digest)
    VALUES (?, ?, ?, ?, ?, ?)
"""

_TOUCH = """
    UPDATE file SET size = ?, mtime_ns = ?, ctime_ns = ?
     WHERE pack = ? AND path = ? AND digest = ?
"""

_MOVE_FILE = "UPDATE file SET path = ? WHERE pack = ? AND path = ?"
_MOVE_WARNINGS = "UPDATE warning SET path = ? WHERE pack = ? AND path = ?"

_SAME_CONTENT = """
    SELECT path FROM (
        SELECT path FROM file WHERE digest = :digest AND pack = :pack LIMIT :sorted
    )
     WHERE NOT EXISTS (SELECT 1 FROM file WHERE pack = :pack AND path = :path)
     ORDER BY substr('/' || path, -length(:name)) <> :name, path
     LIMIT :most
"""

_FAIL = """
    INSERT OR REPLACE INTO failure (pack, path, reason, size, mtime_ns, ctime_ns, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""

_FORGET_FILE = "DELETE FROM file WHERE pack = ? AND path = ?"
_FORGET_FAILURE = "DELETE FROM failure WHERE pack = ? AND path = ?"
_FORGET_WARNINGS = "DELETE FROM warning WHERE pack = ? AND path = ?"

_WARN = "INSERT INTO warning (pack, path, n, kind, text) VALUES (?, ?, ?, ?, ?)"

_FINGERPRINT = "SELECT fingerprint FROM reading WHERE pack = ?"

_SET_FINGERPRINT = "INSERT OR REPLACE INTO reading (pack, fingerprint) VALUES (?, ?)"

_FAILURES = "SELECT pack, path, reason, at FROM failure ORDER BY pack, path"
_WARNINGS = "SELECT pack, path, kind, text FROM warning ORDER BY pack, path, n"


def known(db: apsw.Connection, pack: str) -> dict[str, Known]:
    """Every file of *pack* the index has met, by path."""
    return _all_known(db.execute(_KNOWN, {"pack": pack}))


def known_below(
    db: apsw.Connection, pack: str, places: Collection[str]
) -> dict[str, Known]:
    """The same for files at one of *places*, or below one; an empty one is all."""
    if "" in places:
        return known(db, pack)
    asked = {"pack": pack, "places": msgspec.json.encode(list(places)).decode()}
    return _all_known(db.execute(_KNOWN_BELOW, asked))


def known_at(db: apsw.Connection, pack: str, path: str) -> Known | None:
    """What the index knows of the file at *path*, and not of what is below it."""
    return _all_known(db.execute(_KNOWN_AT, {"pack": pack, "path": path})).get(path)


def _all_known(rows: Iterable[tuple[Any, ...]]) -> dict[str, Known]:
    found: dict[str, Known] = {}
    for path, size, mtime, ctime, digest in rows:
        stamp = None if size is None else FileStamp(size, mtime, ctime)
        found[path] = Known(stamp, digest)
    return found


def remember(
    db: apsw.Connection,
    pack: str,
    path: str,
    stamp: FileStamp,
    digest: str,
    warned: Iterable[Warned],
) -> None:
    """Note that this version of the file is indexed."""
    forget(db, pack, path)
    db.execute(
        _REMEMBER,
        (pack, path, stamp.size, stamp.mtime_ns, stamp.ctime_ns, digest),
    )
    db.executemany(
        _WARN, [(pack, path, n, each.kind, each.text) for n, each in enumerate(warned)]
    )


def touch(
    db: apsw.Connection, pack: str, path: str, stamp: FileStamp, digest: str
) -> None:
    """Note a new stamp of an unchanged file; nothing if other content is known by now.

    Then the stamps still differ, and the next comparison finds it.
    """
    stamps = (stamp.size, stamp.mtime_ns, stamp.ctime_ns)
    db.execute(_TOUCH, (*stamps, pack, path, digest))


def same_content(db: apsw.Connection, pack: str, path: str, digest: str) -> list[str]:
    """Paths of files with this digest, if *path* itself is not known yet.

    Those of the same name first; not all of them where very many are the same.
    """
    asked = {
        "pack": pack,
        "path": path,
        "digest": digest,
        "name": f"/{posixpath.basename(path)}",
        "sorted": _MOST_SORTED,
        "most": _MOST_LOOKED_AT,
    }
    return [found for (found,) in db.execute(_SAME_CONTENT, asked)]


def rename(db: apsw.Connection, pack: str, old: str, new: str) -> None:
    """Note that the file at *old* is at *new*; what was known of *new* is forgotten."""
    forget(db, pack, new)
    for statement in (_MOVE_FILE, _MOVE_WARNINGS):
        db.execute(statement, (new, pack, old))


def fail(
    db: apsw.Connection, pack: str, path: str, reason: str, stamp: FileStamp | None
) -> None:
    """Note that the file could not be read; whatever was known of it is forgotten."""
    forget(db, pack, path)
    of = (stamp.size, stamp.mtime_ns, stamp.ctime_ns) if stamp else (None, None, None)
    db.execute(_FAIL, (pack, path, reason, *of, now()))


def forget(db: apsw.Connection, pack: str, path: str) -> None:
    for statement in (_FORGET_FILE, _FORGET_FAILURE, _FORGET_WARNINGS):
        db.execute(statement, (pack, path))


def fingerprint(db: apsw.Connection, pack: str) -> str | None:
    """How the files of *pack* were read when all of them last were."""
    found: str | None = db.execute(_FINGERPRINT, (pack,)).get
    return found


def set_fingerprint(db: apsw.Connection, pack: str, fingerprint: str) -> None:
    """Note that every file of *pack* has been read in this way."""
    db.execute(_SET_FINGERPRINT, (pack, fingerprint))


def failures(db: apsw.Connection) -> list[Failure]:
    return [Failure(*row) for row in db.execute(_FAILURES)]


def warnings(db: apsw.Connection) -> list[Noted]:
    return [Noted(*row) for row in db.execute(_WARNINGS)]

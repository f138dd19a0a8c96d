"""Files: what the index knows of each file a pack reads, or could not read.

All SQL that names ``file``, ``failure`` or ``warning`` is in this file.
"""

from collections.abc import Iterable

import apsw
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
    "remember",
    "set_fingerprint",
    "touch",
    "warnings",
)


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

_REMEMBER = """
    INSERT OR REPLACE INTO file (pack, path, size, mtime_ns, ctime_ns, digest)
    VALUES (?, ?, ?, ?, ?, ?)
"""

_TOUCH = """
    UPDATE file SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE pack = ? AND path = ?
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
    found: dict[str, Known] = {}
    for path, size, mtime, ctime, digest in db.execute(_KNOWN, {"pack": pack}):
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


def touch(db: apsw.Connection, pack: str, path: str, stamp: FileStamp) -> None:
    """Note a new stamp of an unchanged file."""
    db.execute(_TOUCH, (stamp.size, stamp.mtime_ns, stamp.ctime_ns, pack, path))


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

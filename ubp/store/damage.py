"""A damaged index: told to whoever may replace it, set aside, never thrown away.

Everything in the index can be made again from the files. Still the damaged one is kept,
the last one only, for whoever wants to know what happened to it.
"""

from contextlib import suppress
from pathlib import Path

import apsw

from ubp.errors import UbpError
from ubp.store.connection import open_reader

__all__ = (
    "identity",
    "is_intact",
    "kept",
    "report",
    "reported",
    "set_aside",
    "withdraw",
)

_PARTS = ("", "-wal", "-shm")


def identity(database: Path) -> str | None:
    """Which database this is; another one at its path has another. None: no file."""
    try:
        info = database.stat()
    except OSError:
        return None
    return f"{info.st_dev}:{info.st_ino}"


def report(database: Path, which: str | None) -> None:
    """Tell the process that holds the project's lock; it will see for itself."""
    with suppress(OSError):  # a full disk; whoever holds the lock will find out
        _mark(database).write_text(which or "", encoding="utf-8")


def reported(database: Path) -> bool:
    """Whether somebody found the database that is there now to be damaged."""
    try:
        which = _mark(database).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return which == identity(database)


def withdraw(database: Path) -> None:
    """The report has been dealt with."""
    with suppress(OSError):
        _mark(database).unlink(missing_ok=True)


def is_intact(database: Path) -> bool:
    """Whether SQLite finds nothing wrong with it. Reads all of it."""
    try:
        db = open_reader(database)
        try:
            return bool(db.pragma("quick_check") == "ok")
        finally:
            db.close()
    except (UbpError, apsw.Error):
        return False


def set_aside(database: Path) -> None:
    """Make way for a new index. Only for who holds the lock, with nothing open."""
    for part in reversed(_PARTS):  # the database last: without it, the rest is nothing
        old = database.with_name(database.name + part)
        with suppress(FileNotFoundError):
            old.replace(kept(database).with_name(kept(database).name + part))
    withdraw(database)


def kept(database: Path) -> Path:
    """Where a damaged index is kept."""
    return database.with_name(f"{database.name}.damaged")


def _mark(database: Path) -> Path:
    return database.with_name(f"{database.name}.is-damaged")

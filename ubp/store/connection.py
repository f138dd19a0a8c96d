"""Open the database, for reading or for writing.

A reader is read-only to SQLite itself, so a tool that should only read cannot write.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from ubp.errors import DatabaseError, IndexNotReady

__all__ = ("database_errors", "open_reader", "open_writer")

BUSY_TIMEOUT_MS = 5_000
"""How long a statement waits for another process's transaction."""


def open_writer(path: Path | str) -> apsw.Connection:
    """A connection that may write, to a database that is made if need be."""
    with database_errors():
        db = apsw.Connection(str(path))
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
        # Taking the write lock at once: a transaction that reads first and writes
        # later fails whenever another process wrote in between, whatever the timeout.
        db.transaction_mode = "IMMEDIATE"
        _write_ahead(db)
        _foreign_keys(db)
        return db


def open_reader(path: Path) -> apsw.Connection:
    """A connection that can only read.

    Raises:
        IndexNotReady: There is no database yet.
    """
    if not path.exists():
        raise IndexNotReady
    with database_errors():
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
        return db


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn SQLite's refusals into ours. An interrupted query is not one."""
    try:
        yield
    except apsw.InterruptError:
        raise
    except apsw.Error as error:
        kind = type(error).__name__.removesuffix("Error")
        raise DatabaseError(
            f"The database could not be used ({kind}).", cause=f"SQLite: {error}"
        ) from error


def _write_ahead(db: apsw.Connection) -> None:
    """Readers never wait for the writer; a commit survives the end of the process."""
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")


def _foreign_keys(db: apsw.Connection) -> None:
    """Rows of a deleted page go with it."""
    db.pragma("foreign_keys", value=True)

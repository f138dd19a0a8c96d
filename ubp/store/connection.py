"""Open the database, for reading or for writing.

A reader is read-only to SQLite itself, so a tool that should only read cannot write.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from ubp.errors import Busy, DatabaseError, IndexNotReady

__all__ = ("database_errors", "open_reader", "open_writer", "snapshot", "transaction")

BUSY_TIMEOUT_MS = 1_000
"""How long a statement waits for another process's transaction. Short, because waiting
cannot be cancelled; who can wait longer tries again."""


def open_writer(path: Path | str) -> apsw.Connection:
    """A connection that may write, to a database that is made if need be."""
    with database_errors():
        db = apsw.Connection(str(path))
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
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
    except apsw.BusyError as error:
        raise Busy(
            "Another process is writing to the index.",
            cause=f"SQLite waited {BUSY_TIMEOUT_MS / 1000:g} s for its turn.",
        ) from error
    except apsw.Error as error:
        kind = type(error).__name__.removesuffix("Error")
        raise DatabaseError(
            f"The database could not be used ({kind}).", cause=f"SQLite: {error}"
        ) from error


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """All of what happens inside, or nothing; inside another one, a savepoint.

    Not ``with db``: that waits for the write lock, and commits, without letting any
    other thread run - the event loop included.
    """
    # At once: a transaction that reads first and writes later fails whenever another
    # process wrote in between, whatever the timeout.
    outermost = not db.in_transaction
    db.execute("BEGIN IMMEDIATE" if outermost else "SAVEPOINT part")
    try:
        yield
        db.execute("COMMIT" if outermost else "RELEASE part")
    except BaseException:
        # SQLite may have rolled back by itself, on a full disk for instance.
        if db.in_transaction:
            db.execute("ROLLBACK" if outermost else "ROLLBACK TO part; RELEASE part")
        raise


@contextmanager
def snapshot(db: apsw.Connection) -> Iterator[None]:
    """One state of the database for everything that is read inside."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _write_ahead(db: apsw.Connection) -> None:
    """Readers never wait for the writer; a commit survives the end of the process."""
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")


def _foreign_keys(db: apsw.Connection) -> None:
    """Rows of a deleted page go with it."""
    db.pragma("foreign_keys", value=True)

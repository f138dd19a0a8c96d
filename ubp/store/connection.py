"""Open the database, for reading or for writing.

A reader is read-only to SQLite itself, so a tool that should only read cannot write.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from ubp.errors import Busy, DatabaseError, IndexDamaged, IndexNotReady, NoRoom

__all__ = (
    "database_errors",
    "lasting",
    "open_reader",
    "open_writer",
    "snapshot",
    "transaction",
)

BUSY_TIMEOUT_MS = 1_000
"""How long a statement waits for another process's transaction. Short, because waiting
cannot be cancelled; who can wait longer tries again."""


_PAGES_IN_MEMORY = 16_000
"""KiB of pages a writer keeps at most. With SQLite's 2,000 the index of 10,000 files
took twice as long: full text and half a dozen indexes are written to all over."""

_PAGES_IN_LOG = 4_000
_LONGEST_LOG = 16_000_000
"""Pages written before they are carried over into the database, and the bytes of log
that are left lying after that. A page that changes often is then carried over once."""

_MAKE_WRITABLE = "Make .ubp writable; indexing then goes on where it stopped."

_CANNOT_BE_READ = frozenset(
    {
        apsw.SQLITE_IOERR_READ,
        apsw.SQLITE_IOERR_SHORT_READ,
        apsw.SQLITE_IOERR_CORRUPTFS,
        apsw.SQLITE_IOERR_DATA,
    }
)


def open_writer(path: Path | str) -> apsw.Connection:
    """A connection that may write, to a database that is made if need be."""
    with database_errors():
        db = apsw.Connection(str(path))
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
        try:
            _write_ahead(db)
        except apsw.CantOpenError:
            if not _lies_still(path):
                raise
            return _open_still(path)
        _foreign_keys(db)
        _room(db)
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
        try:
            db.pragma("schema_version")
        except apsw.CantOpenError:
            if not _lies_still(path):
                raise
            return _open_still(path)
        return db


def _lies_still(path: Path | str) -> bool:
    """Whether nobody can write to the database, and all of it is in its one file."""
    log = Path(f"{path}-wal")
    written = log.exists() and log.stat().st_size > 0
    return not written and not os.access(Path(path).parent, os.W_OK)


def _open_still(path: Path | str) -> apsw.Connection:
    """On a read-only disk SQLite must not look for the files it keeps beside it."""
    address = f"{Path(path).resolve().as_uri()}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(address, flags=flags)


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
    except (apsw.CorruptError, apsw.NotADBError) as error:
        why = f"SQLite: {error}."
        raise IndexDamaged("The index is damaged.", cause=why) from error
    except (apsw.FullError, apsw.IOError, apsw.ReadOnlyError) as error:
        if getattr(error, "extendedresult", 0) in _CANNOT_BE_READ:
            why = f"SQLite: {error}."
            raise IndexDamaged("The index cannot be read.", cause=why) from error
        read_only = isinstance(error, apsw.ReadOnlyError)
        raise NoRoom(
            "The index could not be written.",
            cause=f"SQLite: {error}.",
            hint=_MAKE_WRITABLE if read_only else None,
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
def lasting(db: apsw.Connection) -> Iterator[None]:
    """The same, for what is nowhere else: once it is over it outlasts the power too.

    Others are made again from files; they do not wait for the disk.
    """
    if db.in_transaction:  # how far that one lasts is not for us to say
        with transaction(db):
            yield
        return
    db.pragma("synchronous", "full")
    try:
        with transaction(db):
            yield
    finally:
        db.pragma("synchronous", "normal")


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


def _room(db: apsw.Connection) -> None:
    """Memory and log enough for many changes at once."""
    db.pragma("cache_size", -_PAGES_IN_MEMORY)
    db.pragma("wal_autocheckpoint", _PAGES_IN_LOG)
    db.pragma("journal_size_limit", _LONGEST_LOG)

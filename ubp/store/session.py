"""Run plain SQL functions in a thread, one at a time for each connection.

SQL modules stay ordinary synchronous functions, and the event loop never waits for
SQLite. A query whose caller is cancelled is interrupted, not left to run on.
"""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread
import apsw

from ubp.errors import Busy, IndexDamaged
from ubp.store.connection import (
    database_errors,
    open_reader,
    open_writer,
    snapshot,
)
from ubp.telemetry import get_logger

__all__ = ("Session", "reading", "writing")

log = get_logger("store")

T = TypeVar("T")

_LOOK_EVERY = 10_000
"""Instructions of SQLite's machine between two looks at whether anybody still waits."""

_TURNS = 60
"""How often we wait for another process's transaction before giving up."""


class _Failed(NamedTuple):
    """What a function raised, on its way out of the thread."""

    error: Exception


class Session:
    """A connection, and the right to use it.

    With *snapshot* every function sees one state of the database from its first
    statement to its last, whatever is committed meanwhile.
    """

    def __init__(
        self,
        db: apsw.Connection,
        *,
        snapshot: bool = False,
        damaged: anyio.Event | None = None,
    ) -> None:
        """*damaged* is set when the database turns out to be."""
        self._db = db
        self._snapshot = snapshot
        self._damaged = damaged
        # Between two statements there is nothing to interrupt; the next one looks here.
        self._given_up = False
        db.set_progress_handler(lambda: self._given_up, _LOOK_EVERY)
        self._turn = anyio.Lock(fast_acquire=True)

    async def run(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """``function(connection, *args, **kwargs)`` in a thread.

        Raises:
            DatabaseError: SQLite refused.
        """
        work = _Work(partial(self._attempt, function, *args, **kwargs))
        async with self._turn:
            self._given_up = False
            try:
                outcome = await anyio.to_thread.run_sync(
                    work.do, abandon_on_cancel=True
                )
            except anyio.get_cancelled_exc_class():
                # The thread is not left behind: its statement is interrupted, and we
                # wait for it to notice. No task waits beside it for that to happen,
                # which would cost as much as a small query.
                if work.is_begun():
                    self._given_up = True
                    self._db.interrupt()
                    with anyio.CancelScope(shield=True):
                        await anyio.to_thread.run_sync(work.wait)
                raise
        if isinstance(outcome, _Failed):
            if isinstance(outcome.error, IndexDamaged) and self._damaged is not None:
                self._damaged.set()
            raise outcome.error
        done: T = outcome
        return done

    async def write(
        self, function: Callable[..., T], /, *args: Any, **kwargs: Any
    ) -> T:
        """The same, waiting for as long as other processes have their turn.

        Raises:
            Busy: They did not finish in a minute.
        """
        for _ in range(_TURNS):
            try:
                return await self.run(function, *args, **kwargs)
            except Busy as error:
                log.warning("index.waiting", reason=error.cause)
        return await self.run(function, *args, **kwargs)

    async def close(self) -> None:
        # Cancelled or not, the connection must be closed: it holds the WAL open.
        with anyio.CancelScope(shield=True):
            async with self._turn:
                await anyio.to_thread.run_sync(self._db.close)

    def _attempt(
        self, function: Callable[..., T], *args: Any, **kwargs: Any
    ) -> "T | _Failed":
        try:
            with (
                database_errors(),
                snapshot(self._db) if self._snapshot else nullcontext(),
            ):
                return function(self._db, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - raised again by run()
            return _Failed(error)


class _Work:
    """A function for a thread, and whether that has begun with it, and ended."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._begin = threading.Lock()
        self._ended = threading.Event()

    def do(self) -> Any:
        if not self._begin.acquire(blocking=False):
            return None  # nobody waits any more
        try:
            return self._function()
        finally:
            self._ended.set()

    def is_begun(self) -> bool:
        """Whether it was begun; if not, it never will be."""
        return not self._begin.acquire(blocking=False)

    def wait(self) -> None:
        """Wait until it has ended."""
        self._ended.wait()


@asynccontextmanager
async def reading(
    path: Path, damaged: anyio.Event | None = None
) -> AsyncIterator[Session]:
    """A session that can only read, closed on leaving."""
    db = await anyio.to_thread.run_sync(open_reader, path)
    session = Session(db, snapshot=True, damaged=damaged)
    try:
        yield session
    finally:
        await session.close()


@asynccontextmanager
async def writing(
    path: Path, damaged: anyio.Event | None = None
) -> AsyncIterator[Session]:
    """A session that may write, closed on leaving."""
    db = await anyio.to_thread.run_sync(open_writer, path)
    session = Session(db, damaged=damaged)
    try:
        yield session
    finally:
        await session.close()

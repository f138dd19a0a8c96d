"""Run plain SQL functions in a thread, one at a time for each connection.

SQL modules stay ordinary synchronous functions, and the event loop never waits for
SQLite. A query whose caller is cancelled is interrupted, not left to run on.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.lowlevel
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
        self._turn = anyio.CapacityLimiter(1)

    async def run(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """``function(connection, *args, **kwargs)`` in a thread.

        Raises:
            DatabaseError: SQLite refused.
        """
        work = partial(self._attempt, function, *args, **kwargs)
        done = anyio.Event()
        async with self._turn, anyio.create_task_group() as group:
            self._given_up = False
            group.start_soon(self._interrupt_unless, done)
            try:
                # Cancellation does not leave the thread behind: it interrupts the
                # statement, and we wait for the thread to notice.
                outcome = await anyio.to_thread.run_sync(work)
            finally:
                done.set()
        # Raised out here, because a task group would wrap it.
        if isinstance(outcome, _Failed):
            # Interrupted because we are cancelled: then that is what happened.
            await anyio.lowlevel.checkpoint_if_cancelled()
            if isinstance(outcome.error, IndexDamaged) and self._damaged is not None:
                self._damaged.set()
            raise outcome.error
        return outcome

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

    async def _interrupt_unless(self, done: anyio.Event) -> None:
        try:
            await done.wait()
        finally:
            if not done.is_set():
                self._given_up = True
                self._db.interrupt()


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

"""The keeper: for how long a database is the one to serve from, and whose turn it is.

A project may have several servers. The one that holds the lock watches, writes and
embeds; the others wait for their turn. Any of them may find that the database is
damaged, or that it is no longer the one at its path: then whoever holds the lock makes
a new one from the files, and all begin again with that.
"""

import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

import anyio
import anyio.from_thread
import anyio.to_thread

from ubp.errors import IndexDamaged, IndexNotReady, innermost
from ubp.project import Project
from ubp.store import damage, texts_waiting
from ubp.store.lock import Claim
from ubp.telemetry import get_logger

__all__ = ("Keeper",)

log = get_logger("keeper")

_LOOK_EVERY = 1.0
"""Seconds. Somebody who was killed says nothing, so one has to look."""

_MOST_REPLACED = 3
_WITHIN = 60.0
"""A database that is damaged more often than that has a cause we cannot mend."""


class Keeper:
    """Decides whose turn it is, and when a database has had its time."""

    def __init__(self, project: Project, claim: Claim | None) -> None:
        self.stop = anyio.Event()
        self._root = project.root
        self._database = project.database
        self._claim = claim
        self._turn = anyio.Event()
        self._damaged = anyio.Event()
        self._began: str | None = None
        self._wait_for_owner = False
        self._told: int | None = None
        self.texts_stored: Callable[[], None] = _nobody
        """Called when another process says that it has stored texts."""
        self._alarms: deque[float] = deque(maxlen=_MOST_REPLACED + 1)

    @property
    def owns(self) -> bool:
        return self._claim is None or self._claim.held

    async def begin(self) -> tuple[anyio.Event, anyio.Event]:
        """Begin with the database that is there, or is to be made.

        Two events: that it is our turn to write, and one to set if it is damaged.
        """
        await self._until_there_is_a_project()
        self._damaged = anyio.Event()
        self._turn = anyio.Event()
        # Before it is opened: if it is replaced meanwhile, that is noticed.
        self._began = await anyio.to_thread.run_sync(damage.identity, self._database)
        self._told = await anyio.to_thread.run_sync(texts_waiting.told, self._database)
        self.texts_stored = _nobody
        if self.owns:
            self._turn.set()
        return self._turn, self._damaged

    async def until_over(self) -> None:
        """Return when we are to stop, or to begin with another database."""
        if self._began is None:  # it has just been made
            self._began = await anyio.to_thread.run_sync(
                damage.identity, self._database
            )
        while not self.stop.is_set():
            if await self._looked_until_something_happens():
                return
            if self.owns and not self._turn.is_set():
                log.info("serve.took_over")
                self._turn.set()

    async def _looked_until_something_happens(self) -> bool:
        """Whether it is over with this database; otherwise something else is new."""
        wake = threading.Event()
        async with anyio.create_task_group() as group:
            for event in (self.stop, self._damaged):
                group.start_soon(_set_when, event, wake)
            # A limiter of its own: it keeps its thread for as long as it looks.
            over = await anyio.to_thread.run_sync(
                self._look_until, wake, limiter=anyio.CapacityLimiter(1)
            )
            group.cancel_scope.cancel()
        return over

    @asynccontextmanager
    async def replacing_what_is_damaged(self) -> AsyncIterator[None]:
        """Have a database that proves damaged inside set aside, if it is our turn.

        Raises:
            IndexDamaged: It happens again and again.
        """
        try:
            yield
        except Exception as caught:
            match innermost(caught):
                case IndexDamaged():
                    self._damaged.set()
                case IndexNotReady():  # set aside while we were opening it
                    self._wait_for_owner = True
                case _:
                    raise
        if self._damaged.is_set() and not self.stop.is_set():
            if self._claim is not None:
                self._claim.take()
            if self.owns:
                await self._replace()
            else:
                damage.report(self._database, self._began)
                self._wait_for_owner = True
        if self._wait_for_owner:  # it is to make a new one first
            self._wait_for_owner = False
            await self._pause()

    async def _replace(self) -> None:
        """Set the database aside, if there is really something wrong with it."""
        now = monotonic()
        before = [alarm for alarm in self._alarms if now - alarm < _WITHIN]
        self._alarms.append(now)
        if len(before) >= _MOST_REPLACED:
            raise IndexDamaged(
                "The index keeps being damaged.",
                hint="Check the disk, and what else writes to .ubp.",
            )
        # One read that failed may be chance, and is no reason to make it all again.
        if not before and await anyio.to_thread.run_sync(
            damage.is_intact, self._database
        ):
            log.warning("index.intact", hint="Reading it failed, but it is as it was.")
            damage.withdraw(self._database)
            return
        damage.set_aside(self._database)
        log.error(
            "index.set_aside",
            kept=damage.kept(self._database).name,
            hint="It was damaged; a new one is being made from the files.",
        )

    async def _until_there_is_a_project(self) -> None:
        """Wait for a folder that was deleted, or whose disk is away: we make none."""
        if await anyio.to_thread.run_sync(self._root.is_dir):
            return
        log.warning("serve.project_gone", root=str(self._root))
        while not self.stop.is_set():
            await self._pause()
            if await anyio.to_thread.run_sync(self._root.is_dir):
                if self._claim is not None:
                    self._claim.renew()
                    self._claim.take()
                log.info("serve.project_back")
                return

    async def _pause(self) -> None:
        """Wait for the next look, or until we are to stop."""
        with anyio.move_on_after(_LOOK_EVERY):
            await self.stop.wait()

    # -- in a thread -------------------------------------------------------------------

    def _look_until(self, wake: threading.Event) -> bool:
        """Look again and again; whether it is over with this database.

        In a thread that waits by itself: a server that nobody asks anything does not
        wake its event loop to find that nothing has happened.
        """
        while not (over := self._look()):
            begins = self.owns and not self._turn.is_set()
            if begins or wake.wait(_LOOK_EVERY):
                break
        return over

    def _look(self) -> bool:
        """Whether it is over with this database; takes the lock if it is free."""
        if self._claim is not None and self._claim.is_lost:
            was_refused = self._claim.is_refused
            self._claim.renew()
            if was_refused and not self._claim.is_refused:
                return True  # begin again, with a database that can be written
            if self._claim.is_refused and not was_refused:
                log.warning(
                    "serve.no_lock", hint="Make .ubp/serve.lock a file one can write."
                )
        if self._claim is not None:
            self._claim.take()
        if self._turn.is_set() and not self.owns:
            return True  # somebody deleted the lock, and another was quicker
        if damage.identity(self._database) != self._began:
            return True
        if (told := texts_waiting.told(self._database)) != self._told:
            self._told = told
            anyio.from_thread.run_sync(self.texts_stored)
        if self.owns and damage.reported(self._database):
            intact = damage.is_intact(self._database)
            damage.withdraw(self._database)
            if not intact:
                anyio.from_thread.run_sync(self._damaged.set)
        return self._damaged.is_set()


def _nobody() -> None:
    """Nobody wants to know."""


async def _set_when(event: anyio.Event, wake: threading.Event) -> None:
    try:
        await event.wait()
    finally:
        wake.set()  # also when cancelled: nobody ends before the thread does

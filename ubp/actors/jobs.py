"""Work of a pack that goes on after a tool has answered, for as long as we serve."""

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.abc

from ubp.actors.notices import Notice, watch_folder
from ubp.actors.ports import Inbox, channel
from ubp.actors.supervisor import supervise
from ubp.config import WatchMode
from ubp.reading.source import Source
from ubp.toolkit import Stir, Stirs, Work

__all__ = ("RunningJobs", "running_jobs")

_NOTICES = 16
"""Waiting notices; when full, whoever gives notice collects."""

_FORGIVEN = 3
"""Crashes within half a minute after which a job is still started again."""

MOST_JOBS = 64
"""Of one service: each may watch folders."""


class RunningJobs:
    """Jobs by key; each runs until it ends, is stopped, or the service is."""

    def __init__(self, group: anyio.abc.TaskGroup, mode: WatchMode) -> None:
        self._group = group
        self._mode: WatchMode = "poll" if mode == "off" else mode
        self._scopes: dict[Hashable, anyio.CancelScope] = {}
        self._begun: dict[Hashable, anyio.Event] = {}

    async def start(self, key: Hashable, work: Work) -> bool:
        """Have *work* done unless it is; returns when it has begun, or has failed."""
        new = self.start_soon(key, work)
        begun = self._begun.get(key)
        if begun is not None:
            await begun.wait()
        return new

    def start_soon(self, key: Hashable, work: Work) -> bool:
        """The same without waiting; whether it is new."""
        if key in self._scopes or len(self._scopes) >= MOST_JOBS:
            return False
        self._scopes[key] = anyio.CancelScope()
        self._begun[key] = anyio.Event()
        self._group.start_soon(self._run, key, work)
        return True

    def stop(self, key: Hashable) -> bool:
        """End a job; whether there was one."""
        scope = self._scopes.get(key)
        if scope is not None:
            scope.cancel()
        return scope is not None

    async def _run(self, key: Hashable, work: Work) -> None:
        begun = self._begun[key]
        try:
            with self._scopes[key]:
                # Nobody waits for it, and the service can do without.
                await supervise(_Job(work, begun), forgiven=_FORGIVEN, vital=False)
        finally:
            begun.set()
            del self._scopes[key], self._begun[key]

    @asynccontextmanager
    async def stirs(self, folder: Path) -> AsyncIterator[Stirs]:
        """What stirs below *folder*, from the moment the block is entered."""
        outbox, inbox = channel[Notice](_NOTICES)
        source = Source(folder, ["**/*"], [])
        async with outbox, inbox, anyio.create_task_group() as group:
            await group.start(partial(watch_folder, source, self._mode, outbox))
            yield _Heard(inbox)
            group.cancel_scope.cancel()


class _Job:
    """A job as the supervisor knows it."""

    name = "job"

    def __init__(self, work: Work, begun: anyio.Event) -> None:
        self._work = work
        self._begun = begun

    async def run(self) -> None:
        await self._work(self._begun.set)

    def close(self) -> None:
        self._begun.set()  # or who waits for it would wait for ever


class _Heard:
    """Notices as packs know them."""

    def __init__(self, inbox: Inbox[Notice]) -> None:
        self._inbox = inbox

    async def next(self) -> Stir:
        notice = await self._inbox.receive()
        return Stir(notice.paths, only_to_be_sure=notice.polled)


@asynccontextmanager
async def running_jobs(mode: WatchMode) -> AsyncIterator[RunningJobs]:
    """A place for jobs; leaving it ends them."""
    async with anyio.create_task_group() as group:
        try:
            yield RunningJobs(group, mode)
        finally:
            group.cancel_scope.cancel()

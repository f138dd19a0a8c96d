"""Notices: somebody says which paths below a folder have stirred.

The operating system does, where it can. Whether a notice means anything is for others
to find out; it says where to look, and nobody trusts it further than that.

Where there are no notices - network file systems, more folders than the system can
watch - everything is to be looked at once in a while, and now and then it is tried
again to be told.
"""

import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc
import anyio.from_thread
import anyio.to_thread

from ubp.actors.folder_watch import (
    EVERYTHING,
    CannotWatch,
    FolderWatch,
    Gone,
    Misheard,
    Notice,
)
from ubp.actors.mounts import is_remote
from ubp.actors.ports import Outbox
from ubp.config import WatchMode
from ubp.reading.source import Source
from ubp.telemetry import get_logger

__all__ = ("Notice", "watch_folder")

log = get_logger("watcher")

_POLL = 2.0
"""Seconds between two looks at everything, where nobody gives notice. Watching begins
anew no more often either, whatever goes wrong; unless it was for the folder to come."""

_TRY_AGAIN = 60.0
"""Seconds until a system that could not watch is asked again."""

_COME_BACK = 0.25
"""Seconds between two looks for a folder that has gone, or has never been there."""


async def watch_folder(
    source: Source,
    mode: WatchMode,
    heard: Outbox[Notice],
    *,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Send a notice whenever something in the folder of *source* stirs, for ever.

    It is started when nothing that happens from now on is missed.
    """
    folder = source.folder
    if mode == "poll" or await anyio.to_thread.run_sync(is_remote, folder):
        log.info("watch.polling", reason="asked for" if mode == "poll" else "remote")
        task_status.started()
        await _poll(heard)
    begun = _Beginnings(heard, task_status)
    while True:
        pause = anyio.current_time() + _POLL
        try:
            await _watch(source, heard, begun.watching)
        except CannotWatch as error:
            # Most likely one of the system's limits. Looking regularly always works.
            await begun.polling(str(error))
            with anyio.move_on_after(_TRY_AGAIN):
                await _poll(heard)
        except (Gone, Misheard) as reason:
            log.info("watch.restarted", reason=str(reason))
            is_there = await anyio.to_thread.run_sync(_can_be_listed, folder)
            await begun.waiting()
            await _return_of(folder)
            if is_there:
                await anyio.sleep_until(pause)


class _Beginnings:
    """Says once that it has begun, and once what is different from then on."""

    def __init__(
        self, heard: Outbox[Notice], task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        self._heard = heard
        self._task_status = task_status
        self._is_begun = False
        self._is_polling = False

    async def watching(self) -> None:
        await self._begin()
        if self._is_polling:
            log.info("watch.restarted", reason="The system can watch again.")
        self._is_polling = False

    async def polling(self, reason: str) -> None:
        await self._begin()
        if not self._is_polling:
            log.warning("watch.polling", reason=reason)
        self._is_polling = True

    async def waiting(self) -> None:
        if not self._is_begun:
            await self._begin()

    async def _begin(self) -> None:
        if self._is_begun:
            await self._heard.send(EVERYTHING)  # whatever happened meanwhile
        else:
            self._task_status.started()
        self._is_begun = True


async def _poll(heard: Outbox[Notice]) -> None:
    while True:
        await anyio.sleep(_POLL)
        # Whoever has not finished with the last one finds nothing new in another.
        with suppress(anyio.WouldBlock):
            heard.send_nowait(EVERYTHING._replace(polled=True))


async def _return_of(folder: Path) -> None:
    while not await anyio.to_thread.run_sync(_can_be_listed, folder):  # noqa: ASYNC110
        await anyio.sleep(_COME_BACK)


def _can_be_listed(folder: Path) -> bool:
    try:
        os.scandir(folder).close()
    except OSError:
        return False
    return True


async def _watch(
    source: Source, heard: Outbox[Notice], watching: Callable[[], Awaitable[None]]
) -> None:
    """Pass on what the system says.

    Raises:
        Gone, Misheard, CannotWatch: It does not go on like that.
    """
    stop = threading.Event()
    watch = await anyio.to_thread.run_sync(FolderWatch, source, stop)
    try:
        await watching()
        # A limiter of its own: it keeps its thread for as long as it runs.
        await anyio.to_thread.run_sync(
            _pass_on,
            watch,
            heard,
            limiter=anyio.CapacityLimiter(1),
            abandon_on_cancel=True,
        )
    finally:
        stop.set()


def _pass_on(watch: FolderWatch, heard: Outbox[Notice]) -> None:
    """In a thread: while nobody takes a notice, the next ones are collected."""
    with watch:
        while (notice := watch.wait()) is not None:
            anyio.from_thread.run(heard.send, notice)

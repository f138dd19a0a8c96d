"""What we log, told to a client that has asked for it with ``logging/setLevel``.

Until 2025-11-25 of the protocol. What is too quiet for our own log is not told either,
and tracebacks never are.
"""

import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import mcp_types as types

from ubp import telemetry
from ubp.actors.client_link import ClientLink

__all__ = ("ClientLog", "telling")

_MOST_WAITING = 256
"""Events that wait for a client which does not read; older ones are dropped."""

_NAMES = {"warn": "warning"}
_RANKS = {
    name: rank
    for rank, name in enumerate(
        (
            "debug",
            "info",
            "notice",
            "warning",
            "error",
            "critical",
            "alert",
            "emergency",
        )
    )
}
_UNTOLD = {"level", "component", "exc_info", "exception", "stack_info"}


class ClientLog:
    """Events on their way to the client, from whatever thread they come."""

    def __init__(self) -> None:
        self._least: int | None = None
        self._waiting: deque[dict[str, Any]] = deque(maxlen=_MOST_WAITING)
        self._changed = anyio.Event()
        self._token = anyio.lowlevel.current_token()
        self._thread = threading.get_ident()

    def set_level(self, level: types.LoggingLevel) -> None:
        """Tell events from this level on; until it is set, none."""
        self._least = _RANKS[level]

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take note of an event, as ``telemetry`` has it."""
        level = str(event.get("level", "info"))
        level = _NAMES.get(level, level)
        if self._least is None or _RANKS.get(level, 0) < self._least:
            return
        data = {key: _plain(event[key]) for key in event.keys() - _UNTOLD}
        logger = str(event.get("component", "ubp"))
        self._waiting.append({"level": level, "logger": logger, "data": data})
        if threading.get_ident() == self._thread:
            self._wake()
        else:
            # The service may have ended meanwhile: then there is nobody to tell.
            with suppress(RuntimeError):
                anyio.from_thread.run_sync(self._wake, token=self._token)

    def _wake(self) -> None:
        self._changed.set()

    async def tell(self, link: ClientLink) -> None:
        """Tell what is heard, for as long as this is not cancelled."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            while self._waiting:
                await link.notify("notifications/message", self._waiting.popleft())


@asynccontextmanager
async def telling(link: ClientLink) -> AsyncIterator[ClientLog]:
    """A log that the client is told of while inside."""
    log = ClientLog()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(log.tell, link)
        with telemetry.heard_by(log.hear):
            yield log
        tasks.cancel_scope.cancel()


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool | None) else str(value)

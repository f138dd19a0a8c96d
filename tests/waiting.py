"""Bounded waits: a test that would hang fails instead."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from ubp.actors.ports import Inbox

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds: five are plenty on an idle machine, and ours are not always idle. Embedding
runs at low priority, and a test may start a process for it several times."""


async def soon(inbox: Inbox[T]) -> T:
    """The next item, or a failure instead of a hang."""
    with anyio.fail_after(PATIENCE):
        return await inbox.receive()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that nothing announces, such as another process."""
    with anyio.fail_after(PATIENCE):
        while not await condition():
            await anyio.sleep(0.01)

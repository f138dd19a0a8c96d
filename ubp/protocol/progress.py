"""Signs of life during a call that takes long, for a client that wants them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

__all__ = ("telling_progress",)

_EVERY = 1.0
"""Seconds between two signs. Most calls have been answered before the first."""

_Request = ServerRequestContext[Any, Any]


@asynccontextmanager
async def telling_progress(ctx: _Request) -> AsyncIterator[None]:
    """Tell how many seconds it has taken so far; nothing may be raised inside.

    Nobody knows how long a search will take, so there is no total. Clients that gave
    no ``progressToken`` hear nothing.
    """
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell, ctx)
        yield
        tasks.cancel_scope.cancel()


async def _tell(ctx: _Request) -> None:
    begin = anyio.current_time()
    while True:
        await anyio.sleep(_EVERY)
        seconds = anyio.current_time() - begin
        await ctx.session.report_progress(round(seconds, 1), message="working")

"""Signs of life during calls that take long, for clients that want them."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

__all__ = ("SignsOfLife",)

_EVERY = 1.0
"""Seconds between two signs. Most calls have been answered before the first."""

_Request = ServerRequestContext[Any, Any]


class SignsOfLife:
    """Tells how many seconds each call of a client has taken so far.

    Nobody knows how long a search will take, so there is no total. Clients that gave
    no ``progressToken`` hear nothing. One task tells for all calls: most are answered
    sooner than a task of their own would have begun.
    """

    def __init__(self) -> None:
        self._calls: dict[object, tuple[_Request, float]] = {}
        self._some = anyio.Event()

    @contextmanager
    def during(self, ctx: _Request) -> Iterator[None]:
        """For as long as the block takes."""
        call = object()
        self._calls[call] = ctx, anyio.current_time()
        self._some.set()
        try:
            yield
        finally:
            del self._calls[call]

    async def run(self) -> None:
        """Tell, until cancelled."""
        while True:
            await self._some.wait()
            await anyio.sleep(_EVERY)
            if not self._calls:
                self._some = anyio.Event()
            for call, (ctx, begin) in list(self._calls.items()):
                seconds = anyio.current_time() - begin
                if seconds >= _EVERY and call in self._calls:
                    # The client may just have gone.
                    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                        await ctx.session.report_progress(
                            round(seconds, 1), message="working"
                        )

"""The client of a service, as far as tools may know it and reach it.

The protocol fills it in; tools ask it. There is one client to a process.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

__all__ = ("ClientLink",)

ROOTS_WITHIN = 5.0
"""Seconds a client has to name its roots, once it has said that it can."""

Send = Callable[[str, dict[str, Any]], Awaitable[None]]


class ClientLink:
    """What is known of the client."""

    def __init__(self) -> None:
        self._roots: tuple[Path, ...] | None = None
        self._answered: anyio.Event | None = None
        self._send: Send | None = None

    # -- for tools ---------------------------------------------------------------------

    async def roots(self) -> tuple[Path, ...] | None:
        """The folders it lets us use; None if it has not said.

        Just after connecting this may take a moment.
        """
        answered = self._answered
        if answered is not None:
            with anyio.move_on_after(ROOTS_WITHIN):
                await answered.wait()
        return self._roots

    def known_roots(self) -> tuple[Path, ...] | None:
        """The same, as far as it has answered."""
        return self._roots

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell it something; in vain where nobody listens."""
        if self._send is not None:
            await self._send(method, params)

    # -- for the protocol --------------------------------------------------------------

    def reached_by(self, send: Send) -> None:
        self._send = send

    def expect_roots(self) -> None:
        """It can name its roots, and is being asked."""
        self._expected()

    def _expected(self) -> anyio.Event:
        if self._answered is None:
            self._answered = anyio.Event()
        return self._answered

    def set_roots(self, roots: Sequence[Path] | None) -> None:
        """What it answered; None if it did not."""
        self._roots = None if roots is None else tuple(roots)
        self._expected().set()

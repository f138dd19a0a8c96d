"""``ubp status --watch``: the same numbers again and again, until interrupted."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

import anyio
import msgspec

from ubp.cli.terminal import Terminal, harmless, print_line
from ubp.errors import UbpError

__all__ = ("View", "watched")


async def watched(
    look: Callable[[], Awaitable[Any]], view: "View", every: float
) -> None:
    """Show what *look* finds, every so many seconds."""
    with view:
        while True:
            try:
                found = await look()
            except UbpError as error:  # it may pass: somebody is making a new index
                view.fail(error)
            else:
                view.show(found)
            await anyio.sleep(every)


class View:
    """A picture that changes on a terminal; elsewhere a line for every change."""

    def __init__(
        self,
        terminal: Terminal,
        lines: Callable[[Any], Sequence[object]],
        summary: Callable[[Any], str],
    ) -> None:
        self._terminal = terminal
        self._lines = lines
        self._summary = summary
        self._last = ""
        self._live: Any = None
        self._screen: AbstractContextManager[Any] = nullcontext()
        console = terminal.console()
        if console.is_terminal and not terminal.as_json:
            from rich.live import Live

            # Cut at the bottom of the terminal: what has scrolled away stays there.
            self._live = Live(console=console, auto_refresh=False)
            self._screen = self._live

    def __enter__(self) -> None:
        self._screen.__enter__()

    def __exit__(self, *_: object) -> None:
        self._screen.__exit__(None, None, None)

    def show(self, found: Any) -> None:
        if self._live is not None:
            self._draw(self._lines(found))
        elif self._terminal.as_json:
            self._say(msgspec.json.encode(found).decode())
        else:
            self._say(self._summary(found))

    def fail(self, error: UbpError) -> None:
        if self._live is not None:
            self._draw([error.message, error.cause, error.hint])
        elif self._terminal.as_json:
            told = {"message": error.message, "cause": error.cause, "hint": error.hint}
            self._say(msgspec.json.encode({"error": told}).decode())
        else:
            self._say(f"{error.message} {error.cause} {error.hint}")

    def _draw(self, lines: Sequence[object]) -> None:
        from rich.console import Group
        from rich.text import Text

        shown: list[Any] = [
            Text.from_markup(harmless(line), overflow="ellipsis", emoji=False)
            if isinstance(line, str)
            else line
            for line in lines
        ]
        time = Text(f"{datetime.now().astimezone():%H:%M:%S}, Ctrl-C ends", "dim")
        self._live.update(Group(*shown, time), refresh=True)

    def _say(self, told: str) -> None:
        """One line, unless it says what the last one did."""
        if told == self._last:
            return
        self._last = told
        if self._terminal.as_json:
            print_line(told)
        else:
            time = f"{datetime.now().astimezone():%H:%M:%S}"
            print_line(f"{time}  {harmless(' '.join(told.split()))}")

"""How a download looks while it runs: a bar on a terminal, else a line or two."""

from types import TracebackType
from typing import Any, Literal, Self

import click

from ubp.cli.terminal import Terminal

__all__ = ("Bar",)


class Bar:
    """Shows what is fetched and how far it is, on standard error."""

    def __init__(
        self, terminal: Terminal, of: Literal["bytes", "pages"] = "bytes"
    ) -> None:
        self._of = of
        self._what = ""
        self._silent = terminal.quiet or terminal.as_json
        self._console = terminal.console(stderr=True)
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        if not self._silent:
            click.echo(text, err=True)

    def begin(self, what: str) -> None:
        """From now on it is *what* that is fetched."""
        self._what = what

    def move(self, done: int, total: int | None) -> None:
        """Draw the bar as far as *done* of *total*."""
        if self._silent or not self._console.is_terminal:
            return
        if self._bar is None:
            self._start()
        self._bar.update(
            self._task, completed=done, total=total, description=self._what
        )

    def _start(self) -> None:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns: tuple[ProgressColumn, ...] = (
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        if self._of == "pages":
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task("download", total=None)
        self._bar.start()

"""Progress of a long step: a bar on a terminal, now and then a line in a log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ("Meter", "console", "meter")

console = Console(stderr=True, highlight=False)

_QUIET_SECONDS = 30.0
"""How often a log gets a line."""


class Meter:
    """Counts what is done and says so."""

    def __init__(self, label: str, total: float, progress: Progress | None) -> None:
        self._label = label
        self._total = total
        self._progress = progress
        self._task = (
            progress.add_task(label, total=total, note="") if progress else None
        )
        self._done = 0.0
        self._began = self._told = time.monotonic()

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.reach(self._done + amount, note)

    def reach(self, done: float, note: str = "") -> None:
        self._done = done
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, note=note)
            return
        now = time.monotonic()
        if now - self._told >= _QUIET_SECONDS:
            self._told = now
            console.print(self._line(note), soft_wrap=True)

    def finish(self) -> None:
        if self._progress is None:
            console.print(self._line("done"), soft_wrap=True)

    def _line(self, note: str) -> str:
        seconds = max(time.monotonic() - self._began, 1e-3)
        rate = self._done / seconds
        stamp = time.strftime("%H:%M:%S")
        return (
            f"{stamp} {self._label}: {self._done:,.0f} of {self._total:,.0f},"
            f" {rate:,.1f}/s {note}"
        )


@contextmanager
def meter(label: str, total: float) -> Iterator[Meter]:
    """Show the progress of one step while the block runs."""
    if not console.is_terminal:
        shown = Meter(label, total, None)
        yield shown
        shown.finish()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as progress:
        yield Meter(label, total, progress)

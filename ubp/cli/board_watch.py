"""``ubp board watch``: one line for every change, until interrupted."""

import signal
import sys
from typing import Any

import anyio
import click
import msgspec

from ubp.actors.jobs import running_jobs
from ubp.cli.options import App, command
from ubp.packs.board.boards import Board, default_board
from ubp.toolkit import Nobody

__all__ = ("watch",)


@command("watch")
@click.option(
    "--board",
    "place",
    metavar="DIR",
    help="The folder that holds .kanban; as set unless given.",
)
def watch(app: App, place: str | None) -> None:
    """Print a line for every change of the board, until interrupted."""
    project = app.project()
    board = default_board(project if place is None else project.with_board(place))
    anyio.run(_watch, board, app.terminal.as_json)


async def _watch(board: Board, as_json: bool) -> None:
    printer = _Printer(as_json)
    async with running_jobs("auto") as jobs:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            await jobs.start(board.job, board.work(jobs, printer))
            await board.follower.watch(board.id)
            async for _ in signals:
                return


class _Printer(Nobody):
    """Whom the follower tells: whoever reads standard output."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        del method
        line = msgspec.json.encode(params).decode() if self._as_json else params["uri"]
        await anyio.to_thread.run_sync(_print, line)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()

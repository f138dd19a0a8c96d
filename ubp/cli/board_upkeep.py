"""``ubp board lint``, ``reindex``, ``compact``, ``render``: keep a board in order."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import click

from ubp.cli.options import App, command
from ubp.cli.terminal import counted
from ubp.errors import UbpError
from ubp.packs.board import compacting, rendering
from ubp.packs.board.boards import Board, default_board
from ubp.packs.board.displaced import files_kept
from ubp.packs.board.failures import no_board
from ubp.packs.board.linting import findings
from ubp.protocol.replies import categorised

__all__ = ("UPKEEP",)


def _board(app: App, place: str | None, *, must_exist: bool = True) -> Board:
    project = app.project()
    board = default_board(project if place is None else project.with_board(place))
    if must_exist and not board.view.exists():
        raise categorised(no_board())
    return board


def _board_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--board",
        "place",
        metavar="DIR",
        help="The folder that holds .kanban; as set unless given.",
    )(function)


@command("lint")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warn"]),
    default="error",
    help="What makes it exit with 1.",
)
@_board_option
def lint(app: App, fail_on: str, place: str | None) -> int:
    """Say what is wrong with the board."""
    from rich.text import Text

    board = _board(app, place)
    snapshot = board.view.snapshot()
    found = findings(snapshot, files_kept(board.view.kanban))
    lines = [Text(f"{each.severity.upper()} {each.message}") for each in found]
    app.terminal.show(found, *(lines or [Text("OK no issues")]))
    fails = any(fail_on == "warn" or each.severity == "error" for each in found)
    return int(fails)


@command("reindex")
@click.option("--cards-only", is_flag=True, help="Only cards.ndjson.")
@click.option("--relations-only", is_flag=True, help="Only relations.ndjson.")
@_board_option
def reindex(app: App, cards_only: bool, relations_only: bool, place: str | None) -> int:
    """Write the indexes beside the cards anew."""
    if cards_only and relations_only:
        raise click.UsageError("Give --cards-only or --relations-only, not both.")
    board = _board(app, place)
    begin = perf_counter()
    errors: list[str] = []
    try:
        board.desk.rebuild_indexes(cards=not relations_only, relations=not cards_only)
    except UbpError as error:
        errors.append(f"{error.message} {error.cause}")
    errors += [
        f"{card.path}: {card.problem}"
        for card in board.view.snapshot().cards.values()
        if card.problem
    ]
    duration = round((perf_counter() - begin) * 1000)
    result = {"duration_ms": duration, "errors": errors}
    app.terminal.show(result, *errors, f"Done in {duration} ms.")
    return int(bool(errors))


@command("compact")
@click.option("--dry-run", is_flag=True, help="Only say what would be moved.")
@click.option(
    "--remove-empty-dirs", is_flag=True, help="Also remove empty folders in columns."
)
@_board_option
def compact(app: App, dry_run: bool, remove_empty_dirs: bool, place: str | None) -> int:
    """File done cards under the month they were done in."""
    board = _board(app, place)
    if dry_run:
        moves = compacting.moves_of(board.kanban, board.view.snapshot())
        result: dict[str, Any] = {
            "moves": [list(each) for each in moves],
            "remove_empty_dirs": remove_empty_dirs,
        }
        lines = [f"{source} → {target}" for source, target in moves]
        app.terminal.show(result, *(lines or ["Nothing to move."]))
        return 0
    try:
        moved, warnings = compacting.compact(board.desk)
    except UbpError as error:
        raise categorised(error) from None
    if remove_empty_dirs:
        compacting.remove_empty_folders(board.kanban, board.view.snapshot())
    result = {"moved": moved, "ok": not warnings}
    app.terminal.show(result, *warnings, f"{counted(moved, 'card')} moved.")
    return int(bool(warnings))


@command("render")
@_board_option
def render(app: App, place: str | None) -> None:
    """Write generated/board.md, and the progress of parents, now."""
    board = _board(app, place)
    try:
        path = rendering.write_pages(board.kanban, board.view.snapshot())
    except UbpError as error:
        raise categorised(error) from None
    app.terminal.show({"path": path}, path)


UPKEEP = (lint, reindex, compact, render)

"""``ubp board``: the kanban board, for people."""

from collections.abc import Callable
from typing import Any

import click

from ubp.amounts import whole_answers
from ubp.cli.asking import answer
from ubp.cli.board_drawing import drawn
from ubp.cli.board_upkeep import UPKEEP
from ubp.cli.board_watch import watch
from ubp.cli.options import App, command, group
from ubp.cli.terminal import counted
from ubp.errors import UbpError
from ubp.packs.board.failures import InvalidValue
from ubp.protocol.replies import categorised

__all__ = ("board",)

_Command = Callable[..., Any]

_PRIORITIES = click.Choice(["P0", "P1", "P2", "P3"])


@group("board")
def board() -> None:
    """Use the kanban board: cards are Markdown files in .kanban."""


def _board_option(function: _Command) -> _Command:
    return click.option(
        "--board",
        "place",
        metavar="DIR",
        help="The folder that holds .kanban; as set unless given.",
    )(function)


def _asked(app: App, place: str | None, tool: str, arguments: dict[str, Any]) -> Any:
    """The tool's result; what is not given is left out."""
    project = app.project()
    if place is not None:
        project = project.with_board(place)
    given = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in arguments.items()
        if value not in (None, ())
    }
    try:
        with whole_answers():
            return answer(project, app.packs(project, "board"), tool, given)
    except UbpError as error:
        raise categorised(error) from None


def _show(app: App, result: Any, *lines: Any) -> None:
    from rich.text import Text

    said = getattr(result, "warnings", [])
    app.terminal.show(
        result, *lines, *(Text(f"Warning: {each}", style="yellow") for each in said)
    )


@command("new")
@click.argument("title")
@click.option("--column", metavar="C", help="The column; backlog unless given.")
@click.option("--lane", metavar="L", help="The lane it belongs to.")
@click.option("--priority", type=_PRIORITIES, help="P0 is the most urgent.")
@click.option("--size", type=click.IntRange(0, clamp=True), help="How much work it is.")
@click.option("--label", multiple=True, metavar="W", help="A label; may be repeated.")
@click.option("--assignee", multiple=True, metavar="WHO", help="Who; may be repeated.")
@click.option("--body", metavar="TEXT", help="Its text, in Markdown.")
@_board_option
def new(
    app: App,
    title: str,
    column: str | None,
    lane: str | None,
    priority: str | None,
    size: int | None,
    label: tuple[str, ...],
    assignee: tuple[str, ...],
    body: str | None,
    place: str | None,
) -> None:
    """Make a card called TITLE."""
    made = _asked(
        app,
        place,
        "kanban_new",
        {
            "title": title,
            "column": column,
            "lane": lane,
            "priority": priority,
            "size": size,
            "labels": label,
            "assignees": assignee,
            "body": body,
        },
    )
    _show(app, made, f"{made.card_id}  {made.path}")


@command("move")
@click.argument("card")
@click.argument("column")
@_board_option
def move(app: App, card: str, column: str, place: str | None) -> None:
    """Move CARD to COLUMN; to `done` finishes it, out of it opens it again."""
    arguments = {"cardId": card, "toColumn": column}
    moved = _asked(app, place, "kanban_move", arguments)
    _show(app, moved, f"{moved.from_} → {moved.to}  {moved.path}")


@command("done")
@click.argument("card")
@_board_option
def done(app: App, card: str, place: str | None) -> None:
    """Finish CARD."""
    finished = _asked(app, place, "kanban_done", {"cardId": card})
    _show(app, finished, f"done at {finished.completed_at}  {finished.path}")


@command("update")
@click.argument("card")
@click.option("--title", metavar="T", help="Another title; the file is renamed.")
@click.option("--description", metavar="D", help="What it is about.")
@click.option("--lane", metavar="L", help="The lane it belongs to.")
@click.option("--priority", type=_PRIORITIES, help="P0 is the most urgent.")
@click.option("--size", type=click.IntRange(0, clamp=True), help="How much work it is.")
@click.option("--label", multiple=True, metavar="W", help="All labels; repeated.")
@click.option(
    "--assignee", multiple=True, metavar="WHO", help="All assignees; repeated."
)
@click.option("--resume-hint", metavar="H", help="Where to go on next time.")
@click.option(
    "--next", "next_steps", multiple=True, metavar="S", help="All next steps."
)
@click.option("--blocker", multiple=True, metavar="B", help="All that is in the way.")
@click.option("--append", metavar="TEXT", help="Text to add to the body.")
@click.option("--replace", metavar="TEXT", help="Text in place of the body.")
@_board_option
def update(
    app: App,
    card: str,
    append: str | None,
    replace: str | None,
    place: str | None,
    **given: Any,
) -> None:
    """Change fields of CARD, or its text."""
    if append is not None and replace is not None:
        raise click.UsageError("Give --append or --replace, not both.")
    names = {"label": "labels", "assignee": "assignees", "blocker": "blockers"}
    fields = {
        names.get(key, key): list(value) if isinstance(value, tuple) else value
        for key, value in given.items()
        if value not in (None, ())
    }
    patch: dict[str, Any] = {"fm": fields} if fields else {}
    if append is not None:
        patch["body"] = {"text": append}
    if replace is not None:
        patch["body"] = {"text": replace, "replace": True}
    if not patch:
        raise categorised(
            InvalidValue(
                "Nothing is to be changed.",
                cause="No option says what to change.",
                hint="Run `ubp board update --help`.",
            )
        )
    updated = _asked(app, place, "kanban_update", {"cardId": card, "patch": patch})
    _show(app, updated, updated.path)


@command("list")
@click.option(
    "--column", multiple=True, metavar="C", help="Only of it; may be repeated."
)
@click.option("--lane", metavar="L", help="Only of this lane.")
@click.option("--assignee", metavar="WHO", help="Only with this assignee.")
@click.option("--label", metavar="W", help="Only with this label.")
@click.option("--priority", type=_PRIORITIES, help="Only of this priority.")
@click.option("--query", metavar="WORDS", help="Only with all these words.")
@click.option("--include-done", is_flag=True, help="Done cards as well.")
@click.option(
    "--offset", type=click.IntRange(0, clamp=True), help="Cards to leave out."
)
@click.option(
    "--limit", type=click.IntRange(1, 200, clamp=True), default=100, help="Most cards."
)
@_board_option
def list_(
    app: App,
    column: tuple[str, ...],
    include_done: bool,
    place: str | None,
    **given: Any,
) -> None:
    """Show the board, column by column."""
    arguments = {"columns": column, "includeDone": include_done or None, **given}
    found = _asked(app, place, "kanban_list", arguments)
    if app.terminal.as_json:
        app.terminal.show(found)
        return
    project = app.project()
    project = project if place is None else project.with_board(place)
    shown = drawn(project, found, column, width=app.terminal.console().width)
    more = f"; --offset {found.next_offset} shows more" if found.next_offset else ""
    _show(app, found, shown, f"{counted(found.total, 'card')}{more}")


@command("tree")
@click.argument("card")
@click.option(
    "--depth",
    type=click.IntRange(1, 10, clamp=True),
    default=3,
    help="Levels below it.",
)
@_board_option
def tree(app: App, card: str, depth: int, place: str | None) -> None:
    """Show CARD with its children."""
    from rich.markup import escape
    from rich.tree import Tree

    found = _asked(app, place, "kanban_tree", {"root": card, "depth": depth})

    def label(branch: Any) -> str:
        return (
            f"{escape(branch.title)}  [cyan]{escape(branch.column)}[/]"
            f"  [dim]{branch.id}[/]"
        )

    def add(to: Tree, branch: Any) -> None:
        for child in branch.children:
            add(to.add(label(child)), child)

    top = Tree(label(found.tree))
    add(top, found.tree)
    _show(app, found, top)


@command("show")
@click.argument("card")
@_board_option
def show(app: App, card: str, place: str | None) -> None:
    """Show CARD as it is."""
    from rich.text import Text

    found = _asked(app, place, "kanban_get", {"cardId": card})
    notes = [
        Text(f"{note['ts']}  {note.get('type', '')}  {note['text']}", style="dim")
        for note in found.card["notes"]
    ]
    head = Text(found.path, style="cyan")
    _show(app, found, head, Text(found.markdown.rstrip("\n")), *notes)


@command("notes-append")
@click.argument("card")
@click.argument("text")
@click.option(
    "--type",
    "kind",
    type=click.Choice(["worklog", "resume", "decision"]),
    help="What kind of note; worklog unless given.",
)
@click.option("--tag", multiple=True, metavar="W", help="A word; may be repeated.")
@click.option("--author", metavar="WHO", help="Who says so.")
@_board_option
def notes_append(
    app: App,
    card: str,
    text: str,
    kind: str | None,
    tag: tuple[str, ...],
    author: str | None,
    place: str | None,
) -> None:
    """Write TEXT into the journal of CARD."""
    arguments = {
        "cardId": card,
        "text": text,
        "type": kind,
        "tags": tag,
        "author": author,
    }
    done = _asked(app, place, "kanban_notes_append", arguments)
    _show(app, done, f"{done.ts}  {done.path}")


@command("notes-list")
@click.argument("card")
@click.option(
    "--limit", type=click.IntRange(1, 1_000, clamp=True), default=3, help="Most notes."
)
@click.option("--all", "every", is_flag=True, help="All of them.")
@click.option("--since", metavar="TIME", help="Only since then; 2026-05-31T09:00:00Z.")
@_board_option
def notes_list(
    app: App, card: str, limit: int, every: bool, since: str | None, place: str | None
) -> None:
    """Show the journal of CARD, the newest note first."""
    from rich.text import Text

    arguments = {"cardId": card, "limit": limit, "all": every or None, "since": since}
    found = _asked(app, place, "kanban_notes_list", arguments)
    lines = [
        Text(f"{note['ts']}  {note.get('type', '')}  {note['text']}")
        for note in found.items
    ]
    _show(app, found, *(lines or [Text("No notes.")]))


_EVERY = (new, move, done, update, list_, tree, show, notes_append, notes_list)
for _each in (*_EVERY, *UPKEEP, watch):
    board.add_command(_each)

"""A board on a terminal: its columns side by side, as wide as there is room for."""

from collections.abc import Sequence
from typing import Any

from ubp.packs.board.boards import default_board
from ubp.packs.board.names import DONE, column_key
from ubp.packs.board.view import Snapshot
from ubp.project import Project

__all__ = ("drawn",)

_NARROWEST = 22
"""Characters below which a column says nothing."""

_STYLES = {"P0": "bold red", "P1": "yellow", "P2": "cyan", "P3": "dim"}


def drawn(project: Project, found: Any, only: Sequence[str], *, width: int) -> Any:
    """The cards that were *found*, each in its column; rich draws it."""
    from rich.console import Group

    snapshot = default_board(project).view.snapshot()
    columns = _columns(snapshot, found.items, only)
    at_once = max(1, width // _NARROWEST)
    rows = [columns[at : at + at_once] for at in range(0, len(columns), at_once)]
    return Group(*(_row(snapshot, row, found.items) for row in rows))


def _columns(
    snapshot: Snapshot, items: Sequence[Any], only: Sequence[str]
) -> list[str]:
    known = {column_key(name): name for name in snapshot.columns}
    if any(item.column == DONE for item in items):
        known[DONE] = DONE
    if not only:
        return list(known.values())
    return [known.get(key, key) for key in dict.fromkeys(map(column_key, only))]


def _row(snapshot: Snapshot, columns: Sequence[str], items: Sequence[Any]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.ROUNDED, expand=True, show_lines=False, padding=(0, 1))
    for column in columns:
        table.add_column(_head(snapshot, column), ratio=1, overflow="fold")
    table.add_row(*(_cards(column, items) for column in columns))
    return table


def _head(snapshot: Snapshot, column: str) -> Any:
    from rich.text import Text

    key = column_key(column)
    titles = {column_key(each.key): each.title for each in snapshot.rules.columns}
    count = snapshot.counts.get(key, 0)
    limit = snapshot.rules.wip_limits.get(key, 0)
    head = Text(titles.get(key, column), style="bold")
    amount = f"  {count}/{limit}" if limit else f"  {count}"
    head.append(amount, style="bold red" if limit and count > limit else "dim")
    return head


def _cards(column: str, items: Sequence[Any]) -> Any:
    from rich.text import Text

    text = Text()
    for item in items:
        if column_key(item.column) != column_key(column):
            continue
        if text:
            text.append("\n")
        if item.priority:
            text.append(f"{item.priority} ", style=_STYLES.get(item.priority, ""))
        text.append(item.title)
        for label in item.labels:
            text.append(f" #{label}", style="green")
        for name in item.assignees:
            text.append(f" @{name}", style="magenta")
        text.append(f"\n{item.card_id}", style="dim")
    return text

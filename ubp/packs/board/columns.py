"""Which column somebody means, and whether a card may go there."""

import re
import unicodedata

from ubp.errors import shortened
from ubp.packs.board.failures import Conflict, Denied, InvalidValue
from ubp.packs.board.names import DONE, RESERVED, column_key, is_column_name
from ubp.packs.board.view import Snapshot

__all__ = ("column_called", "columns_called", "default_column", "room_in")

_SEPARATORS = re.compile(r"[/\\]")


def column_called(snapshot: Snapshot, name: str) -> str:
    """The column *name*, as it is written where it exists.

    Raises:
        Denied: It would leave the board, or the board keeps the name for itself.
        InvalidValue: It is no name of a column, or not one of this board.
    """
    key = _checked_key(name)
    known = _known(snapshot)
    if key in known:
        return known[key]
    if snapshot.rules.is_given:
        raise InvalidValue(
            f"There is no column {shortened(name)!r}; use one of "
            f"{', '.join(known.values())}.",
            hint="Use one of these, or add it to .kanban/columns.toml.",
        )
    return unicodedata.normalize("NFC", name)


def columns_called(snapshot: Snapshot, names: list[str]) -> set[str]:
    """The keys of columns to look into; one that is not there has no cards.

    Raises:
        Denied, InvalidValue: See above.
    """
    del snapshot
    return {_checked_key(name) for name in names}


def default_column(snapshot: Snapshot) -> str:
    """Where new cards go: the backlog, or the first column of a board without one."""
    known = _known(snapshot)
    return known.get("backlog", next(iter(known.values())))


def room_in(snapshot: Snapshot, column: str) -> list[str]:
    """What is to be said when one more card comes into *column*.

    Raises:
        Conflict: There is no room, and the rules enforce it.
    """
    rules = snapshot.rules
    limit = rules.wip_limits.get(column_key(column), 0)
    if not limit or rules.wip_enforce == "off":
        return []
    would_be = snapshot.counts.get(column_key(column), 0) + 1
    if would_be <= limit:
        return []
    message = f"wip exceeded: {column} limit {limit} actual {would_be}"
    if rules.wip_enforce == "error":
        raise Conflict(
            message,
            cause="The column is full, and columns.toml enforces its limit.",
            hint="Finish or move one of its cards first.",
        )
    return [message]


def _known(snapshot: Snapshot) -> dict[str, str]:
    found = {column_key(name): name for name in snapshot.columns}
    return {**found, DONE: DONE}


def _checked_key(name: str) -> str:
    parts = _SEPARATORS.split(name)
    if ".." in parts or (len(parts) > 1 and (not parts[0] or parts[0].endswith(":"))):
        raise Denied(f"The column {shortened(name)!r} would leave the board.")
    if column_key(name) in RESERVED:
        raise Denied(f"{name!r} is a folder of the board itself, not a column.")
    if not is_column_name(name):
        raise InvalidValue(
            f"{shortened(name)!r} is no name of a column.",
            cause="A column is one word of letters, digits, - and _.",
        )
    return column_key(name)

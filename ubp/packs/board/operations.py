"""What can be done with cards. Each function plans; the desk carries it out."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ubp.packs.board import moments
from ubp.packs.board.cards import Card
from ubp.packs.board.columns import column_called, default_column, room_in
from ubp.packs.board.committing import Change
from ubp.packs.board.contents import Body, new_content
from ubp.packs.board.desk import Desk, Planned, Sheet, within
from ubp.packs.board.failures import Conflict
from ubp.packs.board.names import DONE, column_key, file_name
from ubp.packs.board.relations import Edge, Rewiring, wanted_edges
from ubp.packs.board.ulids import new_ulid
from ubp.packs.board.view import KANBAN, Snapshot

__all__ = ("Placed", "done", "move", "new", "set_relations", "update")

_MOST_RENAMES = 50


class Placed(NamedTuple):
    """A card and where it is now."""

    id: str
    path: str
    column: str
    before: str = ""
    """The column it was in."""
    completed_at: str | None = None


# -- new -------------------------------------------------------------------------------


def new(
    desk: Desk, title: str, column: str | None, values: Mapping[str, Any], body: str
) -> tuple[Placed, list[str]]:
    """Make a card.

    Raises:
        UbpError: The column does not fit, is full, or cannot be written to.
    """

    def plan(sheet: Sheet) -> Planned:
        snapshot = sheet.snapshot
        where = default_column(snapshot) if column is None else column
        where = column_called(snapshot, where)
        warnings = [] if where == DONE else room_in(snapshot, where)
        moment = moments.now()
        ident = _fresh(snapshot)
        stamp = moments.written(moment)
        fields = {"id": ident, "title": title, **values, "created_at": stamp}
        folder = where
        if where == DONE:
            fields["completed_at"] = stamp
            folder = f"{DONE}/{moments.month_of(moment)}"
        place = f"{sheet.folder(folder)}/{file_name(ident, title)}"
        change = Change(
            source=None, target=place, before=None, after=new_content(fields, body)
        )
        return Planned([change], Placed(ident, f"{KANBAN}/{place}", where), warnings)

    return desk.change(plan, create=True)


def _fresh(snapshot: Snapshot) -> str:
    ident = new_ulid()
    while ident in snapshot.cards:
        ident = new_ulid()
    return ident


# -- move and done ---------------------------------------------------------------------


def move(desk: Desk, ident: str, to: str) -> tuple[Placed, list[str]]:
    """Put a card into another column; into done is done, out of it is open again.

    Raises:
        UbpError: There is no such card or column, or no room in it.
    """

    def plan(sheet: Sheet) -> Planned:
        card = sheet.card(ident)
        column = column_called(sheet.snapshot, to)
        if column == DONE:
            return _finished(sheet, card)
        if column_key(column) == column_key(card.column):
            return Planned([], _placed(card))
        warnings = room_in(sheet.snapshot, column)
        values = {"completed_at": None} if "completed_at" in card.values else {}
        change = _relocated(sheet, card, column, values)
        placed = Placed(
            card.id, f"{KANBAN}/{change.target}", column, before=card.column
        )
        return Planned([change], placed, warnings)

    return desk.change(plan)


def done(desk: Desk, ident: str) -> tuple[Placed, list[str]]:
    """Finish a card.

    Raises:
        UbpError: There is no such card, or its children are open and must not be.
    """
    return desk.change(lambda sheet: _finished(sheet, sheet.card(ident)))


def _finished(sheet: Sheet, card: Card) -> Planned:
    if card.is_done and card.completed_at is not None:
        return Planned([], _placed(card))
    warnings = _open_children(sheet.snapshot, card)
    moment = moments.now()
    stamp = moments.written(moment)
    folder = f"{DONE}/{moments.month_of(moment)}"
    change = _relocated(sheet, card, folder, {"completed_at": stamp})
    placed = Placed(
        card.id,
        f"{KANBAN}/{change.target}",
        DONE,
        before=card.column,
        completed_at=stamp,
    )
    return Planned([change], placed, warnings)


def _placed(card: Card) -> Placed:
    return Placed(card.id, card.path, card.column, card.column, card.completed_at)


def _open_children(snapshot: Snapshot, card: Card) -> list[str]:
    policy = snapshot.rules.parent_done
    if policy == "ignore":
        return []
    children = snapshot.children.get(card.id, ())
    found = [each for each in children if not snapshot.cards[each].is_done]
    if not found:
        return []
    message = f"{card.id} has children that are not done: {', '.join(found)}."
    if policy == "enforce":
        raise Conflict(
            message,
            cause="columns.toml wants children to be done before their parent.",
            hint="Finish them first, or give them another parent.",
        )
    return [message]


def _relocated(
    sheet: Sheet, card: Card, folder: str, values: Mapping[str, Any]
) -> Change:
    place = f"{sheet.folder(folder)}/{_name(card)}"
    here = within(card.path)
    if place != here and not sheet.is_free(place):
        raise Conflict(
            f"There is something else at {KANBAN}/{place}.",
            hint="Move it out of the way.",
        )
    return sheet.changed(card, values, place=place)


def _name(card: Card) -> str:
    """The name of its file; one whose head cannot be read keeps its own."""
    return card.name if card.problem else file_name(card.id, card.title)


# -- update ----------------------------------------------------------------------------

_RELATIONS = ("parent", "depends_on", "relates")


def update(
    desk: Desk,
    ident: str,
    values: Mapping[str, Any],
    body: Body | None,
    if_match: str | None,
) -> tuple[Placed, list[str]]:
    """Give a card other values, or another body.

    Raises:
        UbpError: There is no such card, it is not the one that was expected, or what
            it is to say of others cannot be.
    """

    def plan(sheet: Sheet) -> Planned:
        card = sheet.card(ident)
        if if_match is not None and if_match.lower() != card.hash:
            raise Conflict(
                f"The card {ident} is not the one that was expected.",
                cause="It has changed since it was read.",
                hint="Read it again with kanban_get, and decide anew.",
            )
        plain = {key: values[key] for key in values if key not in _RELATIONS}
        gone, added = wanted_edges(card, values)
        others, warnings = _rewired(sheet.snapshot, gone, added)
        # What was there and is no id goes with the value that is given.
        given = {key: values[key] for key in values if key in _RELATIONS}
        mine = {**plain, **others.pop(card.id, {}), **given}
        if "relates" in given and "relates_to" in card.values:
            mine["relates_to"] = None
        title = plain.get("title", card.title)
        place, renamed = _renamed(sheet, card, title)
        changes = [
            sheet.changed(card, mine, body=body, place=place),
            *(sheet.changed(sheet.card(each), others[each]) for each in others),
        ]
        placed = Placed(card.id, f"{KANBAN}/{place}", card.column)
        return Planned(changes, placed, [*warnings, *renamed])

    return desk.change(plan)


def _renamed(sheet: Sheet, card: Card, title: str) -> tuple[str, list[str]]:
    """Where the file goes when its title becomes *title*, and what is to be said."""
    here = within(card.path)
    if title == card.title:
        return here, []
    folder = here.rpartition("/")[0]
    wanted = file_name(card.id, title)
    if f"{folder}/{wanted}" == here or sheet.is_free(f"{folder}/{wanted}"):
        return f"{folder}/{wanted}", []
    rules = sheet.snapshot.rules
    if rules.auto_rename:
        stem = wanted.removesuffix(".md")
        for number in range(1, _MOST_RENAMES + 1):
            name = f"{stem}-{rules.rename_suffix}{number}.md"
            if sheet.is_free(f"{folder}/{name}"):
                said = f"{wanted} is taken; the file is now {name}."
                return f"{folder}/{name}", [said]
    return here, [f"{wanted} is taken; the file keeps the name {card.name}."]


# -- relations -------------------------------------------------------------------------


def set_relations(
    desk: Desk, remove: Sequence[Edge], add: Sequence[Edge]
) -> tuple[None, list[str]]:
    """Take relations away, then add others: all of them, or none.

    Raises:
        UbpError: One of them cannot be.
    """

    def plan(sheet: Sheet) -> Planned:
        values, warnings = _rewired(sheet.snapshot, remove, add)
        changes = [sheet.changed(sheet.card(each), values[each]) for each in values]
        return Planned(changes, None, warnings)

    return desk.change(plan)


def _rewired(
    snapshot: Snapshot, remove: Sequence[Edge], add: Sequence[Edge]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    rewiring = Rewiring(snapshot)
    for edge in remove:
        rewiring.remove(edge)
    for edge in add:
        rewiring.add(edge)
    cycles = rewiring.cycles()
    if cycles and snapshot.rules.relation_cycle == "error":
        raise Conflict(
            f"{cycles[0]}.",
            cause="Parents and dependencies must not go round in a circle.",
            hint="Take one of the relations of the circle away first.",
        )
    return rewiring.changes(), cycles

"""What the database holds, as the journal says it."""

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import msgspec

from ubp.packs.registry.journal.lines import Entry, Item, Merit, Vote

__all__ = ("everything", "item_at", "item_in", "merits_of", "vote_of")

_ITEMS = """
    SELECT ident, kind, agent, org, asked, name, domain, content, details,
           submitted, computed, reported, created_at, updated_at, source
      FROM registry_item
"""
_ITEM = f"{_ITEMS} WHERE id = ?"
_ITEM_IN = f"{_ITEMS} WHERE source = ?"
_ITEMS_ALL = f"{_ITEMS} ORDER BY id"

_VOTES = """
    SELECT item.ident, item.agent, validator, valid, feedback, voted_at
      FROM registry_vote JOIN registry_item AS item ON item.id = item_id
"""
_VOTE = f"{_VOTES} WHERE item_id = ? AND validator = ?"

_MERITS = """
    SELECT item.ident, item.agent, merit.agent, reason, earned_at
      FROM registry_merit AS merit JOIN registry_item AS item ON item.id = item_id
"""
_MERIT = f"{_MERITS} WHERE item_id = ? AND merit.agent = ?"
_MERITS_ALL = f"{_MERITS} ORDER BY merit.id"


def item_at(db: apsw.Connection, row: int) -> Iterator[Item]:
    """The item of that row."""
    return _items(db, _ITEM, (row,))


def item_in(db: apsw.Connection, path: str) -> Iterator[Item]:
    """The item that is read from the file at *path*."""
    return _items(db, _ITEM_IN, (path,))


def vote_of(db: apsw.Connection, row: int, validator: str) -> Iterator[Vote]:
    """What *validator* says of an item."""
    return _votes(db, _VOTE, (row, validator))


def merits_of(db: apsw.Connection, row: int, agent: str) -> Iterator[Merit]:
    """What *agent* earned by an item."""
    return _merits(db, _MERIT, (row, agent))


def everything(db: apsw.Connection) -> Iterator[Entry]:
    """All there is, in the order in which it can be brought back."""
    yield from _items(db, _ITEMS_ALL)
    yield from _votes(db, _VOTES)
    yield from _merits(db, _MERITS_ALL)


def _items(
    db: apsw.Connection, statement: str, given: Sequence[Any] = ()
) -> Iterator[Item]:
    for row in db.execute(statement, given):
        values = dict(zip(Item.__struct_fields__, row, strict=True))
        values["details"] = msgspec.json.decode(values["details"])
        yield Item(**values)


def _votes(
    db: apsw.Connection, statement: str, given: Sequence[Any] = ()
) -> Iterator[Vote]:
    for row in db.execute(statement, given):
        values = dict(zip(Vote.__struct_fields__, row, strict=True))
        yield Vote(**{**values, "valid": bool(values["valid"])})


def _merits(
    db: apsw.Connection, statement: str, given: Sequence[Any] = ()
) -> Iterator[Merit]:
    for row in db.execute(statement, given):
        yield Merit(**dict(zip(Merit.__struct_fields__, row, strict=True)))

"""Ask for the words of cards: all SQL of the board pack that reads."""

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import apsw

from ubp.packs.board.text_index import CARDS

__all__ = ("Words", "counts", "with_words")

_KNOWN = "SELECT id, card_id, digest FROM board_card"
_COUNT = "SELECT count(*) FROM board_card"


class Words(NamedTuple):
    """What the index says of a query. Each file is named by its card and digest."""

    known: frozenset[tuple[str, str]]
    """Those it knows."""
    found: frozenset[tuple[str, str]]
    """Those of them that have every word."""


def with_words(db: apsw.Connection, query: str) -> Words:
    """Which of the cards that are indexed have every word of *query*."""
    known = _known(db)
    rows = CARDS.search(db, query).rows & known.by_row.keys()
    return Words(known.files, frozenset(known.by_row[row] for row in rows))


class _Known(NamedTuple):
    version: int
    by_row: Mapping[int, tuple[str, str]]
    files: frozenset[tuple[str, str]]


_last_known: WeakKeyDictionary[apsw.Connection, _Known] = WeakKeyDictionary()
"""By connection, which only reads: nothing changed while its version is the same."""


def _known(db: apsw.Connection) -> _Known:
    version: int = db.pragma("data_version")
    known = _last_known.get(db)
    if known is None or known.version != version:
        by_row = {row: (ident, digest) for row, ident, digest in db.execute(_KNOWN)}
        known = _Known(version, by_row, frozenset(by_row.values()))
        _last_known[db] = known
    return known


def counts(db: apsw.Connection) -> Mapping[str, int]:
    found: int = db.execute(_COUNT).get
    return {"cards": found}

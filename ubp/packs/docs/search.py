"""Find sections by what was typed."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import apsw

from ubp.packs.docs import queries
from ubp.packs.docs.text_index import SECTIONS
from ubp.store.fulltext import Ranked
from ubp.toolkit import phase

__all__ = ("SectionHit", "literally")


class SectionHit(NamedTuple):
    """A section that contains every token; a lower rank is better."""

    section: int
    page: int
    rank: float


def literally(
    db: apsw.Connection, query: str, doc_type: str | None, limit: int
) -> tuple[list[SectionHit], int]:
    """The sections that contain every token of *query*, and how many there are."""
    with phase("match"):
        matches = SECTIONS.search(db, query)
    rows = matches.rows
    if doc_type is not None:
        rows = queries.pages_of_sections(db, rows, doc_type).keys() & rows
    ranked = (hit for hit in SECTIONS.ranked(db, matches) if hit.row in rows)
    with phase("rank"):
        best = _best(ranked, limit)
    places = queries.section_places(db, [hit.row for hit in best])
    best.sort(key=lambda hit: (hit.rank, places[hit.row].path, places[hit.row].ordinal))
    hits = [SectionHit(row, places[row].page, rank) for row, rank in best[:limit]]
    return hits, len(rows)


def _best(ranked: Iterator[Ranked], limit: int) -> list[Ranked]:
    """The best, and all that are as good as the last of them.

    These come in the order in which they happened to be stored.
    """
    best = list(itertools.islice(ranked, limit))
    if best:
        last = best[-1].rank
        best += itertools.takewhile(lambda hit: hit.rank == last, ranked)
    return best

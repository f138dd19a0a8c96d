"""Find sections by what was typed."""

import itertools
from typing import NamedTuple

import apsw

from ubp.packs.docs import queries
from ubp.packs.docs.text_index import SECTIONS
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
        best = list(itertools.islice(ranked, limit))
    page_of = queries.pages_of_sections(db, [hit.row for hit in best], doc_type)
    hits = [SectionHit(row, page_of[row], rank) for row, rank in best]
    return hits, len(rows)

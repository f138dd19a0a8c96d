"""How well pages in another language fit the words of a question, translated.

A page is as good as its best section, and a little better for each further one, as by
its own words; but compared with pages in that language alone, because BM25 scores of
other words say nothing beside those of one's own.
"""

from typing import NamedTuple

import apsw

from ubp.fusion import words_signal
from ubp.packs.docs import queries
from ubp.packs.docs.page_signals import PageWords, Row, share_of, total_of
from ubp.packs.docs.text_index import PACK_NAME, SECTION_WORDS
from ubp.store.foreign_words import abroad

__all__ = ("Translated", "by_translated_words")

_FEWER = 2.0
"""Where one's own language has half of the words that the other has, and more, its best
page is a match like any; with less than that it is as much less of one."""


class Translated(NamedTuple):
    """Pages in another language."""

    pages: dict[int, PageWords]
    coverages: dict[int, float]
    """Of each, as far as it counts beside pages in one's own language."""
    rival: float
    """What the best page in the question's own language is beside them, at most 1."""


def by_translated_words(
    db: apsw.Connection, question: str, doc_type: str | None, limit: int
) -> Translated:
    """The pages of the *limit* best sections that have words of *question*."""
    among = None if doc_type is None else queries.sections_of_type(db, doc_type)
    there = abroad(db, SECTION_WORDS, PACK_NAME, question, limit, among)
    if not there.rows:
        return Translated({}, {}, 1.0)
    page_of = queries.pages_of_sections(db, [each.row for each in there.rows], doc_type)
    rows_of: dict[int, list[Row]] = {}
    for row, score, coverage in there.rows:
        if row in page_of:
            rows_of.setdefault(page_of[row], []).append(Row(row, score, coverage))
    totals = {
        page: total_of(row.score for row in rows) for page, rows in rows_of.items()
    }
    most = max(totals.values(), default=0.0)
    best = max(each.score for each in there.rows)
    pages: dict[int, PageWords] = {}
    coverages: dict[int, float] = {}
    for page, rows in rows_of.items():
        coverage = max(row.coverage for row in rows)
        # What a dictionary misses must not count as what a page lacks: as in Japanese.
        signal = words_signal(share_of(totals[page], most), coverage, "ja")
        shares = [(row.row, share_of(row.score, best)) for row in rows]
        shares.sort(key=lambda pair: (-pair[1], pair[0]))
        pages[page] = PageWords(signal * there.share, tuple(shares), translated=True)
        coverages[page] = coverage * there.share
    rival = min(1.0, _FEWER * there.own / there.coverage)
    return Translated(pages, coverages, rival)

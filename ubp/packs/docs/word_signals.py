"""How well pages fit the words of a question.

A page is as good as its best section, and a little better for each further one. Its
signal is ``fusion.words_signal`` of two numbers:

* its share: the sum of its sections' BM25 scores, weighed, in that of the best page;
  doubled at most for pages whose title, file name or tags have the words;
* its coverage: the worth of the words in its best section in that of all words asked
  for. A section that contains every token literally, parts of words and punctuation
  included, covers all of it; so does a page called by all of the words.

A page in another language than the question may fit better by its words translated.
"""

import itertools
from typing import NamedTuple

import apsw

from ubp.fusion import common, words_signal
from ubp.languages import language_of
from ubp.packs.docs import queries
from ubp.packs.docs.page_signals import PageWords, share_of, total_of
from ubp.packs.docs.text_index import SECTION_WORDS, SECTIONS
from ubp.packs.docs.translated_signals import by_translated_words
from ubp.questions import content_words
from ubp.store.fulltext import Matches, any_of
from ubp.store.some_words import terms
from ubp.toolkit import phase

__all__ = ("FoundByWords", "by_words")

_MOST_ROWS = 400
"""Sections whose scores are compared."""

_ENOUGH_PAGES = 100
"""Of so many pages none is missed that could be among those shown."""

_ALL = 0.999
"""A share of the words that is all of them, sums of fractions being what they are."""


class FoundByWords(NamedTuple):
    """Pages with their signals, and how many more there are that fit no better."""

    pages: dict[int, PageWords]
    uncounted: int
    common: float
    """The share of the other pages that have nearly as many words as the best."""


class _Row(NamedTuple):
    score: float
    coverage: float


def by_words(db: apsw.Connection, question: str, doc_type: str | None) -> FoundByWords:
    """The pages with the words of *question*, or with the most telling of them."""
    language = language_of(question)
    with phase("match"):
        literal = SECTIONS.search(db, question)
    found = _sections(db, question, doc_type, literal)
    page_of = queries.pages_of_sections(db, found, doc_type)
    rest = literal.rows - found.keys()
    uncounted = 0
    if rest and len(set(page_of.values())) < _ENOUGH_PAGES:
        # Few pages with very many sections: then the others are wanted as well.
        found |= dict.fromkeys(rest, _Row(0.0, 1.0))
        page_of |= queries.pages_of_sections(db, rest, doc_type)
    elif rest:
        with phase("count"):
            uncounted = queries.count_pages(db, rest, page_of.values(), doc_type)
    with phase("names"):
        matches = [any_of([word]) for word in content_words(question)]
        names = queries.named(db, [match for match in matches if match])
    alone = queries.titles_alone(db, page_of)
    rows_of: dict[int, list[int]] = {}
    for row, page in page_of.items():
        rows_of.setdefault(page, []).append(row)
    for page, rows in rows_of.items():
        # A title says that the page fits, not where; the names have counted it already.
        rows_of[page] = [row for row in rows if row not in alone] or rows
    called = {page for page, share in names.items() if share > _ALL}
    first = queries.first_sections(db, called - rows_of.keys(), doc_type)
    totals = {
        page: total_of(found[row].score for row in rows) * (1 + names.get(page, 0.0))
        for page, rows in rows_of.items()
    }
    most = max(totals.values(), default=0.0)
    for page, row in first.items():
        rows_of[page] = [row]
        found[row] = _Row(0.0, 1.0)
    # Who names a page means that page: it stands beside the best match.
    totals |= dict.fromkeys(called & rows_of.keys(), most)
    raised = {
        row: found[row].score * (1 + names.get(page, 0.0))
        for page, rows in rows_of.items()
        for row in rows
    }
    best_row = max(raised.values(), default=0.0)
    with phase("translate"):
        there = by_translated_words(db, question, doc_type, _MOST_ROWS)
    pages: dict[int, PageWords] = {}
    coverages = dict(there.coverages)
    for page, rows in rows_of.items():
        covered = max(found[row].coverage for row in rows)
        coverage = 1.0 if page in called else covered
        coverages[page] = max(coverage, coverages.get(page, 0.0))
        shares = sorted(
            ((row, share_of(raised[row], best_row)) for row in rows),
            key=lambda pair: (-pair[1], pair[0]),
        )
        share = share_of(totals[page], most)
        if coverage < _ALL:  # the best of few words, where others have more translated
            share *= there.rival
        pages[page] = PageWords(words_signal(share, coverage, language), tuple(shares))
    for page, each in there.pages.items():
        if page not in pages or each.signal > pages[page].signal:
            pages[page] = each
    total = queries.count_all(db, doc_type)
    return FoundByWords(pages, uncounted, common(coverages.values(), total))


def _sections(
    db: apsw.Connection, question: str, doc_type: str | None, literal: Matches
) -> dict[int, _Row]:
    """The sections with words of *question*, or with parts of words as it has them."""
    among = None if doc_type is None else queries.sections_of_type(db, doc_type)
    with phase("weigh"):
        weighed = SECTION_WORDS.weighed(db, terms(question), _MOST_ROWS, among)
    found = {row: _Row(score, coverage) for row, score, coverage in weighed}
    # Parts of words and punctuation: the words alone did not find them.
    if literal.rows - found.keys():
        with phase("rank"):
            best = list(itertools.islice(SECTIONS.ranked(db, literal), _MOST_ROWS))
        found |= {
            row: _Row(min(1.0, -rank), 1.0) for row, rank in best if row not in found
        }
    return found | {
        row: found[row]._replace(coverage=1.0) for row in literal.rows & found.keys()
    }

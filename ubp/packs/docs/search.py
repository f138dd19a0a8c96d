"""Find pages by their words.

The full-text signal of a page, between 0 and 1, is that of its best section:

* a section that contains every token of the query: ``(1 + r) / 2``, where ``r`` is its
  rank relative to the best one;
* a section that only contains some of the words: ``r / 2``. These are looked for only
  where the others are too few.

So a page with everything that was asked for always comes before one with some of it.
Ranks are raised for pages whose title, file name or tags have the words, by as much as
double; a page called by all of them counts as one that contains them.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from ubp import lexicon
from ubp.lexicon import Kind
from ubp.packs.docs import queries
from ubp.packs.docs.text_index import SECTIONS
from ubp.store.fulltext import Ranked
from ubp.toolkit import phase

__all__ = (
    "Found",
    "FoundSection",
    "PageHit",
    "SectionHit",
    "by_words",
    "literally",
    "words_of",
)

_SHOWN_SECTIONS = 3
_ALL = 0.999
"""A share of the words that is all of them, sums of fractions being what they are."""

_MOST_LOOSE = 200
"""Sections considered that contain only some of the words."""

_STOP_WORDS = frozenset(
    word
    for line in (
        "a about after all also an and any are as at be been but by can could did do",
        "does for from had has have how i if in into is it its just like may me more",
        "most my no not of on or other our out over should so some such than that the",
        "their them then there these they this those to under up use using was we were",
        "what when where which while who why will with would you your",
    )
    for word in line.split()
)


class SectionHit(NamedTuple):
    """A section that contains every token; a lower rank is better."""

    section: int
    page: int
    rank: float


class FoundSection(NamedTuple):
    """A section, and its part in the signal of its page."""

    section: int
    score: float


class PageHit(NamedTuple):
    """A page with its full-text signal and its best sections."""

    page: int
    score: float
    sections: tuple[FoundSection, ...]


class Found(NamedTuple):
    """What was found, in no particular order, and how many there are in all."""

    hits: list[PageHit]
    total: int


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


def by_words(
    db: apsw.Connection, query: str, doc_type: str | None, limit: int
) -> Found:
    """The pages that fit the words of *query*."""
    with phase("match"):
        matches = SECTIONS.search(db, query)
    page_of = queries.pages_of_sections(db, matches.rows, doc_type)
    words = _telling(query)
    with phase("names"):
        names = queries.named(db, words)
    with phase("rank"):
        strict = [hit for hit in SECTIONS.ranked(db, matches) if hit.row in page_of]
    strict = _raised(strict, page_of, names)
    strict += _by_name_alone(db, strict, page_of, names, doc_type)
    signals = [(row, (1 + share) / 2) for row, share in _shares(strict)]
    if len(set(page_of.values())) < limit:
        with phase("some_words"):
            loose = SECTIONS.some_words(db, words)[:_MOST_LOOSE]
        more = queries.pages_of_sections(db, [hit.row for hit in loose], doc_type)
        fresh = [hit for hit in loose if hit.row in more and hit.row not in page_of]
        page_of |= {hit.row: more[hit.row] for hit in fresh}
        fresh = _raised(fresh, page_of, names)
        signals += [(row, share / 2) for row, share in _shares(fresh)]
    return _by_page(signals, page_of)


def _raised(
    ranked: Sequence[Ranked], page_of: dict[int, int], names: dict[int, float]
) -> list[Ranked]:
    """The same rows, those of pages called by the words moved up, best first."""
    raised = [
        Ranked(row, rank * (1 + names.get(page_of[row], 0.0))) for row, rank in ranked
    ]
    return sorted(raised, key=lambda hit: (hit.rank, hit.row))


def _by_name_alone(
    db: apsw.Connection,
    strict: Sequence[Ranked],
    page_of: dict[int, int],
    names: dict[int, float],
    doc_type: str | None,
) -> list[Ranked]:
    """The first sections of pages called by every word that contain not all of them.

    They stand beside the best match: who names a page means that page. *page_of*
    learns of them.
    """
    have = set(page_of.values())
    wanted = [
        page for page, share in names.items() if share > _ALL and page not in have
    ]
    first = queries.first_sections(db, wanted, doc_type)
    page_of |= {row: page for page, row in first.items()}
    best = min((hit.rank for hit in strict), default=-1.0)
    return [Ranked(row, best) for row in sorted(first.values())]


def words_of(query: str) -> list[str]:
    """What to mark in a section that was found: whole tokens, else telling words."""
    tokens = [token for token in lexicon.tokens(query) if token not in _STOP_WORDS]
    return list(dict.fromkeys([*tokens, *_telling(query)]))


def _by_page(signals: Iterable[tuple[int, float]], page_of: dict[int, int]) -> Found:
    of_page: dict[int, list[FoundSection]] = {}
    for row, signal in signals:
        of_page.setdefault(page_of[row], []).append(FoundSection(row, signal))
    hits = [
        PageHit(page, found[0].score, tuple(found[:_SHOWN_SECTIONS]))
        for page, found in of_page.items()
    ]
    return Found(hits, len(hits))


def _shares(ranked: Sequence[Ranked]) -> list[tuple[int, float]]:
    """Each row with its rank relative to the best, which has 1."""
    best = max((-hit.rank for hit in ranked), default=0.0)
    return [(hit.row, -hit.rank / best if best else 1.0) for hit in ranked]


def _telling(query: str) -> list[str]:
    """The words of *query* worth looking for one by one.

    Stop words, single letters and runs of nothing but hiragana are left out when
    anything else is left.
    """
    words = [
        run.text
        for token in lexicon.tokens(query)[:64]
        for run in lexicon.runs(token)
        if run.kind is not Kind.OTHER
    ]
    parts = [part for word in words for part in _scripts(word)]
    telling = [
        part
        for part in parts
        if part not in _STOP_WORDS
        and not _is_hiragana(part)
        and not (part.isascii() and len(part) == 1)
    ]
    return telling or parts


def _scripts(word: str) -> list[str]:
    """A CJK run cut where hiragana begins or ends: content words and their endings."""
    pieces: list[str] = []
    for character in word:
        if pieces and _is_hiragana(pieces[-1][-1]) == _is_hiragana(character):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _is_hiragana(text: str) -> bool:
    return all("\u3041" <= character <= "\u309f" for character in text)

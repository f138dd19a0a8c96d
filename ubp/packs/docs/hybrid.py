"""Find pages by meaning, words and links together."""

from collections.abc import Collection
from typing import NamedTuple

import apsw

from ubp import fusion
from ubp.fusion import Calibration, Facts, words_signal
from ubp.languages import language_of
from ubp.messages import QueryVector
from ubp.packs.docs import graph, queries
from ubp.packs.docs.page_signals import PageMeaning
from ubp.packs.docs.queries import Page
from ubp.packs.docs.word_signals import by_words
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import phase

__all__ = (
    "Hybrid",
    "Question",
    "Ranked",
    "SectionHit",
    "Signals",
    "find",
    "reason",
)

_MOST_SECTIONS = 10
"""Of a page, kept in order."""

_SEEDS = 3
"""Pages from which links are followed: those most likely to be answers."""

_PAGE = 0.2
"""Of two sections that fit equally well, the one in the better page is more likely
meant: so much of a section's score is its page's."""


_NOT_CLOSE = PageMeaning(0.0, ())


class Question(NamedTuple):
    """What is asked, and how."""

    text: str
    vector: QueryVector | None
    limit: int
    depth: int
    link_types: Collection[str] | None
    doc_type: str | None
    alpha: float


class Signals(NamedTuple):
    """What a page's score is made of."""

    similarity: float
    words: float
    proximity: float
    foreign: bool = False
    """It is in another language than the question."""
    translated: bool = False
    """It has the words of the question in another language."""


class SectionHit(NamedTuple):
    """A section that matches, and how well."""

    row: int
    score: float


class Ranked(NamedTuple):
    """A page with its score and its best sections."""

    page: Page
    score: float
    signals: Signals
    sections: tuple[SectionHit, ...]


class Hybrid(NamedTuple):
    """The best pages, how many there are in all, and whether vectors took part."""

    pages: list[Ranked]
    total: int
    by_meaning: bool


def find(db: apsw.Connection, blocks: Blocks, question: Question) -> Hybrid:
    """The pages that answer *question*, best first; equal ones by path."""
    words, uncounted, common = by_words(db, question.text, question.doc_type)
    also = [row for page in words.values() for row, _ in page.sections]
    meaning, facts = _meaning(db, blocks, question, also)
    facts = facts._replace(common=common)
    signals = {
        page: Signals(
            meaning[page].similarity if page in meaning else 0.0,
            words[page].signal if page in words else 0.0,
            0.0,
            page in meaning and meaning[page].is_foreign,
            page in words and words[page].translated,
        )
        for page in words.keys() | meaning.keys()
    }
    if meaning:
        with phase("graph"):
            signals = _with_neighbours(db, facts, signals, question)
    scores = _scores(facts, signals)
    return Hybrid(
        [
            Ranked(
                page,
                scores[page.id],
                signals[page.id],
                _sections(
                    facts,
                    scores[page.id],
                    dict(words[page.id].sections) if page.id in words else {},
                    meaning.get(page.id, _NOT_CLOSE),
                ),
            )
            for page in _best(db, scores, question.limit)
        ],
        len(scores) + uncounted,
        bool(meaning),
    )


def _meaning(
    db: apsw.Connection, blocks: Blocks, question: Question, also: Collection[int]
) -> tuple[dict[int, PageMeaning], Facts]:
    """The pages that are close in meaning, and what that says of the question.

    With them those with the sections *also*, however close they are.
    """
    vector = question.vector
    if vector is None:
        return {}, Facts(question.alpha, 0.0, Calibration(0.0, 0.0))
    # It loads numpy, which takes longer than most searches by words.
    from ubp.packs.docs.meaning_signals import by_meaning, without_vectors

    language = language_of(question.text)
    found, abroad = by_meaning(db, blocks, vector, question.doc_type, language, also)
    closest = max((page.similarity for page in found.values()), default=0.0)
    missing = without_vectors(db, blocks) if found else 0.0
    calibration = Calibration(vector.unrelated, vector.related, vector.literal)
    return found, Facts(question.alpha, closest, calibration, missing, abroad)


def _best(db: apsw.Connection, scores: dict[int, float], limit: int) -> list[Page]:
    """The pages with the highest scores; of equal ones, the first by path."""
    if len(scores) > limit:
        least = sorted(scores.values(), reverse=True)[limit - 1]
        scores = {page: score for page, score in scores.items() if score >= least}
    pages = queries.pages(db, scores)
    ordered = sorted(pages.values(), key=lambda page: (-scores[page.id], page.path))
    return ordered[:limit]


def _with_neighbours(
    db: apsw.Connection, facts: Facts, signals: dict[int, Signals], question: Question
) -> dict[int, Signals]:
    """The same pages and those linked with the best of them, with how near they are."""
    scores = _scores(facts, signals)
    seeds = [page.id for page in _best(db, scores, _SEEDS)]
    hops = graph.hops(db, seeds, question.depth, question.link_types)
    near = dict.fromkeys(hops.keys() - signals.keys(), Signals(0.0, 0.0, 0.0))
    if question.doc_type is not None:
        kept = queries.pages(db, near)
        near = {
            page: none
            for page, none in near.items()
            if kept[page].doc_type == question.doc_type
        }
    together = signals | near
    return {
        page: each._replace(proximity=_proximity(hops.get(page)))
        for page, each in together.items()
    }


def _scores(facts: Facts, signals: dict[int, Signals]) -> dict[int, float]:
    return {
        page: fusion.score(
            facts,
            each.similarity,
            each.words,
            each.proximity,
            foreign=each.foreign,
        )
        for page, each in signals.items()
    }


def _proximity(hops: int | None) -> float:
    if hops is None:
        return 0.0
    return 1.0 / max(1, hops)


def _sections(
    facts: Facts, page: float, words: dict[int, float], meaning: PageMeaning
) -> tuple[SectionHit, ...]:
    """The best sections of a page, by the same formula as pages."""
    close = dict(meaning.sections)

    def own_score(row: int) -> float:
        found = fusion.score(
            facts,
            close.get(row, 0.0),
            words.get(row, 0.0),
            0.0,
            foreign=row in meaning.foreign,
        )
        # A page may be less close than its best section: this may exceed the pages' 1.
        return min(1.0, found)

    scored = sorted(
        (
            SectionHit(row, (1 - _PAGE) * own_score(row) + _PAGE * page)
            for row in words.keys() | close.keys()
        ),
        key=lambda hit: (-hit.score, hit.row),
    )
    return tuple(scored[:_MOST_SECTIONS])


def reason(signals: Signals, question: str) -> str:
    """Why a page was found, in words."""
    parts: list[str] = []
    if signals.similarity > 0:
        where = ", in another language" if signals.foreign else ""
        parts.append(f"similar in meaning ({signals.similarity:.2f}){where}")
    language = "ja" if signals.translated else language_of(question)
    how = ", translated" if signals.translated else ""
    if signals.words >= words_signal(0.0, 1.0, language):
        parts.append(f"has the words{how} ({signals.words:.2f})")
    elif signals.words > 0:
        parts.append(f"has some of the words{how} ({signals.words:.2f})")
    if not parts:
        parts.append("linked with pages that match")
    return ", ".join(parts)

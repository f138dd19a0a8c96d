"""Find items by meaning and words together, among those that may be seen.

An item is found if it has at least half of what the words asked for are worth, as they
are or translated, or if it is closer in meaning than what is unrelated. It is placed by
relevance, on the scale of ``ubp/fusion.py``; of equally relevant ones the better comes
first, then the newer.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import apsw

from ubp import fusion
from ubp.fusion import Calibration, Facts, common, words_signal
from ubp.languages import language_of
from ubp.messages import QueryVector
from ubp.packs.registry import queries
from ubp.packs.registry.queries import Filter, Placed, Viewer
from ubp.packs.registry.text_index import CLOSED_WORDS, ITEM_WORDS, PACK_NAME
from ubp.store import vectors
from ubp.store.foreign_words import abroad
from ubp.store.some_words import Weighed, terms
from ubp.store.vector_blocks import Blocks
from ubp.store.vectors import ModelRow
from ubp.toolkit import phase

__all__ = ("Found", "Question", "find", "novelty")

_LOOKED_AT = 200
"""Items looked at by words and by meaning: many times what is asked for, because some
may not be seen, or are not good enough."""

_ENOUGH_WORDS = 0.5
"""Of the worth of all words asked for."""

_RELATED = 0.5
"""Similarity from which on an item is no chance neighbour (``fusion.Calibration``)."""

_FINENESS = 2
"""Decimals of relevance: what differs by less is equally relevant."""

_NOVELTY_FINENESS = 3
"""Decimals of novelty. What comes after them depends on what else a text was embedded
with, which may be somebody else's."""


class Question(NamedTuple):
    """What is asked, by whom, and how."""

    text: str
    vector: QueryVector | None
    viewer: Viewer
    wanted: Filter
    least_quality: float
    limit: int
    alpha: float


class Found(NamedTuple):
    """Rows in order; and if there are none, how many were not good enough."""

    rows: list[int]
    hidden: int


def find(db: apsw.Connection, blocks: Blocks, question: Question) -> Found:
    """The items that answer *question*, the most relevant first.

    One's own are found whatever their quality. An empty question lists by quality.
    """
    if not question.text.strip():
        return _listed(db, question)
    complete = False
    relevance: dict[int, float] = {}
    placed: list[Placed] = []
    if not question.wanted.is_narrow:
        relevance, complete = _relevant(db, blocks, question, None)
        placed = _placed(db, question, relevance)
    if not complete and len(_good(placed, question)) < question.limit:
        # What is not asked for took the places of what is, or would have.
        relevance, placed = _among(db, blocks, question, question.least_quality)
        if not placed:
            _, placed = _among(db, blocks, question, 0.0)
    good = _good(placed, question)
    ordered = sorted(good, key=lambda each: each.row)
    ordered.sort(key=lambda each: each.created_at, reverse=True)
    ordered.sort(
        key=lambda each: (-round(relevance[each.row], _FINENESS), -each.quality)
    )
    rows = [each.row for each in ordered[: question.limit]]
    return Found(rows, 0 if rows else len(placed))


def _among(
    db: apsw.Connection, blocks: Blocks, question: Question, least: float
) -> tuple[dict[int, float], list[Placed]]:
    """The same, having looked at what is asked for only."""
    with phase("among"):
        among = queries.rows_of(db, question.viewer, question.wanted, least)
    relevance, _ = _relevant(db, blocks, question, among)
    return relevance, _placed(db, question, relevance)


def novelty(
    db: apsw.Connection, blocks: Blocks, vector: QueryVector, among: list[int]
) -> float | None:
    """How far a trace is from the closest of these; None if that cannot be told."""
    model = vectors.serving(db)
    if model is None or model.id != vector.model:
        return None
    near = _nearest(db, blocks, model, vector, 1, among)
    if not near:
        return None
    return round(1 - max(0.0, min(1.0, max(near.values()))), _NOVELTY_FINENESS)


def _listed(db: apsw.Connection, question: Question) -> Found:
    viewer, wanted, least = question.viewer, question.wanted, question.least_quality
    best = queries.best(db, viewer, wanted, least, question.limit)
    hidden = 0 if best else queries.hidden(db, viewer, wanted, least)
    return Found([each.row for each in best], hidden)


def _placed(
    db: apsw.Connection, question: Question, relevance: dict[int, float]
) -> list[Placed]:
    with phase("filter"):
        return queries.placed(db, question.viewer, question.wanted, relevance)


def _good(placed: list[Placed], question: Question) -> list[Placed]:
    least = question.least_quality
    return [each for each in placed if each.is_own or each.quality >= least]


def _relevant(
    db: apsw.Connection, blocks: Blocks, question: Question, among: list[int] | None
) -> tuple[dict[int, float], bool]:
    """How relevant each item found is, and whether all of them were looked at.

    What the viewer may not see plays no part, not even in what others are worth.
    """
    closed = queries.closed_rows(db, question.viewer, seen=True)
    total = ITEM_WORDS.rows(db) + len(closed)
    if among is not None:
        closed = list(set(closed) & set(among))
        total = len(among)
    with phase("match"):
        weighed = _by_words(db, question, among, closed)
    best = max((each.score for each in weighed), default=0.0)
    language = language_of(question.text)
    words = {
        row: words_signal(score / best if best else 1.0, coverage, language)
        for row, score, coverage in weighed
    }
    coverages = {row: coverage for row, _, coverage in weighed}
    with phase("translate"):
        there = abroad(db, ITEM_WORDS, PACK_NAME, question.text, _LOOKED_AT, among)
    most = max((each.score for each in there.rows), default=0.0)
    for row, score, coverage in there.rows:
        signal = words_signal(score / most if most else 1.0, coverage, "ja")
        words[row] = max(words.get(row, 0.0), signal * there.share)
        coverages[row] = max(coverages.get(row, 0.0), coverage * there.share)
    found = {row for row, share in coverages.items() if share >= _ENOUGH_WORDS}
    close, facts = _by_meaning(db, blocks, question, among, words.keys())
    facts = facts._replace(common=common(coverages.values(), total))
    found |= {
        row
        for row, cosine in close.items()
        if facts.calibration.similarity(cosine) > _RELATED
    }
    foreign = vectors.in_other_languages(db, PACK_NAME, found, language)
    relevance = {
        row: fusion.score(
            facts, close.get(row, 0.0), words.get(row, 0.0), 0.0, foreign=row in foreign
        )
        for row in found
    }
    looked_at = max(len(weighed), len(there.rows), len(close))
    return relevance, looked_at < _LOOKED_AT


def _by_words(
    db: apsw.Connection,
    question: Question,
    among: list[int] | None,
    closed: list[int],
) -> list[Weighed]:
    """The items that have some of the words, with those *closed* to others."""
    asked = terms(question.text)
    if not asked:
        return []
    found = ITEM_WORDS.weighed(db, asked, _LOOKED_AT, among)
    if not closed:
        return found
    worth = ITEM_WORDS.worth(db, asked)
    covered = CLOSED_WORDS.covered(db, asked, worth, closed)
    found += [
        # BM25 is counted where it stands; a word once is about what it is worth.
        Weighed(row, value, min(1.0, value / sum(worth)))
        for row, value in covered.items()
        if value
    ]
    found.sort(key=lambda each: (-each.score, each.row))
    return found[:_LOOKED_AT]


def _by_meaning(
    db: apsw.Connection,
    blocks: Blocks,
    question: Question,
    among: list[int] | None,
    by_words: AbstractSet[int],
) -> tuple[dict[int, float], Facts]:
    """The closest items with their cosines, and what that says of the question.

    How many have no vector is told by those found by words: all items would include
    some that the viewer may not see.
    """
    vector = question.vector
    model = None if vector is None else vectors.serving(db)
    if vector is None or model is None or model.id != vector.model:
        return {}, Facts(question.alpha, 0.0, Calibration(0.0, 0.0))
    denied = queries.closed_rows(db, question.viewer, seen=False)
    near = _nearest(db, blocks, model, vector, _LOOKED_AT, among, denied)
    # Not to be among the nearest must not count as not being close at all.
    further = _similar(db, model, vector, by_words - near.keys())
    close = {row: cosine for row, cosine in (near | further).items() if cosine > 0}
    language = language_of(question.text)
    foreign = vectors.in_other_languages(db, PACK_NAME, near, language)
    without = vectors.without_vector(db, model, PACK_NAME, by_words)
    missing = len(without) / len(by_words) if close and by_words else 0.0
    return close, Facts(
        question.alpha,
        max(close.values(), default=0.0),
        Calibration(vector.unrelated, vector.related, vector.literal),
        missing,
        len(foreign) / len(near) if near else 0.0,
    )


def _nearest(
    db: apsw.Connection,
    blocks: Blocks,
    model: ModelRow,
    vector: QueryVector,
    limit: int,
    among: list[int] | None,
    denied: Sequence[int] = (),
) -> dict[int, float]:
    # It loads numpy, which takes longer than most searches by words.
    import numpy as np

    from ubp.store.nearest import nearest

    allowed = None if among is None else np.array(among, np.int64)
    hidden = np.array(denied, np.int64) if denied else None
    values = np.frombuffer(vector.values, np.float32)
    with phase("nearest"):
        near = nearest(db, blocks, model, PACK_NAME, values, limit, allowed, hidden)
    return {row: float(cosine) for row, cosine in near}


def _similar(
    db: apsw.Connection, model: ModelRow, vector: QueryVector, rows: AbstractSet[int]
) -> dict[int, float]:
    import numpy as np

    from ubp.store.nearest import similar

    values = np.frombuffer(vector.values, np.float32)
    with phase("similar"):
        near = similar(db, model, PACK_NAME, values, rows)
    return {row: float(cosine) for row, cosine in near}

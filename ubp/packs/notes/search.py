"""Find chunks by meaning, with a net of words below.

A chunk is found if its similarity, on the calibrated scale of ``ubp/fusion.py``, is at
least the threshold. Whoever looks for a word that stands in a note must not be told
that there is nothing: a chunk that has every word of the question is always found, with
a similarity of the threshold if it has less. So is a chunk without a vector - in a
language the model does not know, or not embedded yet - whose words are enough: then
``fusion.words_signal`` is held against the threshold.
"""

from typing import NamedTuple

import apsw

from ubp import lexicon
from ubp.fusion import Calibration, words_signal
from ubp.languages import language_of
from ubp.messages import QueryVector
from ubp.packs.notes import queries
from ubp.packs.notes.text_index import CHUNK_WORDS, PACK_NAME
from ubp.questions import all_words
from ubp.store import vectors
from ubp.store.fulltext import all_of, quoted
from ubp.store.some_words import terms
from ubp.store.vector_blocks import Blocks
from ubp.store.vectors import ModelRow
from ubp.toolkit import phase

__all__ = ("Hit", "Question", "find")

_MORE = 50
"""Chunks looked at beyond those asked for, because several may be equally close."""


_EVERYWHERE = 5_000
"""Chunks that a word stands in which says nothing: to rank them would take longer than
all else, and be of no use."""


class Question(NamedTuple):
    """What is asked, and how."""

    text: str
    vector: QueryVector | None
    tags: list[str]
    limit: int
    threshold: float


class Hit(NamedTuple):
    """A chunk that was found."""

    row: int
    similarity: float


def find(db: apsw.Connection, blocks: Blocks, question: Question) -> list[Hit]:
    """The chunks that answer *question*, by falling similarity.

    Of equal ones, first those that fit the words better, then by path and place.
    """
    among = None
    if question.tags:
        with phase("tags"):
            among = queries.chunks_of_tags(db, question.tags)
        if not among:
            return []
    model = _model(db, question.vector)
    similar = _by_meaning(db, blocks, question, model, among) if model else {}
    fit = _by_words(db, blocks, question, model, among)
    threshold = question.threshold
    found = {row: value for row, value in similar.items() if value >= threshold}
    found |= {row: max(threshold, similar.get(row, 0.0)) for row in fit}
    missing = question.limit - len(found)
    if threshold == 0 and missing > 0:
        rest = queries.some_chunks(db, missing, found, among)
        found |= dict.fromkeys(rest, 0.0)
    places = queries.chunk_places(db, found)
    ordered = sorted(
        places, key=lambda row: (-found[row], -fit.get(row, 0.0), places[row])
    )
    return [Hit(row, found[row]) for row in ordered[: question.limit]]


def _model(db: apsw.Connection, vector: QueryVector | None) -> ModelRow | None:
    """The model that made *vector*, if it is the one whose vectors are searched."""
    model = None if vector is None else vectors.serving(db)
    if model is None or vector is None or model.id != vector.model:
        return None
    return model


def _by_meaning(
    db: apsw.Connection,
    blocks: Blocks,
    question: Question,
    model: ModelRow,
    among: list[int] | None,
) -> dict[int, float]:
    """The chunks closest in meaning, with their similarity."""
    vector = question.vector
    if vector is None:
        return {}
    # It loads numpy, which takes longer than most searches by words.
    import numpy as np

    from ubp.store.nearest import nearest

    allowed = None if among is None else np.array(among, np.int64)
    values = np.frombuffer(vector.values, np.float32)
    with phase("nearest"):
        wanted = question.limit + _MORE
        near = nearest(db, blocks, model, PACK_NAME, values, wanted, allowed)
    calibration = Calibration(vector.unrelated, vector.related)
    return {row: calibration.similarity(cosine) for row, cosine in near}


def _by_words(
    db: apsw.Connection,
    blocks: Blocks,
    question: Question,
    model: ModelRow | None,
    among: list[int] | None,
) -> dict[int, float]:
    """The chunks found whatever their similarity, and how well they fit the words.

    The more the better; those with every word have more than 1.
    """
    wanted = question.limit + _MORE
    with phase("match"):
        literal = _literal(db, question.text, wanted, among)
    fit = {row: 1 + score for row, score in literal.items()}
    if model is not None and _all_have_vectors(db, blocks, model):
        return fit
    with phase("weigh"):
        weighed = CHUNK_WORDS.weighed(db, terms(question.text), wanted, among)
    if model is not None:
        rows = [each.row for each in weighed]
        without = vectors.without_vector(db, model, PACK_NAME, rows)
        weighed = [each for each in weighed if each.row in without]
    best = max((each.score for each in weighed), default=0.0)
    language = language_of(question.text)
    for row, score, coverage in weighed:
        signal = words_signal(score / best if best else 1.0, coverage, language)
        if signal >= question.threshold:
            fit.setdefault(row, signal)
    return fit


def _literal(
    db: apsw.Connection, text: str, limit: int, among: list[int] | None
) -> dict[int, float]:
    """Chunks that have every word of *text* in title, heading or content, scored."""
    words = all_words(text)
    match = all_of(words)
    signs = [quoted(sign) for sign in sorted(lexicon.names(lexicon.fold(text)))]
    match = " AND ".join(each for each in (match, *signs) if each)
    long = [word for word in words if len(word) > lexicon.LONGEST_WORD]
    if not long:
        return _best(db, words, match, limit, among) if match else {}
    # Too long for the index: those few that have such words are looked through.
    rows = queries.with_long_words(db, long)
    if among is not None:
        rows &= set(among)
    if not match:
        return dict.fromkeys(rows, 0.0)
    return dict(CHUNK_WORDS.having(db, match, limit, sorted(rows)))


def _best(
    db: apsw.Connection,
    words: list[str],
    match: str,
    limit: int,
    among: list[int] | None,
) -> dict[int, float]:
    """The chunks that match best; of words that are everywhere, any that match."""
    ascii_words = [word for word in words if word.isascii()]
    rarest = min((CHUNK_WORDS.count(db, each) for each in ascii_words), default=0)
    if rarest > _EVERYWHERE:
        return dict.fromkeys(CHUNK_WORDS.first(db, match, limit, among), 0.0)
    return dict(CHUNK_WORDS.having(db, match, limit, among))


def _all_have_vectors(db: apsw.Connection, blocks: Blocks, model: ModelRow) -> bool:
    if model.dimension is None:
        return False
    found, total = blocks.counts(db, model.id, model.dimension, PACK_NAME)
    return found == total

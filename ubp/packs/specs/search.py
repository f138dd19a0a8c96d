"""Find sections by their words; where these say little, by their meaning.

The score is BM25 over the sections of one snapshot: what other languages and other
versions hold changes nothing. Title, path and text are scored each for itself, and the
first two weigh ten and five times as much: so a word in a title is worth more than any
number of them in a text. It is negative, as SQLite has it: the smaller, the better.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import apsw

from ubp.fusion import Calibration
from ubp.messages import QueryVector
from ubp.packs.specs import queries
from ubp.packs.specs.passages import PACK_NAME
from ubp.packs.specs.queries import Occurrences, Within
from ubp.packs.specs.query_syntax import Asked, phrases
from ubp.store import vectors
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import phase

__all__ = ("LITTLE", "Found", "Hit", "Match", "by_meaning", "by_words", "together")

LITTLE = 5
"""Sections; where every word stands in fewer, meaning is asked as well."""

_BY_SOME = 4
"""Sections with some of the words that come before those close in meaning. What is
further down among them has a word or two by chance; see docs/search-quality.md."""

_WEIGHTS = (10.0, 5.0, 1.0)
"""Of title, path and text."""

_K1 = 1.2
_B = 0.75

_SYMBOLS = 16
"""Of a query that are looked for in the text itself."""

_LEAST = 1e-6
"""A match is a match, however common its words are."""

_SIMILAR = 0.65
"""On the scale of ``fusion.Calibration``: what is less similar is no answer."""

_SIMILAR_ALONE = 0.5
"""The same where no word was found, as with a question in another language: there is
nothing better to show. It is what a question about something else may reach."""

Match = Literal["any", "meaning"]
"""How a section was found, where not by all of the words."""


class Hit(NamedTuple):
    """A section that was found."""

    row: int
    score: float
    match: Match | None = None


class Found(NamedTuple):
    """What a search by words found."""

    hits: list[Hit]
    is_little: bool
    """Whether it is worth asking for meaning."""

    def leaves_room(self, limit: int) -> bool:
        """Whether what is close in meaning would be among the first *limit*."""
        partial = bool(self.hits) and self.hits[0].match == "any"
        return self.is_little and (partial or len(self.hits) < limit)


def by_words(
    db: apsw.Connection, snapshot: int, asked: Asked, prefix: str | None
) -> Found:
    """The sections that have what was asked for, best first."""
    within = queries.rows_within(db, snapshot, prefix)
    if asked.symbols:
        return Found(_with_symbols(db, snapshot, asked.symbols, within), False)
    hits: list[Hit] = []
    with phase("match"):
        for match in filter(None, (asked.strict, asked.every)):
            # The second finds what the first does, and where little words are missing.
            hits = _ranked(db, snapshot, match, within) or hits
            if len(hits) >= LITTLE:
                break
        if hits or not asked.some:
            return Found(hits, bool(asked.strict) and len(hits) < LITTLE)
        hits = _ranked(db, snapshot, asked.some, within)
    return Found([hit._replace(match="any") for hit in hits], True)


def by_meaning(
    db: apsw.Connection,
    blocks: Blocks,
    snapshot: int,
    vector: QueryVector,
    prefix: str | None,
    limit: int,
    *,
    alone: bool = False,
) -> list[Hit]:
    """The sections closest to *vector* that are close at all.

    *alone*: nothing was found by words.
    """
    model = vectors.serving(db)
    if model is None or model.id != vector.model:
        return []
    # It loads numpy, which takes longer than most searches by words.
    import numpy as np

    from ubp.store.nearest import nearest

    rows = np.array(sorted(queries.rows_within(db, snapshot, prefix)), np.int64)
    values = np.frombuffer(vector.values, np.float32)
    with phase("nearest"):
        near = nearest(db, blocks, model, PACK_NAME, values, limit, rows)
    calibration = Calibration(vector.unrelated, vector.related)
    least = _SIMILAR_ALONE if alone else _SIMILAR
    return [
        Hit(row, 0.0, "meaning")
        for row, cosine in near
        if calibration.similarity(cosine) >= least
    ]


def together(words: list[Hit], meaning: list[Hit], limit: int) -> list[Hit]:
    """What was found by words, then by meaning: each section once."""
    if meaning and words and words[0].match == "any":
        words = words[:_BY_SOME]
    known = {hit.row for hit in words}
    return [*words, *(hit for hit in meaning if hit.row not in known)][:limit]


def _ranked(
    db: apsw.Connection, snapshot: int, match: str, within: Mapping[int, Within]
) -> list[Hit]:
    counted = queries.having(db, match, within)
    return _scored(db, snapshot, counted, within, phrases(match))


def _with_symbols(
    db: apsw.Connection,
    snapshot: int,
    symbols: tuple[str, ...],
    within: Mapping[int, Within],
) -> list[Hit]:
    symbols = symbols[:_SYMBOLS]
    texts = queries.containing(db, snapshot, symbols[0])
    counted = {
        row: [Occurrences(0, 0, text.count(symbol)) for symbol in symbols]
        for row, text in texts.items()
        if row in within and all(symbol in text for symbol in symbols)
    }
    return _scored(db, snapshot, counted, within, ())


def _scored(
    db: apsw.Connection,
    snapshot: int,
    counted: Mapping[int, list[Occurrences]],
    within: Mapping[int, Within],
    matches: Sequence[str],
) -> list[Hit]:
    """The rows in order of their BM25 score, then of their place."""
    if not counted:
        return []
    total, average = queries.average_size(db, snapshot)
    standing = queries.counts_of(db, snapshot, matches) or [len(counted)] * _SYMBOLS
    worth = [math.log(1 + (total - n + 0.5) / (n + 0.5)) for n in standing]
    hits: list[Hit] = []
    for row, found in counted.items():
        # Titles and paths are of one kind; texts are long and short.
        norm = _K1 * (1 - _B + _B * within[row].size / average)
        norms = (_K1, _K1, norm)
        score = sum(
            value * _saturated(each, norms)
            for value, each in zip(worth, found, strict=False)
        )
        hits.append(Hit(row, -max(_LEAST, score)))
    return sorted(hits, key=lambda hit: (hit.score, within[hit.row].ordinal))


def _saturated(found: Occurrences, norms: tuple[float, float, float]) -> float:
    """What a phrase is worth to a section: the tenth time adds less than the first."""
    return sum(
        weight * count * (_K1 + 1) / (count + norm)
        for weight, count, norm in zip(_WEIGHTS, found, norms, strict=True)
    )

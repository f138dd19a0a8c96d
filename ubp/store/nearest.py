"""Nearest: which rows of a pack are closest in meaning to a vector.

Three looks, each at fewer vectors and closer: signs of all of them, int8 of some
thousands, float32 of hardly more than are asked for. What may not be returned is left
out before the first cut, so a narrow filter finds as much as a wide one.

Call these inside a snapshot.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from ubp.store.vector_blocks import (
    Block,
    Blocks,
    sign_words,
    values_of,
    vectors_of,
)
from ubp.store.vectors import ModelRow, unit

__all__ = ("Near", "each_nearest", "nearest", "similar")

_FEWEST_SCORED = 4_000
_SCORED_FOR_EACH = 40
"""Vectors looked at as int8: at least so many, and so many for each one asked for. With
these, 99.7 % of the best 200 of 100,000 pass the signs."""

_MORE_COMPARED = 40
"""Vectors looked at as float32 beyond those asked for and a quarter of them. Ten more
than asked for lost nothing in our measurements; models differ, and it costs little."""

_MORE_AROUND = 12
"""The same for the neighbours of a row, one of which is the row itself."""

_OUT = np.iinfo(np.uint16).max
"""A distance beyond all others."""


class Near(NamedTuple):
    """A row, and the cosine of the angle between the vectors."""

    row: int
    similarity: float


def nearest(
    db: apsw.Connection,
    blocks: Blocks,
    model: ModelRow,
    pack: str,
    query: NDArray[np.float32],
    limit: int,
    allowed: NDArray[np.int64] | None = None,
    denied: NDArray[np.int64] | None = None,
) -> list[Near]:
    """The rows nearest to *query*; the nearest first.

    Of *allowed* ones if given, and never of those *denied*.

    Raises:
        VectorMismatch: The query is not a vector of the model.
    """
    if model.dimension is None or limit < 1:
        return []
    query = unit(query, model.dimension)
    loaded = blocks.of(db, model.id, model.dimension, pack)
    if not loaded:
        return []
    rows = np.concatenate([block.rows for block in loaded])
    may = None if allowed is None else np.isin(rows, allowed)
    if denied is not None:
        others = np.isin(rows, denied, invert=True)
        may = others if may is None else may & others
    candidates = _by_signs(loaded, query, _scored(limit), may)
    scores = _by_codes(loaded, query, candidates)
    vectors = np.concatenate([block.vectors for block in loaded])
    compared = _compared(limit)
    while True:
        best = candidates[_best(scores, rows[candidates], compared)]
        found = _exactly(db, query, rows[best], vectors[best])
        if len(found) >= limit or len(best) == len(candidates):
            return found[:limit]
        compared *= 2  # many were parts of the same rows


def similar(
    db: apsw.Connection,
    model: ModelRow,
    pack: str,
    query: NDArray[np.float32],
    rows: Iterable[int],
) -> list[Near]:
    """How near certain *rows* are to *query*, those that have a vector; nearest first.

    Raises:
        VectorMismatch: The query is not a vector of the model.
    """
    if model.dimension is None:
        return []
    query = unit(query, model.dimension)
    placed = np.array(list(vectors_of(db, model.id, pack, rows)), np.int64)
    return _exactly(db, query, *placed.reshape(-1, 2).T)


def each_nearest(
    db: apsw.Connection, blocks: Blocks, model: ModelRow, pack: str, k: int
) -> Iterator[tuple[int, list[Near]]]:
    """Every row with the *k* others nearest to it, once for each of its vectors.

    Every vector is compared with every other, block by block: that takes seconds at
    ten thousand rows, and minutes at a hundred thousand.
    """
    if model.dimension is None or k < 1:
        return
    loaded = blocks.of(db, model.id, model.dimension, pack)
    for here, block in enumerate(loaded):
        places = _around(loaded, here, k + k // 4 + _MORE_AROUND)
        rows = np.concatenate([each.rows for each in loaded])[places]
        vectors = np.concatenate([each.vectors for each in loaded])[places]
        own, queries = values_of(db, np.unique(block.vectors).tolist())
        queries = queries[np.searchsorted(own, block.vectors)]
        for n, row in enumerate(block.rows.tolist()):
            others = rows[n] != row
            near = _exactly(db, queries[n], rows[n][others], vectors[n][others])
            yield row, near[:k]


def _scored(limit: int) -> int:
    return max(_FEWEST_SCORED, _SCORED_FOR_EACH * limit)


def _compared(limit: int) -> int:
    return limit + limit // 4 + _MORE_COMPARED


def _by_signs(
    blocks: Sequence[Block],
    query: NDArray[np.float32],
    count: int,
    may: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """Where the vectors are whose signs agree most with the query's, in order.

    A dimension in which the query is larger than usual counts three times: without
    that, six times as many of the best 200 of 100,000 were lost.
    """
    total = sum(len(block.rows) for block in blocks)
    if may is not None and np.count_nonzero(may) <= count:
        return np.flatnonzero(may)
    if total <= count:
        return np.arange(total)
    signs = sign_words(query[None] > 0).T
    size = np.abs(query)
    large = sign_words(size[None] >= size.mean()).T
    distances = np.empty(total, np.uint16)
    begin = 0
    for block in blocks:
        end = begin + len(block.rows)
        differ = block.signs ^ signs
        counts = np.bitwise_count(differ & large)
        counts += counts
        counts += np.bitwise_count(differ)
        np.add.reduce(counts, 0, np.uint16, out=distances[begin:end])
        begin = end
    if may is not None:
        distances[~may] = _OUT
    # All at the last distance pass: which of them are better, the next look decides.
    numbers = np.cumsum(np.bincount(distances))
    last = min(int(np.searchsorted(numbers, count)), _OUT - 1)
    return np.flatnonzero(distances <= last)


def _by_codes(
    blocks: Sequence[Block],
    query: NDArray[np.float32],
    candidates: NDArray[np.int64],
) -> NDArray[np.float32]:
    """The similarity of each candidate, nearly."""
    scores = np.empty(len(candidates), np.float32)
    sizes = np.cumsum([len(block.rows) for block in blocks])
    begin = offset = 0
    for block, size in zip(blocks, sizes.tolist(), strict=True):
        end = int(np.searchsorted(candidates, size))
        if end > begin:
            here = candidates[begin:end] - offset
            codes = block.codes[here].astype(np.float32)
            np.dot(codes, query, out=scores[begin:end])
            scores[begin:end] *= block.scales[here]
        begin, offset = end, size
    return scores


def _best(
    scores: NDArray[np.float32], rows: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Where the *count* highest scores are; of equal ones, those of the first rows."""
    if len(scores) <= count:
        return np.arange(len(scores))
    last = -np.partition(-scores, count - 1)[count - 1]
    better = np.flatnonzero(scores > last)
    equal = np.flatnonzero(scores == last)
    equal = equal[np.argsort(rows[equal])]
    return np.concatenate([better, equal[: count - len(better)]])


def _exactly(
    db: apsw.Connection,
    query: NDArray[np.float32],
    rows: NDArray[np.int64],
    vectors: NDArray[np.int64],
) -> list[Near]:
    """The rows by their true similarity, that of their best part; then by row."""
    if not len(rows):
        return []
    ids, values = values_of(db, np.unique(vectors).tolist())
    # Summed line by line: a matrix product rounds equal lines differently.
    similar = (values * query).sum(axis=1)[np.searchsorted(ids, vectors)]
    order = np.lexsort((rows, -similar))
    _, first = np.unique(rows[order], return_index=True)
    order = order[np.sort(first)]
    pairs = zip(rows[order].tolist(), similar[order].tolist(), strict=True)
    return [Near(*pair) for pair in pairs]


def _around(blocks: Sequence[Block], here: int, count: int) -> NDArray[np.int64]:
    """Where the vectors nearest to each of a block's are, a line for each."""
    mine = _floats(blocks[here])
    scores = np.empty((len(mine), 0), np.float32)
    places = np.empty((len(mine), 0), np.int64)
    begin = 0
    for block in blocks:
        end = begin + len(block.rows)
        also = np.broadcast_to(np.arange(begin, end), (len(mine), end - begin))
        scores = np.concatenate([scores, mine @ _floats(block).T], axis=1)
        places = np.concatenate([places, also], axis=1)
        if scores.shape[1] > count:
            best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
            scores = np.take_along_axis(scores, best, axis=1)
            places = np.take_along_axis(places, best, axis=1)
        begin = end
    return places


def _floats(block: Block) -> NDArray[np.float32]:
    return block.codes * block.scales[:, None]

"""The start of the rows: what Japanese pieces contribute to the sum of English words.

The bag of a text's Japanese pieces is regressed onto the weighted sum of the input
embeddings of its translation, minus what Latin words in the Japanese text already give.
This alone brings most of what the rows can do, in a minute.
"""

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse

from training.minilm import ROWS, WIDTH

__all__ = ("ridge_start",)

_RARE = 1e-3
"""Smooth inverse frequency: words that are rarer than this count fully."""

_PENALTY = 0.9
_SHORTEST = 3
"""Texts weigh by their length, but not more than one of so many pieces."""

_ORDINARY = 1000
"""Rows of the English table before this one are control signs and single letters."""

_NORMS = (0.3, 1.3)
"""Shortest and longest row, relative to the mean of the English table."""


def ridge_start(
    words: np.ndarray,
    english: Sequence[Sequence[int]],
    japanese: Sequence[Sequence[int]],
    rows: int,
) -> np.ndarray:
    """Rows from aligned texts, both sides as ids without the marks of their ends."""
    centre = words[_ORDINARY:].mean(0)
    centred = words - centre
    weighted = centred * _rarity(english)[:, None]
    targets = _sums(english, weighted)
    own = _sums([[i for i in ids if i < ROWS] for ids in japanese], weighted)
    pieces = [[i - ROWS for i in ids if i >= ROWS] for ids in japanese]
    bags = _bags(pieces, rows)
    weights = 1.0 / np.maximum(_SHORTEST, [len(ids) for ids in japanese])
    scaled = sparse.diags(weights) @ bags
    gram = (bags.T @ scaled).toarray().astype(np.float32)
    gram[np.diag_indices(rows)] += _PENALTY
    right = (scaled.T @ (targets - own)).astype(np.float32)
    solved = linalg.solve(gram, right, assume_a="pos", overwrite_a=True)
    return _resized(solved, np.linalg.norm(centred[_ORDINARY:], axis=1).mean()) + centre


def _rarity(texts: Sequence[Sequence[int]]) -> np.ndarray:
    flat = np.fromiter((i for ids in texts for i in ids), np.int64)
    counts = np.bincount(flat, minlength=ROWS) + 1
    return (_RARE / (_RARE + counts / counts.sum())).astype(np.float32)


def _sums(texts: Sequence[Sequence[int]], vectors: np.ndarray) -> np.ndarray:
    sums: np.ndarray = _bags(texts, ROWS) @ vectors
    return sums.reshape(len(texts), WIDTH)


def _bags(texts: Sequence[Sequence[int]], width: int) -> sparse.csr_matrix:
    ends = np.cumsum([0, *(len(ids) for ids in texts)])
    flat = np.fromiter((i for ids in texts for i in ids), np.int64, ends[-1])
    ones = np.ones(len(flat), np.float32)
    return sparse.csr_matrix((ones, flat, ends), shape=(len(texts), width))


def _resized(rows: np.ndarray, usual: float) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    wanted = np.clip(norms / np.median(norms), *_NORMS) * usual
    return rows / np.maximum(norms, 1e-6) * wanted

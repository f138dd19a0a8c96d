"""Batches of a pass: by length, each half alike in meaning and half by chance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from training.minilm import bucket

__all__ = ("Batch", "Sampling", "passes")

_TOKENS = 1536
_SMALLEST = 16
_PLANES = 10
"""Random cuts of the space; texts on the same side of all are alike in meaning."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What of a kind is taken in each pass, and what it weighs in the loss."""

    share: float
    weight: float


@dataclass(frozen=True)
class Batch:
    """Places of the pairs of one step, and the length they are padded to."""

    length: int
    places: np.ndarray


def passes(
    lengths: Sequence[int],
    shares: np.ndarray,
    targets: np.ndarray,
    seed: int,
    number: int,
) -> list[Batch]:
    """The batches of one pass, the same for the same seed and number."""
    chance = np.random.default_rng((seed, number))
    taken = np.flatnonzero(chance.random(len(shares)) < shares)
    chance.shuffle(taken)
    codes = _codes(targets, chance)
    places: dict[int, list[int]] = {}
    for place in taken:
        places.setdefault(bucket(lengths[int(place)]), []).append(int(place))
    batches = [
        Batch(length, part)
        for length, group in sorted(places.items())
        for part in _cut(np.array(group), codes, size_of(length))
    ]
    order = chance.permutation(len(batches))
    return [batches[index] for index in order]


def size_of(length: int) -> int:
    """Texts of a batch, for a padded length."""
    return max(_SMALLEST, _TOKENS // length)


def _codes(targets: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """A number for each target; those with the same are alike."""
    planes = chance.standard_normal((targets.shape[1], _PLANES)).astype(np.float32)
    sides = targets.astype(np.float32) @ planes > 0
    found: np.ndarray = sides @ (1 << np.arange(_PLANES))
    return found


def _cut(group: np.ndarray, codes: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Batches that are half neighbours, which are hard to tell apart, half chance."""
    half = size // 2
    count = len(group) // size
    near, chance = group[: count * half], group[count * half : count * size]
    near = near[np.argsort(codes[near], kind="stable")]
    rest = size - half
    for index in range(count):
        yield np.concatenate(
            (
                near[index * half : (index + 1) * half],
                chance[index * rest : (index + 1) * rest],
            )
        )

"""The adapter: what the layers do differently where a text has Japanese in it.

Every linear part of a layer gets a small correction of low rank beside its frozen
weights. It is switched on for texts with Japanese letters only, so English vectors are
not touched by it; and because Japanese text is full of English words, it is trained to
leave English as it is.
"""

from collections.abc import Iterator, Mapping

import jax
import numpy as np

__all__ = (
    "DOWN",
    "RANK",
    "UP",
    "blank_adapter",
    "corrected",
    "grown",
    "linears",
    "rank_of",
)

RANK = 24
DOWN, UP = ".down", ".up"
"""Names: what goes into the low rank, and what comes out of it."""

_LAYERS = 6
_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


def linears() -> Iterator[str]:
    """The linear parts that are corrected, by the names of the published weights."""
    for layer in range(_LAYERS):
        for part in _PARTS:
            yield f"encoder.layer.{layer}.{part}"


def blank_adapter(weights: Mapping[str, jax.Array], seed: int) -> dict[str, np.ndarray]:
    """An adapter that changes nothing yet: what comes out of it is zero."""
    chance = np.random.default_rng((seed, 2))
    made: dict[str, np.ndarray] = {}
    for name in linears():
        outer, inner = weights[name + ".weight"].shape
        down = chance.standard_normal((RANK, inner)) / np.sqrt(inner)
        made[name + DOWN] = down.astype(np.float32)
        made[name + UP] = np.zeros((outer, RANK), np.float32)
    return made


def grown(
    known: Mapping[str, np.ndarray], blank: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """What was learnt with a lower rank, as far as it goes, and *blank* beyond that."""
    wider = dict(known)
    for key, value in blank.items():
        axis = 0 if key.endswith(DOWN) else 1
        rank = known[key].shape[axis] if key in known else 0
        if rank < value.shape[axis]:
            rest = np.split(value, [rank], axis)[1]
            wider[key] = np.concatenate([known[key], rest], axis) if rank else value
    return wider


def rank_of(learnt: Mapping[str, jax.Array]) -> int:
    """The rank of an adapter."""
    return learnt[next(linears()) + DOWN].shape[0]


def corrected(
    learnt: Mapping[str, jax.Array], name: str, x: jax.Array, y: jax.Array
) -> jax.Array:
    """*y*, which a linear part made of *x*, with the correction if there is one."""
    if name + UP not in learnt:
        return y
    return y + (x @ learnt[name + DOWN].T) @ learnt[name + UP].T

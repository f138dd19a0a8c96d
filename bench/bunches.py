"""Vectors that lie as those of real texts do, without a model."""

import numpy as np
from numpy.typing import NDArray

__all__ = ("clustered",)

_DIMENSION = 384
"""As the default model has."""


def clustered(count: int, seed: int = 1) -> NDArray[np.float32]:
    """Directions in bunches of about thirty, as texts on the same subject are."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((max(1, count // 30), _DIMENSION), np.float32)
    made = centres[chance.integers(0, len(centres), count)]
    made += np.float32(0.6) * chance.standard_normal(made.shape, np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made

"""What the similarities of a model mean, from pairs."""

import numpy as np

from bench.calibration import Similarities, calibrated, shares


def test_the_numbers_put_unrelated_pairs_below_a_half_and_answers_above() -> None:
    chance = np.random.default_rng(1)
    found = Similarities(
        chance.normal(0.6, 0.1, 500).astype(np.float32),
        chance.normal(0.1, 0.1, 5_000).astype(np.float32),
    )

    numbers = calibrated(found)

    reached, below, less = shares(found, numbers)
    assert 0.73 < reached < 0.77
    assert 0.985 < below < 0.995
    assert less >= below


def test_numbers_can_be_told_even_where_nothing_can_be_told_apart() -> None:
    same = np.full(50, 0.8, np.float32)

    numbers = calibrated(Similarities(same, same))

    assert numbers.related > numbers.unrelated

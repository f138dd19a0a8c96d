"""The numbers of a ranking: worked out by hand, and what must hold for all of them."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import astuple

from bench.quality.score import CUT, Scores, mean, normal_path, score, unique

ITEMS = st.integers(0, 30)
RANKINGS = st.lists(ITEMS, max_size=40)
RELEVANT = st.sets(ITEMS, min_size=1, max_size=15)


def test_first_of_one_is_perfect() -> None:
    assert score(["a", "b"], {"a"}) == Scores(1.0, 1.0, 1.0, 1.0, 1.0)


def test_third_of_one_gains_half() -> None:
    found = score(["x", "y", "a"], {"a"})

    assert found.ndcg == pytest.approx(0.5)  # 1 / log2(4)
    assert (found.recall, found.hit1, found.hit3) == (1.0, 0.0, 1.0)
    assert found.mrr == pytest.approx(1 / 3)


def test_second_and_fourth_of_two() -> None:
    found = score(["x", "a", "y", "b"], {"a", "b"})

    # The gains of the ranks two and four, in those of one and two.
    assert found.ndcg == pytest.approx((0.63093 + 0.43068) / 1.63093, abs=1e-4)
    assert (found.recall, found.mrr, found.hit1, found.hit3) == (1.0, 0.5, 0.0, 1.0)


def test_one_of_four_on_the_tenth_place() -> None:
    found = score([*"xyzuvwrst", "a", "b"], set("abcd"))

    ideal = 1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)
    assert found.ndcg == pytest.approx(1 / math.log2(11) / ideal)
    assert found.recall == 0.25
    assert found.mrr == pytest.approx(0.1)
    assert (found.hit1, found.hit3) == (0.0, 0.0)


def test_the_eleventh_place_is_not_looked_at() -> None:
    assert score([*"xyzuvwrstq", "a"], {"a"}) == Scores()


def test_what_is_there_twice_takes_one_place() -> None:
    assert score(["x", "x", "x", "a", "a"], {"a"}) == score(["x", "a"], {"a"})


def test_more_relevant_than_are_looked_at_can_still_be_perfect_in_gain() -> None:
    found = score(range(CUT), set(range(20)))

    assert found.ndcg == pytest.approx(1.0)
    assert found.recall == 0.5


def test_nothing_relevant_is_refused() -> None:
    with pytest.raises(ValueError, match="relevant"):
        score(["a"], set())


@given(RANKINGS, RELEVANT)
def test_numbers_lie_between_0_and_1(ranking: list[int], relevant: set[int]) -> None:
    for value in astuple(score(ranking, relevant)):
        assert 0.0 <= value <= 1.0 + 1e-12


@given(st.permutations(range(8)), st.lists(st.integers(100, 200), max_size=20))
def test_all_relevant_first_in_any_order_is_perfect(
    relevant: list[int], others: list[int]
) -> None:
    found = score([*relevant, *others], set(relevant))

    assert astuple(found) == pytest.approx((1.0,) * 5)


@given(RANKINGS, RELEVANT, st.data())
def test_moving_a_relevant_result_up_never_lowers_a_number(
    ranking: list[int], relevant: set[int], data: st.DataObject
) -> None:
    ranking = unique(ranking)
    places = [place for place, item in enumerate(ranking) if item in relevant]
    assume(places and places[-1] > 0)
    place = data.draw(st.sampled_from([place for place in places if place > 0]))
    better = ranking.copy()
    better[place - 1], better[place] = better[place], better[place - 1]

    before, after = score(ranking, relevant), score(better, relevant)

    for old, new in zip(astuple(before), astuple(after), strict=True):
        assert new >= old - 1e-12


@given(RANKINGS, RELEVANT)
def test_what_follows_the_cut_makes_no_difference(
    ranking: list[int], relevant: set[int]
) -> None:
    assert score(unique(ranking)[:CUT], relevant) == score(ranking, relevant)


def test_means_are_of_each_number() -> None:
    assert mean([Scores(1.0, 1.0, 1.0, 1.0, 1.0), Scores(0.5)]) == Scores(
        0.75, 0.5, 0.5, 0.5, 0.5
    )
    assert mean([]) == Scores()


@given(st.lists(st.builds(Scores, *[st.floats(0, 1)] * 5), min_size=1))
def test_a_mean_lies_between_the_least_and_the_most(scores: list[Scores]) -> None:
    found = astuple(mean(scores))

    for value, column in zip(
        found, zip(*map(astuple, scores), strict=True), strict=True
    ):
        assert min(column) - 1e-12 <= value <= max(column) + 1e-12


@pytest.mark.parametrize(
    "path", ["a/\u304c.md", "./a/\u304c.md", "a/\u304b\u3099.md", "a\\\u304c.md"]
)
def test_one_file_has_one_path(path: str) -> None:
    assert normal_path(path) == "a/\u304c.md"

"""One score from three signals."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ubp.fusion import (
    FOREIGN,
    GRAPH,
    Calibration,
    Facts,
    common,
    score,
    words_signal,
)
from ubp.languages import Language

share = st.floats(0, 1)
languages: st.SearchStrategy[Language] = st.sampled_from(["en", "ja"])
positive = st.floats(0.001, 1)
calibrations = st.builds(Calibration, share, share, share)
TOLERANCE = 1e-9


@st.composite
def facts_with_vectors(draw: st.DrawFn) -> Facts:
    missing = draw(st.one_of(st.just(0.0), share))
    return Facts(
        draw(share),
        draw(positive),
        draw(calibrations),
        missing,
        draw(share),
        draw(share),
    )


@given(facts_with_vectors(), share, share, share)
def test_a_score_lies_between_nothing_and_all(
    facts: Facts, near: float, words: float, proximity: float
) -> None:
    found = score(facts, near * facts.closest, words, proximity)

    assert -TOLERANCE <= found <= 1 + TOLERANCE


@given(facts_with_vectors(), share, share, share, share, st.sampled_from(range(3)))
def test_more_of_any_signal_never_lowers_a_score(
    facts: Facts,
    near: float,
    words: float,
    proximity: float,
    more: float,
    which: int,
) -> None:
    before = [near * facts.closest, words, proximity]
    after = list(before)
    most = facts.closest if which == 0 else 1.0
    after[which] = before[which] + (most - before[which]) * more

    assert score(facts, *after) >= score(facts, *before) - TOLERANCE


@given(facts_with_vectors(), st.permutations([(0.2, 0.4, 0.5), (0.2, 0.4, 0.5)]))
def test_equal_signals_are_an_equal_score(
    facts: Facts, both: list[tuple[float, float, float]]
) -> None:
    one, other = both

    assert score(facts, *one) == score(facts, *other)


@given(share, st.floats(-1, 0), calibrations, share)
def test_without_vectors_the_score_is_the_words(
    alpha: float, closest: float, calibration: Calibration, words: float
) -> None:
    facts = Facts(alpha, closest, calibration)

    assert score(facts, 0.0, words, 0.0) == words
    assert facts.meaning == 0


@given(positive, calibrations, share, share, share)
def test_alpha_zero_leaves_words_and_links(
    closest: float,
    calibration: Calibration,
    near: float,
    words: float,
    proximity: float,
) -> None:
    facts = Facts(0.0, closest, calibration)

    found = score(facts, near * closest, words, proximity)

    assert found == pytest.approx((1 - GRAPH) * words + GRAPH * proximity)


@given(share, share)
def test_alpha_one_of_a_model_that_is_sure_leaves_meaning_and_links(
    words: float, proximity: float
) -> None:
    facts = Facts(1.0, 0.8, Calibration(0.3, 0.6))

    assert facts.meaning == 1
    found = score(facts, 0.4, words, proximity)
    assert found == pytest.approx((1 - GRAPH) * 0.5 + GRAPH * proximity)


@given(share, share)
def test_a_model_nobody_measured_is_half_trusted(closest: float, same: float) -> None:
    assert Calibration(same, same).trust(closest) == 0.5
    assert Calibration(same, same - 0.1).trust(closest) == 0.5


@given(calibrations, share, share)
def test_trust_grows_with_the_closest_and_stays_between_nothing_and_all(
    calibration: Calibration, one: float, other: float
) -> None:
    less, more = sorted((one, other))

    assert 0 <= calibration.trust(less) <= calibration.trust(more) <= 1


@given(share, share)
def test_trust_is_nothing_at_unrelated_and_all_at_related(
    one: float, other: float
) -> None:
    assume(abs(one - other) > 0.001)
    unrelated, related = sorted((one, other))
    calibration = Calibration(unrelated, related)

    assert calibration.trust(unrelated) == 0
    assert calibration.trust(related) == 1


@given(share, share, positive)
def test_the_less_a_model_is_trusted_the_more_words_count(
    alpha: float, words: float, near: float
) -> None:
    calibration = Calibration(0.3, 0.6)
    unsure, sure = Facts(alpha, 0.3, calibration), Facts(alpha, 0.6, calibration)

    assert unsure.meaning == sure.meaning / 2
    closer = words > near
    low = score(unsure, near * 0.3, words, 0.0)
    high = score(sure, near * 0.6, words, 0.0)
    assert (low >= high - TOLERANCE) if closer else (high >= low - TOLERANCE)


@given(share, share, share, share, languages)
def test_the_words_signal_grows_with_both_of_its_parts(
    one: float, other: float, more: float, also: float, language: Language
) -> None:
    low = words_signal(min(one, more), min(other, also), language)
    high = words_signal(max(one, more), max(other, also), language)

    assert 0 <= low <= high + TOLERANCE
    assert high <= 1 + TOLERANCE


@pytest.mark.parametrize(("language", "whole"), [("en", 0.6), ("ja", 0.7)])
def test_all_of_the_words_are_more_than_the_best_share_of_half_of_them(
    language: Language, whole: float
) -> None:
    assert words_signal(0.0, 1.0, language) == pytest.approx(whole)
    assert words_signal(1.0, 0.5, language) < words_signal(0.0, 1.0, language)
    assert words_signal(1.0, 1.0, language) == pytest.approx(1.0)


@given(share, positive, calibrations, share)
def test_the_more_is_without_a_vector_the_less_meaning_counts(
    alpha: float, closest: float, calibration: Calibration, missing: float
) -> None:
    whole = Facts(alpha, closest, calibration)
    partly = Facts(alpha, closest, calibration, missing)

    assert 0 <= partly.meaning <= whole.meaning
    assert Facts(alpha, closest, calibration, 1.0).meaning == 0


def test_a_page_without_a_vector_is_not_behind_because_most_have_none() -> None:
    calibration = Calibration(0.3, 0.6)
    none, most = Facts(0.7, 0.6, calibration), Facts(0.7, 0.6, calibration, 0.9)

    assert score(most, 0.0, 1.0, 0.0) > score(none, 0.0, 1.0, 0.0)


def test_links_only_decide_what_is_nearly_equal() -> None:
    facts = Facts(0.7, 0.6, Calibration(0.35, 0.65))

    linked = score(facts, 0.3, 0.0, 1.0)

    assert linked > score(facts, 0.3, 0.0, 0.0)
    assert linked < score(facts, 0.4, 0.0, 0.0)


@given(facts_with_vectors(), share, share, share)
def test_being_in_another_language_never_lowers_a_score(
    facts: Facts, near: float, words: float, proximity: float
) -> None:
    signals = (near * facts.closest, words, proximity)

    assert score(facts, *signals, foreign=True) >= score(facts, *signals) - TOLERANCE


def test_the_lack_of_words_is_forgiven_only_to_what_is_in_another_language() -> None:
    for abroad in (0.0, 0.5, 1.0):
        facts = Facts(0.7, 0.8, Calibration(0.35, 0.65), 0.0, abroad)

        own = score(facts, 0.8, 0.0, 0.0)
        foreign = score(facts, 0.8, 0.0, 0.0, foreign=True)

        words = (1 - GRAPH) * (1 - facts.meaning)
        assert foreign - own == pytest.approx(words * FOREIGN * abroad)


def test_words_that_tell_outweigh_a_model_that_is_weaker_than_they() -> None:
    weaker = Calibration(0.35, 0.65, literal=0.6)

    assert Facts(0.7, 0.65, weaker).meaning == pytest.approx(0.7 * 0.4)
    assert Facts(0.7, 0.65, Calibration(0.35, 0.65)).meaning == pytest.approx(0.7)


def test_a_weaker_model_counts_the_more_the_more_pages_have_the_words() -> None:
    weaker = Calibration(0.35, 0.65, literal=0.6)
    weights = [
        Facts(0.6, 0.65, weaker, common=each).meaning for each in (0, 1 / 6, 0.4, 1)
    ]

    assert weights == pytest.approx([0.6 * 0.4, 0.6, 0.6 * 1.6, 0.6 * 1.6])
    assert Facts(0.9, 0.65, weaker, common=1).meaning == 1


def test_a_model_as_good_as_words_counts_the_same_however_common_they_are() -> None:
    equal = Calibration(0.35, 0.65)

    assert {Facts(0.7, 0.65, equal, common=each).meaning for each in (0, 0.2, 1)} == {
        0.7
    }


def test_words_are_common_if_others_have_nearly_as_many_of_them() -> None:
    assert common([1.0], 1) == 0
    assert common([], 5) == 0
    assert common([0.3], 5) == 0
    assert common([1.0, 0.4, 0.2], 5) == 0
    assert common([1.0, 0.6, 0.2], 5) == pytest.approx(0.25)
    assert common([0.5] * 5, 5) == 1


@given(st.lists(share), st.integers(0, 9))
def test_how_common_words_are_is_a_share(coverages: list[float], others: int) -> None:
    assert 0 <= common(coverages, len(coverages) + others) <= 1


def test_being_near_says_nothing_where_nothing_is_close() -> None:
    facts = Facts(0.7, 0.2, Calibration(0.35, 0.65), 0.0, 1.0)

    assert facts.trust == 0
    for words in (0.0, 0.4):
        own = score(facts, 0.2, words, 0.0)
        assert score(facts, 0.2, words, 0.0, foreign=True) == own


@given(facts_with_vectors(), share, share)
def test_words_that_match_better_than_the_meaning_count_the_same_in_any_language(
    facts: Facts, words: float, proximity: float
) -> None:
    signals = (0.9 * words * facts.closest, words, proximity)

    assert score(facts, *signals, foreign=True) == score(facts, *signals)


def test_similarities_of_a_model_are_put_on_one_scale() -> None:
    scale = Calibration(0.35, 0.65)

    assert scale.similarity(0.35) == pytest.approx(0.5)
    assert scale.similarity(0.65) == pytest.approx(0.9)
    assert scale.similarity(0.2) < 0.3
    assert Calibration(0.0, 0.0).similarity(0.4) == 0.4
    assert Calibration(0.0, 0.0).similarity(-0.4) == 0.0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_the_scale_keeps_the_order_and_its_bounds(one: float, other: float) -> None:
    scale = Calibration(0.35, 0.65)

    low, high = sorted((one, other))

    assert 0 <= scale.similarity(low) <= scale.similarity(high) <= 1

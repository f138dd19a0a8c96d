import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.registry.trust import Vote, published, trust


def votes(*pairs: str) -> list[Vote]:
    """``ab+`` is a vote of a for something of b's."""
    return [Vote(pair[0], pair[1], pair[2] == "+") for pair in pairs]


def test_the_values_of_the_specification() -> None:
    found = trust(votes("ab+", "ac+", "ba+", "ca-"))

    assert found.shares == pytest.approx({"a": 0.396, "b": 0.302, "c": 0.302}, abs=5e-4)
    assert (found.iterations, found.converged) == (11, True)


def test_mutual_trust_of_two_is_half_each_at_once() -> None:
    found = trust(votes("ab+", "ba+"))

    assert found.shares == {"a": 0.5, "b": 0.5}
    assert found.iterations == 1


def test_no_votes_say_nothing() -> None:
    assert trust([]) == ({}, 0, True)


def test_a_vote_for_oneself_counts_for_nothing() -> None:
    found = trust(votes("aa+", "aa+", "ab+", "ba+"))

    assert found.shares == pytest.approx({"a": 0.5, "b": 0.5})


def test_a_pair_that_praises_itself_stays_below_four_who_trust_each_other() -> None:
    clique = [f"{a}{b}+" for a in "abcd" for b in "abcd" if a != b]

    found = trust(votes(*clique, "xy+", "yx+", "xa+", "ya+"))

    assert max(found.shares["x"], found.shares["y"]) < min(
        found.shares[a] for a in "abcd"
    )


def test_a_negative_vote_lowers_its_target() -> None:
    liked = trust(votes("ab+", "cb+", "ba+", "bc+")).shares["b"]
    doubted = trust(votes("ab+", "cb+", "cb-", "ba+", "bc+", "ca+")).shares["b"]

    assert doubted < liked


def test_iterations_are_capped() -> None:
    found = trust(votes("ab+", "ac+", "ba+", "ca-"), most_iterations=3)

    assert (found.iterations, found.converged) == (3, False)


@given(st.lists(st.builds(Vote, *[st.sampled_from("abcdefg")] * 2, st.booleans())))
def test_shares_sum_to_one(cast: list[Vote]) -> None:
    found = trust(cast)

    assert sum(found.shares.values()) == pytest.approx(1 if cast else 0)


def test_without_votes_reputation_is_what_an_agent_did_at_most_one() -> None:
    assert published(0.3, "a", {}) == 0.3
    assert published(1.3, "a", {}) == 1.0


def test_with_votes_reputation_is_shared_between_deeds_and_trust() -> None:
    shares = {"a": 0.75, "b": 0.25}

    assert published(0.5, "a", shares) == 0.7
    assert published(0.5, "b", shares) == pytest.approx(0.3 + 0.4 / 3, abs=1e-4)
    assert published(0.5, "nobody", shares) == 0.3

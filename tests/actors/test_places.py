"""Places, and what is at them."""

from hypothesis import given
from hypothesis import strategies as st

from ubp.actors.places import is_at, outermost

names = st.sampled_from(["a", "b", "a b", "a.md", "-", "0"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


def test_a_place_is_all_below_it_and_nothing_beside_it() -> None:
    assert is_at("a/b", ["a/b"])
    assert is_at("a/b/c.md", ["x", "a"])
    assert not is_at("a", ["a/b"])
    assert not is_at("ab/c", ["a"])
    assert not is_at("a", [])


def test_the_empty_place_is_everything() -> None:
    assert is_at("a/b.md", [""])
    assert is_at("", [""])
    assert not is_at("", ["a"])
    assert outermost(["a", "", "b/c"]) == [""]


@given(st.lists(paths), paths)
def test_the_outermost_are_none_within_another_and_stand_for_all(
    some: list[str], other: str
) -> None:
    chosen = outermost(some)

    for place in chosen:
        assert not is_at(place, [each for each in chosen if each != place])
    assert is_at(other, chosen) == is_at(other, some)

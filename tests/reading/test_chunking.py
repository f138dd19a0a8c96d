"""Measuring text, and cutting it without losing any."""

from fractions import Fraction
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, documents, mixed

from ubp.reading import markdown
from ubp.reading.chunking import (
    Group,
    Measure,
    estimate,
    measure,
    packed,
    paragraphs,
)
from ubp.reading.markdown import Block


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("one two three four five six", 8),
        ("あいうえおかきく", 12),
        ("Hello 世界", 5),
        ("世界Hello世界", 8),
        ("word " * 10, 13),
        ("naïve café", 3),
        ("豈", 2),
    ],
)
def test_estimate_counts_words_and_cjk_characters(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.integers(0, 5_000), st.integers(0, 5_000))
def test_estimate_is_exact_and_rounded_up(cjk: int, words: int) -> None:
    exact = Fraction(15, 10) * cjk + Fraction(13, 10) * words

    assert Measure(cjk, words).tokens == ceil(exact)


@given(mixed, anything)
def test_measures_add_up_where_texts_are_joined(first: str, second: str) -> None:
    joined = measure(f"{first}\n\n{second}")

    assert measure(first).plus(measure(second)) == joined


def test_block_is_cut_at_its_blank_lines() -> None:
    block = Block("- one\n\n- two\n \t\n\n- three")

    assert paragraphs(block) == ["- one", "- two", "- three"]


def test_whole_block_is_not_cut() -> None:
    block = Block("<div>\n\n</div>", whole=True)

    assert paragraphs(block) == ["<div>\n\n</div>"]


def test_code_inside_a_block_is_not_cut() -> None:
    source = "- one\n\n  ```\n  a\n\n  b\n  ```\n\n- two"
    [block] = markdown.read(source).blocks

    assert paragraphs(block) == ["- one", "  ```\n  a\n\n  b\n  ```", "- two"]


@given(documents)
def test_paragraphs_of_a_block_are_the_block(text: str) -> None:
    for block in markdown.read(text).blocks:
        parts = paragraphs(block)

        assert "".join("".join(parts).split()) == "".join(block.source.split())


def test_parts_are_packed_greedily() -> None:
    groups = packed(["a b", "c", "d 日本", "e"], 4)

    # 1.3 tokens a word, so four tokens are three words.
    assert groups == [
        Group([0, 1], Measure(0, 3)),
        Group([2], Measure(2, 1)),
        Group([3], Measure(0, 1)),
    ]


def test_part_larger_than_the_limit_stands_alone() -> None:
    groups = packed(["a", "b " * 100, "c"], 10)

    assert [group.indexes for group in groups] == [[0], [1], [2]]


def test_nothing_is_packed_into_nothing() -> None:
    assert packed([], 10) == []


@given(st.lists(mixed, max_size=20), st.integers(1, 40))
def test_packing_keeps_every_part_in_order(parts: list[str], limit: int) -> None:
    groups = packed(parts, limit)

    indexes = [index for group in groups for index in group.indexes]
    assert indexes == list(range(len(parts)))


@given(st.lists(mixed, max_size=20), st.integers(1, 40))
def test_groups_say_how_much_they_hold_and_stay_within_the_limit(
    parts: list[str], limit: int
) -> None:
    for indexes, size in packed(parts, limit):
        joined = "\n\n".join(parts[index] for index in indexes)

        assert measure(joined) == size
        assert len(indexes) == 1 or size.tokens <= limit


@given(st.lists(mixed, max_size=20), st.integers(1, 40))
def test_a_group_ends_only_where_the_next_part_does_not_fit(
    parts: list[str], limit: int
) -> None:
    for group, following in pairwise(packed(parts, limit)):
        next_part = measure(parts[following.indexes[0]])

        assert group.measure.plus(next_part).tokens > limit

"""The few characters that are shown with a hit."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import mixed

from ubp.packs.specs.windows import WINDOW, Window, marks_of, window

DB = apsw.Connection(":memory:")


def filler(name: str, count: int) -> str:
    return " ".join(f"{name}{n:03d}" for n in range(count))


def shown(text: str, query: str) -> Window:
    return window(DB, text, marks_of(DB, query))


def check(found: Window, text: str) -> None:
    assert 0 <= found.start <= found.end <= len(text)
    assert found.end - found.start <= WINDOW
    before = "..." if found.start > 0 else ""
    after = "..." if found.end < len(text) else ""
    assert found.text == before + text[found.start : found.end] + after


def test_a_short_text_is_shown_whole() -> None:
    assert shown("A short text.", "text") == ("A short text.", 0, 13)


def test_the_word_is_in_the_middle() -> None:
    text = f"{filler('a', 80)} needle {filler('b', 80)}"

    found = shown(text, "needle")

    check(found, text)
    assert text.index("needle") - found.start >= 100
    assert found.end - text.index("needle") >= 100


def test_without_the_word_it_is_the_beginning() -> None:
    text = filler("a", 120)

    found = shown(text, "quartz")

    check(found, text)
    assert found.start == 0


def test_operators_do_not_count_and_stems_do() -> None:
    text = f"and or not near {filler('a', 90)} walruses {filler('b', 60)}"

    assert "walruses" in shown(text, "walrus OR unknown NOT near").text
    assert "walruses" in shown(text, '"walrus*"').text


def test_the_earliest_of_several_words_counts_unless_others_are_together() -> None:
    apart = f"{filler('a', 70)} alpha {filler('b', 200)} beta {filler('c', 40)}"
    close = f"alpha {filler('a', 90)} beta alpha {filler('c', 90)}"

    assert "alpha" in shown(apart, "beta alpha").text
    assert "beta alpha" in shown(close, "beta alpha").text


def test_at_the_end_there_are_no_dots() -> None:
    text = f"{filler('a', 100)} finale"

    found = shown(text, "finale")

    check(found, text)
    assert found.text.startswith("...")
    assert found.text.endswith("finale")


def test_symbols_and_japanese_are_shown() -> None:
    text = f"{filler('a', 90)} x := 1 {filler('é', 90)} 型の推論 {filler('c', 90)}"

    assert ":=" in shown(text, ":=").text
    assert "推論" in shown(text, "推論").text
    assert shown(text, "推論").start > 400


def test_a_word_that_is_everywhere_is_shown_beside_the_one_that_is_not() -> None:
    text = f"{'common ' * 60_000}rare {'common ' * 60_000}"

    found = shown(text, "common rare")

    check(found, text)
    assert "rare" in found.text


@given(st.lists(mixed, max_size=40), mixed)
def test_a_window_is_always_a_part_of_its_text(parts: list[str], query: str) -> None:
    text = " ".join(parts)

    check(shown(text, query), text)


@pytest.mark.parametrize("text", ["x" * 5000, "\U0001f600" * 400, "é" * 301])
def test_words_without_end_are_cut_somewhere(text: str) -> None:
    check(shown(text, "y"), text)

"""The few words around a match, with the match marked."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import anything, mixed

from ubp import lexicon
from ubp.snippets import snippet

MARKED = re.compile("<mark>(.*?)</mark>", re.DOTALL)
BEFORE, AFTER = "before " * 40, " after" * 40


def marked(shown: str) -> list[str]:
    return MARKED.findall(shown)


def unmarked(shown: str) -> str:
    """The content that is shown, without marks, and dots where it was cut."""
    plain = shown.replace("<mark>", "").replace("</mark>", "")
    return plain.removeprefix("...").removesuffix("...")


def test_short_content_is_shown_whole() -> None:
    assert snippet("All of SQLite.", ["sqlite"]) == "All of <mark>SQLite</mark>."


def test_match_is_marked_as_it_is_written() -> None:
    assert snippet("ＡＰＩ の Api", ["api"]) == (
        "<mark>ＡＰＩ</mark> の <mark>Api</mark>"
    )


def test_dots_say_where_content_was_cut() -> None:
    assert snippet(f"{BEFORE}match{AFTER}", ["match"]).startswith("...")
    assert snippet(f"{BEFORE}match{AFTER}", ["match"]).endswith("...")
    assert snippet(f"match{AFTER}", ["match"]).startswith("<mark>match</mark>")
    assert snippet(f"{BEFORE}match", ["match"]).endswith("<mark>match</mark>")


def test_blank_that_was_cut_needs_no_dots() -> None:
    assert snippet(f"\n\n{' ' * 99}match{' ' * 99}", ["match"]) == "<mark>match</mark>"


def test_words_are_not_cut() -> None:
    shown = unmarked(snippet(f"{BEFORE}match{AFTER}", ["match"]))

    assert set(shown.split()) == {"before", "match", "after"}


def test_without_a_match_the_start_is_shown_unmarked() -> None:
    shown = snippet(f"{BEFORE}{AFTER}", ["elsewhere"])

    assert shown.startswith("before before")
    assert shown.endswith("...")
    assert marked(shown) == []


def test_without_words_the_start_is_shown() -> None:
    assert snippet("Content", []) == "Content"
    assert snippet("", ["word"]) == ""


def test_place_with_most_of_the_words_is_shown() -> None:
    content = f"alpha {BEFORE} beta {AFTER} beta and alpha {BEFORE} alpha"

    assert marked(snippet(content, ["alpha", "beta"])) == ["beta", "alpha"]


def test_first_of_equally_good_places_is_shown() -> None:
    assert snippet(f"match one {BEFORE} match two", ["match"]).startswith(
        "<mark>match</mark> one"
    )


def test_longer_word_wins_over_its_part() -> None:
    assert snippet("日本語", ["日本", "日本語"]) == "<mark>日本語</mark>"


@pytest.mark.parametrize("word", ["a.c", "(", "\\", "[a", "*", "c++", "$", "^"])
def test_words_are_no_patterns(word: str) -> None:
    assert snippet(f"x {word} abc", [word]) == f"x <mark>{word}</mark> abc"


def test_markup_of_the_content_is_left_as_it_is() -> None:
    assert snippet("a <mark>b</mark> c", ["c"]) == "a <mark>b</mark> <mark>c</mark>"


def test_match_inside_a_ligature_marks_all_of_it() -> None:
    assert snippet("an oﬃce", ["fi"]) == "an o<mark>ﬃ</mark>ce"


def test_match_longer_than_the_window_is_an_answer() -> None:
    assert len(snippet(f"{BEFORE}{'x' * 9_000}", ["x" * 9_000])) < 500


def test_match_is_marked_between_characters_that_grow_and_shrink() -> None:
    assert marked(snippet("ﬁ dog e\u0301", ["dog"])) == ["dog"]


@pytest.mark.parametrize(
    ("written", "word"), [("ｶﾞｲﾄﾞ", "ガイド"), ("ﾊﾟｽﾜｰﾄﾞ", "パスワード")]
)
def test_match_in_half_width_kana_is_marked(written: str, word: str) -> None:
    assert snippet(f"a {written} b", [word]) == f"a <mark>{written}</mark> b"


texts = st.one_of(mixed, anything, st.lists(mixed).map(" ".join)).map(
    lambda text: text.replace("<", "").replace(">", "")
)


@given(texts, st.one_of(mixed, anything))
def test_any_content_and_words_are_an_answer_cut_from_the_content(
    content: str, query: str
) -> None:
    shown = snippet(content, lexicon.tokens(query))

    assert unmarked(shown) in content


@given(texts.map(lexicon.fold), st.data())
def test_word_of_the_content_is_marked_somewhere(
    content: str, data: st.DataObject
) -> None:
    words = [word for word in lexicon.tokens(content) if len(word) < 100]
    assume(words)
    word = data.draw(st.sampled_from(words))

    assert word in marked(snippet(content, [word]))


@given(texts.map(lexicon.fold), texts)
def test_what_is_marked_is_what_was_asked_for(content: str, query: str) -> None:
    words = lexicon.tokens(query)

    for match in marked(snippet(content, words)):
        assert match in words


@given(st.one_of(texts, st.text("ab ", max_size=2_000)), st.lists(mixed))
def test_snippet_is_never_long(content: str, queries: list[str]) -> None:
    words = lexicon.tokens(" ".join(queries))

    assert len(unmarked(snippet(content, words))) <= 400

"""One idea of what a word is, for those who write the index and those who ask it."""

import unicodedata
from itertools import pairwise

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed

from ubp import lexicon
from ubp.lexicon import LONGEST_WORD, Kind, Run, Spread

JAPANESE = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x4FFF))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("API", "api"),
        ("ＡＰＩ", "api"),
        ("ｶﾞ", "ガ"),
        ("カ\u3099", "ガ"),
        ("カ", "カ"),
        ("Straße", "strasse"),
        ("cafe\u0301", "café"),
        ("ΟΔΌΣ", "οδόσ"),
        ("ﬁle", "file"),
        ("①", "1"),
        ("\u1fd3", "\u0390"),
        ("", ""),
    ],
)
def test_every_spelling_folds_to_one_form(text: str, folded: str) -> None:
    assert lexicon.fold(text) == folded


def test_accents_count() -> None:
    assert lexicon.fold("résumé") != lexicon.fold("resume")


@given(anything)
def test_folding_twice_is_folding_once(text: str) -> None:
    folded = lexicon.fold(text)

    assert lexicon.fold(folded) == folded


@given(st.one_of(anything, mixed))
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text)

    assert lexicon.fold(decomposed) == lexicon.fold(text)


@given(st.one_of(anything, mixed))
def test_lowering_ascii_is_what_sqlite_does(text: str) -> None:
    [(lowered,)] = apsw.Connection(":memory:").execute("SELECT lower(?)", (text,))

    assert lexicon.ascii_lower(text) == lowered


def test_tokens_are_what_stands_between_white_space_each_once() -> None:
    tokens = lexicon.tokens("  Foo bar\u3000日本語\tfoo \n C++ ")

    assert tokens == ["foo", "bar", "日本語", "c++"]


def test_blank_query_has_no_tokens() -> None:
    assert lexicon.tokens(" \t\n\u3000") == []


def test_runs_part_where_the_kind_of_character_changes() -> None:
    runs = list(lexicon.runs("vue.jsの使い方_v2"))

    assert runs == [
        Run(Kind.WORD, "vue"),
        Run(Kind.OTHER, "."),
        Run(Kind.WORD, "js"),
        Run(Kind.CJK, "の使い方"),
        Run(Kind.OTHER, "_"),
        Run(Kind.WORD, "v2"),
    ]


@given(st.one_of(anything, mixed).map(lexicon.fold))
def test_runs_leave_nothing_out(folded: str) -> None:
    assert "".join(run.text for run in lexicon.runs(folded)) == folded


@given(st.one_of(anything, mixed).map(lexicon.fold))
def test_neighbouring_runs_are_of_different_kinds(folded: str) -> None:
    kinds = [run.kind for run in lexicon.runs(folded)]

    assert all(left is not right for left, right in pairwise(kinds))


def test_run_is_written_out_as_pairs_and_its_last_character() -> None:
    assert lexicon.pairs("日本語") == ["日本", "本語", "語"]


@given(JAPANESE, st.data())
def test_pairs_of_a_part_stand_together_in_the_pairs_of_the_whole(
    run: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(run)))
    end = data.draw(st.integers(start, len(run)))

    # The last of the pairs is a single character, which depends on where a run ends.
    part = lexicon.pairs(run[start:end])[:-1]

    assert lexicon.pairs(run)[start : start + len(part)] == part


def test_words_and_pairs_are_written_out_with_spaces() -> None:
    spread = lexicon.spread("vue.jsの使い方 foo_bar, foo")

    assert " ".join(spread.text.split()) == "vue js の使 使い い方 方 foo bar foo"
    assert spread.words == {"vue", "js", "foo", "bar"}
    assert not spread.has_long_word


def test_longest_word_is_still_a_word() -> None:
    word = "a" * LONGEST_WORD

    assert lexicon.spread(word) == Spread(word, {word}, has_long_word=False)


def test_longer_run_is_left_out_and_the_text_marked() -> None:
    spread = lexicon.spread(f"before {'a' * (LONGEST_WORD + 1)} after")

    assert spread == Spread("before after", {"before", "after"}, has_long_word=True)


def test_japanese_text_is_never_too_long_to_be_written_out() -> None:
    assert not lexicon.spread("日" * 10 * LONGEST_WORD).has_long_word


@pytest.mark.parametrize("name", ["c++", "c#", "f#"])
def test_names_with_punctuation_are_written_out_as_what_no_text_has(name: str) -> None:
    spread = lexicon.spread(f"written in {name}, mostly")

    [sign] = lexicon.names(name)
    assert sign in spread.text.split()
    assert sign not in spread.words
    assert lexicon.spread(sign).text.split() == []


def written_out(folded: str) -> list[str]:
    """What the index should hold of a text, said in terms of its runs."""
    parts: list[str] = []
    for run in lexicon.runs(folded):
        if run.kind is Kind.CJK:
            parts += lexicon.pairs(run.text)
        elif run.kind is Kind.WORD and len(run.text) <= LONGEST_WORD:
            parts.append(run.text)
    return parts + sorted(lexicon.names(folded))


@given(st.one_of(anything, mixed).map(lexicon.fold))
def test_index_and_queries_agree_on_what_the_runs_are(folded: str) -> None:
    assert lexicon.spread(folded).text.split() == written_out(folded)


@pytest.mark.parametrize(
    "character",
    [
        pytest.param("\U00031350", id="extension H"),
        pytest.param("\U0002ebf0", id="extension I"),
    ],
)
def test_characters_newer_than_this_python_are_written_out(character: str) -> None:
    assert lexicon.spread(character).text.split() == written_out(character)

"""What of a question is worth looking for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed

from ubp import lexicon
from ubp.questions import content_words, says_little, term_texts, words_to_mark


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where is the session stored?", ["session", "stored"]),
        ("how do I use it", ["how", "do", "i", "use", "it"]),
        ("データを保存する", ["データ", "保存"]),
        ("認証フローはどこですか", ["認証フロー"]),
        ("のは", ["のは"]),
        ("SQLiteに保存", ["sqlite", "保存"]),
        ("is_ready(x)", ["ready"]),
        ("", []),
    ],
)
def test_content_words_are_those_that_tell_what_is_meant(
    question: str, words: list[str]
) -> None:
    assert content_words(question) == words


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("the session", ["session"]),
        ("認証フロー", ["認証", "証フ", "フロ", "ロー"]),
        ("これは何ですか", ["は何", "何で"]),
        ("本", ["本"]),
        ("の", ["の"]),
    ],
)
def test_terms_are_words_and_pairs_as_the_index_has_them(
    question: str, texts: list[str]
) -> None:
    assert term_texts(question) == texts


@given(st.one_of(anything, mixed))
def test_any_question_has_distinct_words_of_its_own(question: str) -> None:
    folded = lexicon.fold(question)

    for words in (content_words(question), term_texts(question)):
        assert len(set(words)) == len(words)
        assert all(word and word in folded for word in words)
        telling = [word for word in words if not says_little(word)]
        assert not telling or telling == words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("the session", ["session"]),
        ("The", ["the"]),
        ("is_ready(x)", ["is_ready(x)", "ready"]),
        ("データを保存する", ["データを保存する", "データ", "保存"]),
        ("のは", ["のは"]),
        ("C++ and the C++ API", ["c++", "api"]),
        ("", []),
    ],
)
def test_words_to_mark_are_tokens_and_their_telling_parts(
    query: str, words: list[str]
) -> None:
    assert words_to_mark(query) == words


@given(st.one_of(anything, mixed))
def test_words_to_mark_are_parts_of_the_folded_query(query: str) -> None:
    folded = lexicon.fold(query)

    words = words_to_mark(query)

    assert all(word and word in folded for word in words)
    assert len(set(words)) == len(words)

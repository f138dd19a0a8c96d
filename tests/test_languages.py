"""Which language a text is in."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything

from ubp.languages import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("The quick brown fox.", "en"),
        ("Größe naïve Москва ελληνικά 한국어", "en"),
        ("12 + 34 = 46 🎉", "en"),
        ("認証フロー", "ja"),
        ("ｶﾞｷﾞ", "ja"),
        ("これは", "ja"),
        ("々", "en"),
        ("SQLiteに保存する", "ja"),
        ("The SQLite database is called 索引 in this document", "en"),
        ("index.md の link を API で確認", "ja"),
        ("def main() -> None:  # 本体\n    return serve(project)", "en"),
    ],
)
def test_a_text_is_told_by_its_script(text: str, language: str) -> None:
    assert language_of(text) == language


def test_one_character_counts_as_much_as_four_letters() -> None:
    assert language_of("abcd" + "語") == "ja"
    assert language_of("abcde" + "語") == "en"


@given(anything)
def test_any_text_has_a_language(text: str) -> None:
    assert language_of(text) in {"en", "ja"}


@given(st.text(st.characters(codec="ascii")))
def test_ascii_is_never_japanese(text: str) -> None:
    assert language_of(text) == "en"


@given(anything)
def test_more_japanese_never_makes_a_text_english(text: str) -> None:
    if language_of(text) == "ja":
        assert language_of(text + "語") == "ja"


@given(anything, st.randoms())
def test_the_order_of_characters_does_not_matter(text: str, chance: Random) -> None:
    shuffled = list(text)
    chance.shuffle(shuffled)

    assert language_of("".join(shuffled)) == language_of(text)

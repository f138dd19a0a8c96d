"""The dictionary: what is in it is found, what is not is not, and damage is noticed."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp import lexicon
from ubp.dictionary import lookup
from ubp.dictionary.lookup import FOLDER, fault, parts, size, translations

WORDS = {
    "component": "コンポーネント 部品",
    "components": "コンポーネント 部品",
    "stale": "古く",
    "コンポーネント": "component components",
    "古く": "stale outdated",
    "部品": "component parts",
    "部品表": "bom",
}


def written(folder: Path, content: bytes, digest: str | None = None) -> Path:
    (folder / "words.tsv").write_bytes(content)
    sums = f"{digest or hashlib.sha256(content).hexdigest()}  words.tsv\n"
    (folder / "SHA256SUMS").write_text(sums, encoding="ascii")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    lines = [f"{word}\t{others}\n".encode() for word, others in WORDS.items()]
    return written(tmp_path, b"".join(sorted(lines)))


def shipped() -> dict[str, list[str]]:
    lines = (FOLDER / "words.tsv").read_text(encoding="utf-8").splitlines()
    return {word: others.split(" ") for word, others in (x.split("\t") for x in lines)}


def test_every_word_is_found_with_all_its_translations(small: Path) -> None:
    for word, others in WORDS.items():
        assert translations(word, small) == others.split(" ")
    assert size(small) == len(WORDS)


@pytest.mark.parametrize(
    "word",
    ["", "comp", "componentx", "a", "zzz", "\t", "\n", "コンポ", "部", "\U0010ffff"],
)
def test_what_is_no_word_of_it_has_no_translation(small: Path, word: str) -> None:
    assert translations(word, small) == []


def test_a_run_is_cut_at_the_longest_words_it_knows(small: Path) -> None:
    found = parts("古くなった部品表とコンポーネント", small)

    assert [word for word, _ in found] == ["古く", "部品表", "コンポーネント"]
    assert found[1] == ("部品表", ["bom"])


def test_what_is_shipped_is_whole_sorted_and_as_search_compares_it() -> None:
    words = shipped()

    assert fault() is None
    assert size() == len(words) > 30_000
    assert list(words) == sorted(words, key=str.encode)
    assert all(lexicon.fold(word) == word for word in words)
    assert all(
        word.isascii() != other.isascii() for word in words for other in words[word]
    )


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("authentication", "認証"),
        ("認証", "authentication"),
        ("サーバ", "server"),
        ("servers", "サーバ"),
        ("outdated", "古く"),
        ("削除", "deleted"),
    ],
)
def test_words_that_documentation_is_made_of_are_in_it(word: str, other: str) -> None:
    assert other in translations(word)


@given(st.text())
def test_any_text_at_all_can_be_looked_up(text: str) -> None:
    found = parts(text)

    assert all(word in text and others for word, others in found)
    assert translations(text) == shipped_cache().get(text, [])


def shipped_cache() -> dict[str, list[str]]:
    if not _SHIPPED:
        _SHIPPED.update(shipped())
    return _SHIPPED


_SHIPPED: dict[str, list[str]] = {}


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "words.tsv").unlink(),
        lambda folder: (folder / "SHA256SUMS").unlink(),
        lambda folder: (folder / "words.tsv").write_bytes(b"component\tx\n"),
        lambda folder: (folder / "SHA256SUMS").write_bytes(b"\xff\xff"),
        lambda folder: (folder / "SHA256SUMS").write_text(""),
    ],
)
def test_a_dictionary_that_is_not_whole_is_not_used(small: Path, harm: object) -> None:
    assert callable(harm)
    harm(small)
    lookup._lines.cache_clear()

    assert translations("component", small) == []
    assert parts("部品", small) == []
    assert size(small) == 0
    assert fault(small) == "The dictionary is missing or damaged."

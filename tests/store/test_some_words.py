"""Some words, against an oracle that reads every text."""

import math
import re
from collections.abc import Sequence

import apsw
import pytest
from databases import fresh, save, with_pages
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed, pieces

from ubp import lexicon
from ubp.lexicon import LONGEST_WORD
from ubp.packs.docs import writes
from ubp.packs.docs.text_index import SECTION_WORDS
from ubp.questions import says_little
from ubp.store.some_words import SomeWords, Term, Weighed, terms


def weighed(db: apsw.Connection, question: str, limit: int = 100) -> list[Weighed]:
    return SECTION_WORDS.weighed(db, terms(question), limit)


def stored(db: apsw.Connection) -> dict[int, set[str]]:
    """The words of each section, as they are written out."""
    rows = db.execute("SELECT id, coalesce(heading, ''), content FROM docs_section")
    return {
        row: set(lexicon.spread(lexicon.fold(heading)).text.split())
        | set(lexicon.spread(lexicon.fold(content)).text.split())
        for row, heading, content in rows
    }


def is_single(term: Term) -> bool:
    """A lone CJK character, which is found as the beginning of a pair as well."""
    return term.match.endswith("*")


def contains(words: set[str], term: Term) -> bool:
    if is_single(term):
        return any(word.startswith(term.text) for word in words)
    return term.text in words


# -- what is looked for ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("", []),
        ("the session", ["session"]),
        ("The THE the", ["the"]),
        ("how do I use it", ["how", "do", "i", "use", "it"]),
        ("is_ready(x)", ["ready"]),
        ("認証", ["認証"]),
        ("認証フロー", ["認証", "証フ", "フロ", "ロー"]),
        ("保存する", ["保存", "存す"]),
        ("のは", ["のは"]),
        ("これは何ですか", ["は何", "何で"]),
        ("本", ["本"]),
        ("ＡＰＩ", ["api"]),
        ("... !!", []),
        ("x" * (LONGEST_WORD + 1), []),
    ],
)
def test_terms_are_the_telling_words_and_pairs(question: str, found: list[str]) -> None:
    assert [term.text for term in terms(question)] == found


def test_names_of_languages_are_terms_of_their_own() -> None:
    signs = {term.text for term in terms("C++ C# F#")} - {"c", "f"}

    assert len(signs) == 3
    assert all(term.match for term in terms("C++ C# F#"))


def test_long_question_is_cut() -> None:
    assert len(terms(" ".join(f"word{number}" for number in range(500)))) == 64


@given(st.one_of(anything, mixed))
def test_terms_of_anything_are_distinct_and_can_be_looked_for(question: str) -> None:
    asked = terms(question)

    assert len({term.text for term in asked}) == len(asked)
    SECTION_WORDS.weighed(EMPTY, asked, 10)
    words = [term.text for term in asked if term.text not in SIGNS]
    telling = [word for word in words if not says_little(word)]
    assert not telling or telling == words


EMPTY = fresh()
SIGNS = lexicon.names("c++ c# f#")


# -- what it is worth ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("alpha", {0, 2}),
        ("alpha beta", {0, 1, 2}),
        ("alph", set()),
        ("日本", {1}),
        ("本語", {1}),
        ("語", {1}),
        ("日", {1}),
        ("alpha.beta", {0, 1, 2}),
        ("", set()),
    ],
)
def test_rows_are_found_that_contain_any_of_the_words(
    question: str, found: set[int]
) -> None:
    texts = ["alpha gamma", "beta 日本語", "alpha beta", "delta"]
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})
    rows = [row for (row,) in db.execute("SELECT id FROM docs_section ORDER BY id")]

    hits = weighed(db, question)

    assert {hit.row for hit in hits} == {rows[number] for number in found}


GREEK = ("alpha", "beta", "gamma", "delta")

questions = st.one_of(
    st.lists(pieces, max_size=5).map(" ".join),
    mixed,
    st.lists(st.sampled_from(GREEK), max_size=4).map(" ".join),
)
contents = st.lists(
    st.one_of(
        mixed,
        st.lists(st.sampled_from((*GREEK, "the")), max_size=5).map(" ".join),
    ),
    max_size=6,
)


@given(contents, questions)
def test_coverage_is_the_worth_of_what_is_there_in_that_of_all(
    texts: list[str], question: str
) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})
    asked = [term for term in terms(question) if not is_single(term)]

    found = SECTION_WORDS.weighed(db, asked, 1_000)

    assert {hit.row: pytest.approx(hit.coverage) for hit in found} == oracle(db, asked)


def oracle(db: apsw.Connection, asked: Sequence[Term]) -> dict[int, float]:
    rows = stored(db)
    counts = [sum(contains(words, term) for words in rows.values()) for term in asked]
    worth = [
        math.log(1 + (len(rows) - count + 0.5) / (count + 0.5)) for count in counts
    ]
    return {
        row: sum(
            value
            for term, value in zip(asked, worth, strict=True)
            if contains(words, term)
        )
        / sum(worth)
        for row, words in rows.items()
        if any(contains(words, term) for term in asked)
    }


@given(contents, questions, st.integers(0, 4))
def test_any_question_is_an_answer_in_order(
    texts: list[str], question: str, limit: int
) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})
    asked = terms(question)

    found = SECTION_WORDS.weighed(db, asked, limit)

    some = {
        row
        for row, words in stored(db).items()
        if any(contains(words, term) for term in asked)
    }
    assert len(found) == min(limit, len(some))
    assert {hit.row for hit in found} <= some
    assert all(0 < hit.coverage <= 1 for hit in found)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_row_with_every_word_covers_all() -> None:
    db = with_pages({"a.md": "alpha beta", "b.md": "alpha", "c.md": "gamma"})

    coverage = [hit.coverage for hit in weighed(db, "alpha beta")]

    assert max(coverage) == 1
    assert min(coverage) < 0.5, "alpha is the commoner word"


def test_word_nobody_has_counts_as_the_rarest() -> None:
    db = with_pages({f"{number}.md": "alpha beta" for number in range(9)})

    [first, *_] = weighed(db, "alpha zebra")

    assert first.coverage < 0.1


@pytest.mark.parametrize("question", ["c++", "C++ templates", "C++17"])
def test_cplusplus_is_not_a_letter(question: str) -> None:
    db = with_pages({"c.md": "Written in C.", "cpp.md": "Written in C++17."})
    cpp = db.execute("SELECT max(id) FROM docs_section").get

    assert weighed(db, question)[0].row == cpp


def test_hiragana_endings_count_for_nothing_beside_content() -> None:
    db = with_pages({"a.md": "索引を作成する。", "b.md": "それはここにあるものです。"})

    assert len(weighed(db, "索引はどこにあるのですか")) == 1


def test_common_single_character_is_worth_little() -> None:
    common = {f"{number}.md": "本屋がある。" for number in range(9)}
    db = with_pages({**common, "rare.md": "zebra 本屋がある。"})

    found = {hit.coverage for hit in weighed(db, "本 zebra")}

    assert min(found) < 0.2


def test_removed_rows_are_not_found() -> None:
    db = fresh()
    save(db, "page.md", "## One\n\nalpha")

    writes.forget(db, "page.md")

    assert weighed(db, "alpha") == []


@given(st.lists(st.sampled_from("abcdef"), max_size=12))
def test_coverage_stays_in_bounds_whatever_came_and_went(names: list[str]) -> None:
    db = fresh()
    for number, name in enumerate(names):
        if number % 3 == 2:
            writes.forget(db, f"{name}.md")
        else:
            save(db, f"{name}.md", f"alpha {name * 3} beta{number}")

    found = weighed(db, "alpha aaa beta0 beta1")

    assert all(0 < hit.coverage <= 1 for hit in found)


@pytest.mark.parametrize("name", ["a; DROP TABLE b", "a b", "", "1a", 'a"'])
def test_only_plain_names_become_part_of_sql(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(name)}"):
        SomeWords(text=name)


def test_of_given_rows_the_best_are_taken_before_the_cut() -> None:
    db = with_pages({f"{number}.md": "alpha " * (9 - number) for number in range(8)})
    every = [hit.row for hit in SECTION_WORDS.weighed(db, terms("alpha"), 99)]

    found = SECTION_WORDS.weighed(db, terms("alpha"), 1, [every[-1], every[-2]])

    assert [hit.row for hit in found] == [every[-2]]

"""Full text, against an oracle: a row matches if its folded text contains each token.

The index is allowed to be quick; it is not allowed to have an opinion.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import apsw
import pytest
from databases import fresh, save
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from strategies import anything, headings, mixed, pieces
from vaults import page

from ubp import lexicon
from ubp.lexicon import Kind
from ubp.packs.docs import records, sections, writes
from ubp.packs.docs.text_index import SECTIONS
from ubp.store import fulltext
from ubp.store.fulltext import Index

Text = tuple[str | None, str]
"""A heading, or none, and what stands below it."""


class Limits(NamedTuple):
    """Where the index gives up looking words up, and reads the texts instead."""

    most_words: int
    most_looked_up: int
    at_once: int


USUAL = Limits(fulltext._MOST_WORDS, fulltext._MOST_LOOKED_UP, fulltext._AT_ONCE)

every_path = st.sampled_from(
    (
        USUAL,
        Limits(most_words=1, most_looked_up=64, at_once=1),
        Limits(most_words=1_000, most_looked_up=1, at_once=2),
        Limits(most_words=0, most_looked_up=1, at_once=1),
    )
)


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fulltext, "_MOST_WORDS", limits.most_words)
        patch.setattr(fulltext, "_MOST_LOOKED_UP", limits.most_looked_up)
        patch.setattr(fulltext, "_AT_ONCE", limits.at_once)
        yield


def store(db: apsw.Connection, texts: Sequence[Text]) -> dict[int, str]:
    """Make *texts* the sections of the only page; the folded text of each row."""
    record = page("")
    written = [
        records._section(
            sections.Section(
                heading=heading,
                level=2,
                heading_path=(),
                content=content,
                tokens=0,
                continued=False,
                blocks=(),
            ),
            "page",
        )
        for heading, content in texts
    ]
    words = set[str]().union(*(its_words for _, its_words in written))
    values = {name: getattr(record, name) for name in record.__struct_fields__}
    values["sections"] = tuple(section for section, _ in written)
    values["words"] = " ".join(words)
    writes.save(db, "page.md", "digest", records.PageRecord(**values))
    rows = db.execute("SELECT id FROM docs_section ORDER BY ordinal")
    return {
        row: lexicon.fold(f"{heading or ''}\n{content}")
        for (row,), (heading, content) in zip(rows, texts, strict=True)
    }


def containing(folded: dict[int, str], query: str) -> set[int]:
    """The oracle."""
    tokens = lexicon.tokens(query)
    return {
        row
        for row, text in folded.items()
        if tokens and all(token in text for token in tokens)
    }


collections = st.lists(st.tuples(st.none() | headings, mixed), min_size=1, max_size=5)


@st.composite
def parts(draw: st.DrawFn, texts: Sequence[Text]) -> str:
    """A piece cut out of one of the texts, wherever that may be."""
    heading, content = draw(st.sampled_from(texts))
    text = f"{heading or ''}\n{content}"
    start = draw(st.integers(0, len(text)))
    length = draw(st.sampled_from((1, 2, 3, 5, 8, 20, 100)))
    return text[start : start + length]


@st.composite
def queries(draw: st.DrawFn, texts: Sequence[Text]) -> str:
    """Something to ask: pieces of the texts, other words, or anything."""
    return draw(
        st.one_of(
            st.lists(parts(texts), min_size=1, max_size=3).map(" ".join),
            st.lists(parts(texts), min_size=1, max_size=3).map("".join),
            st.lists(st.one_of(parts(texts), pieces), max_size=4).map(" ".join),
            anything,
        )
    )


@settings(max_examples=2 * settings().max_examples)
@given(limits=every_path, texts=collections, data=st.data())
def test_rows_are_exactly_those_that_contain_every_token(
    limits: Limits, texts: list[Text], data: st.DataObject
) -> None:
    query = data.draw(queries(texts))
    db = fresh()
    folded = store(db, texts)

    with limited(limits):
        found = SECTIONS.search(db, query).rows

    assert found == containing(folded, query)


@given(
    texts=st.lists(
        st.tuples(st.none(), st.sampled_from(("C++", "C#", "F# and c++", "plus", "c")))
    ),
    query=st.sampled_from(("c++", "C", "+", "plus", "sharp", "c#", "cplusplus", "s")),
)
@example(texts=[(None, "C++")], query="plus")
def test_names_of_languages_are_found_by_what_is_written(
    texts: list[Text], query: str
) -> None:
    db = fresh()
    folded = store(db, texts)

    assert SECTIONS.search(db, query).rows == containing(folded, query)


@pytest.mark.parametrize("query", ["c++", "C++", "c#", "f#", "C++17", "c++,", "++"])
def test_names_of_languages_are_found(query: str) -> None:
    texts = ["C++17 and C", "only C#", "abc++ is no name", "F#, c++, c#", "C + +", "#"]
    db = fresh()
    folded = store(db, [(None, text) for text in texts])

    assert SECTIONS.search(db, query).rows == containing(folded, query)


def test_character_newer_than_this_python_is_found() -> None:
    db = fresh()
    folded = store(db, [(None, "字 \U00031350 字")])

    assert SECTIONS.search(db, "\U00031350").rows == containing(folded, "\U00031350")


@given(query=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_query_is_an_answer(query: str) -> None:
    db = fresh()
    store(db, [("Heading", f"Some text, 日本語 {'x' * 100}")])

    matches = SECTIONS.search(db, query)

    assert {hit.row for hit in SECTIONS.ranked(db, matches)} == matches.rows


@pytest.mark.parametrize("query", ["a\ud800", "\udfff日a"])
def test_lone_surrogate_is_an_answer_too(query: str) -> None:
    db = fresh()
    store(db, [(None, "Some text")])

    assert SECTIONS.search(db, query).rows == set()


@pytest.mark.parametrize(
    "query",
    [
        "architecture OR endpoints",
        "NEAR(architecture, endpoints)",
        "content:architecture",
        "architectur*",
        "^architecture",
        "architecture NOT endpoints",
        '"architecture endpoints"',
        "architecture + endpoints",
        "{heading content}: architecture",
        "-architecture",
    ],
)
def test_operators_are_text_like_any_other(query: str) -> None:
    db = fresh()
    store(db, [(None, "architecture endpoints")])
    rows = store(db, [(None, "architecture endpoints"), (None, f"say {query} here")])

    assert SECTIONS.search(db, query).rows == {list(rows)[1]}


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\u3000"])
def test_blank_query_finds_nothing(query: str) -> None:
    db = fresh()
    store(db, [("Heading", "Content")])

    matches = SECTIONS.search(db, query)

    assert matches.rows == set()
    assert list(SECTIONS.ranked(db, matches)) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("microservices", {0}),
        ("service", {0}),
        ("SERVICES", {0}),
        ("quick ok", {1}),
        ("認証", {2, 3}),
        ("証フ", {2}),
        ("フロー", {2}),
        ("ﾌﾛｰ", {2}),
        ("の", {3}),
        ("認証 の", {3}),
        ("fox.", {1}),
        ("s", {0, 1, 3}),
        ("résumé", set()),
        ("nothing", set()),
    ],
)
def test_words_are_found_by_any_part_in_heading_or_content(
    query: str, found: set[int]
) -> None:
    db = fresh()
    texts: list[Text] = [
        ("Microservices", "small parts"),
        (None, "The quick brown fox. It's ok."),
        ("認証フロー", "Login"),
        (None, "認証の方法, resume"),
    ]
    rows = list(store(db, texts))

    assert SECTIONS.search(db, query).rows == {rows[number] for number in found}


@pytest.mark.parametrize(
    "text",
    [
        "foo-bar_baz(qux).ab",
        "Vue.jsの使い方、第2版",
        f"a{'b' * 70}-c.d",
        "c++とC#のabc++",
        "İstanbul ﬁle e\u0301té",
    ],
)
def test_every_part_of_a_text_finds_it(text: str) -> None:
    db = fresh()
    folded = store(db, [(None, text), (None, "foo bar の使 c + + 2 é")])
    parts_ = {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}

    wrong = [
        part
        for part in parts_
        if SECTIONS.search(db, part).rows != containing(folded, part)
    ]
    assert wrong == []


def test_parts_of_a_japanese_word_are_not_the_word() -> None:
    db = fresh()
    texts = ["日本と本語", "本語日本", "日本 本語", "日 本 語", "日本語"]
    *_, last = store(db, [(None, text) for text in texts])

    assert SECTIONS.search(db, "日本語").rows == {last}


def test_token_does_not_reach_from_heading_into_content() -> None:
    db = fresh()
    store(db, [("foo", "bar"), ("日", "本")])

    assert SECTIONS.search(db, "foobar").rows == set()
    assert SECTIONS.search(db, "日本").rows == set()


def test_long_query_is_answered_whole() -> None:
    words = " ".join(f"word{number}" for number in range(500))
    db = fresh()
    first, _ = store(db, [(None, words), (None, words.removesuffix(" word499"))])

    assert SECTIONS.search(db, words).rows == {first}


@pytest.mark.parametrize(
    "token", ["日本語" * 2_000, "-".join("ab" * 150), "a" * 10_000, "a日" * 150]
)
def test_long_token_is_answered(token: str) -> None:
    db = fresh()
    first, _ = store(db, [(None, f"x {token} x"), (None, token[:-1])])

    matches = SECTIONS.search(db, token)

    assert [hit.row for hit in SECTIONS.ranked(db, matches)] == [first]


@given(limits=every_path, texts=collections, data=st.data())
def test_replaced_texts_are_found_by_their_new_words_only(
    limits: Limits, texts: list[Text], data: st.DataObject
) -> None:
    after = data.draw(collections)
    query = data.draw(queries([*texts, *after]))
    db = fresh()
    store(db, texts)
    folded = store(db, after)

    with limited(limits):
        found = SECTIONS.search(db, query).rows

    assert found == containing(folded, query)


@given(texts=collections, data=st.data())
def test_tidying_changes_no_answer(texts: list[Text], data: st.DataObject) -> None:
    query = data.draw(queries(texts))
    db = fresh()
    store(db, texts)
    before = list(SECTIONS.ranked(db, SECTIONS.search(db, query)))

    SECTIONS.optimize(db)

    assert list(SECTIONS.ranked(db, SECTIONS.search(db, query))) == before


@given(limits=every_path, texts=collections, data=st.data())
def test_every_match_is_ranked_once_and_the_best_come_first(
    limits: Limits, texts: list[Text], data: st.DataObject
) -> None:
    query = data.draw(queries(texts))
    db = fresh()
    store(db, texts)

    with limited(limits):
        matches = SECTIONS.search(db, query)
        ranked = list(SECTIONS.ranked(db, matches))

    assert sorted(hit.row for hit in ranked) == sorted(matches.rows)
    assert [hit.rank for hit in ranked] == sorted(hit.rank for hit in ranked)
    assert all(hit.rank <= 0 for hit in ranked)


def has_whole(folded: str, token: str) -> bool:
    """Whether a token stands in a text as a word; any part of a CJK run does."""
    if next(lexicon.runs(token)).kind is Kind.CJK:
        return token in folded
    return any(run.text == token for run in lexicon.runs(folded))


plain_words = st.sampled_from(
    ("in", "index", "indexes", "reindex", "dex", "日本", "日本語", "本", "a", "api")
)


@given(
    limits=every_path,
    texts=st.lists(
        st.tuples(
            st.none() | plain_words, st.lists(plain_words, max_size=4).map(" ".join)
        ),
        min_size=1,
        max_size=6,
    ),
    tokens=st.lists(plain_words, min_size=1, max_size=3, unique=True),
)
def test_whole_words_come_before_parts_of_words(
    limits: Limits, texts: list[Text], tokens: list[str]
) -> None:
    assume(limits.most_looked_up >= len(tokens))
    db = fresh()
    folded = store(db, texts)

    with limited(limits):
        ranked = list(SECTIONS.ranked(db, SECTIONS.search(db, " ".join(tokens))))

    whole = [
        all(has_whole(folded[hit.row], token) for token in tokens) for hit in ranked
    ]
    assert whole == sorted(whole, reverse=True)
    assert [hit.rank <= -1 for hit in ranked] == whole


def test_word_in_the_heading_counts_more_than_in_the_content() -> None:
    db = fresh()
    in_content, in_heading = store(db, [("one two", "index"), ("index two", "one")])

    ranked = list(SECTIONS.ranked(db, SECTIONS.search(db, "index")))

    assert [hit.row for hit in ranked] == [in_heading, in_content]


def test_more_of_a_word_in_less_text_is_better() -> None:
    db = fresh()
    texts = ["index and so on and on and on", "index index"]
    long, short = store(db, [(None, text) for text in texts])

    ranked = list(SECTIONS.ranked(db, SECTIONS.search(db, "index")))

    assert [hit.row for hit in ranked] == [short, long]


def test_equally_good_rows_are_in_the_order_they_were_stored() -> None:
    db = fresh()
    rows = store(db, [(None, "the same words")] * 5)

    ranked = SECTIONS.ranked(db, SECTIONS.search(db, "same"))

    assert [hit.row for hit in ranked] == list(rows)


def test_removed_rows_are_not_found() -> None:
    db = fresh()
    save(db, "page.md", "## One\n\nalpha")

    writes.forget(db, "page.md")

    assert SECTIONS.search(db, "alpha").rows == set()


@pytest.mark.parametrize("name", ["a; DROP TABLE b", "a b", "", "1a", 'a"'])
def test_only_plain_names_become_part_of_sql(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(name)}"):
        Index(text=name, word="w", rows="r")

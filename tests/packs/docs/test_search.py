"""Finding pages by their words: everything that was asked for before some of it."""

import apsw
import pytest
from databases import fresh, save, with_pages
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed, pieces

from ubp import lexicon
from ubp.packs.docs import queries, search
from ubp.packs.docs.text_index import SECTIONS

PAGES = {
    "auth.md": "---\ndoc_type: design\n---\n# Login\n\nThe session is kept in SQLite.",
    "auth/ja.md": "# 認証フロー\n\nセッションはデータベースに保存する。",
    "adr/1.md": "---\ndoc_type: adr\n---\n# Store\n\nSQLite, not a server. SQLite!",
    "quick.md": "# Quick\n\nThe quick brown fox.",
    "ok.md": "# Other\n\nquickly, and it is ok",
}


@pytest.fixture(scope="module")
def vault() -> apsw.Connection:
    return with_pages(PAGES)


def paths(db: apsw.Connection, found: search.Found) -> list[str]:
    pages = queries.pages(db, [hit.page for hit in found.hits])
    return [pages[hit.page].path for hit in found.hits]


def literal_paths(
    db: apsw.Connection, query: str, doc_type: str | None = None, limit: int = 10
) -> list[str]:
    hits, _ = search.literally(db, query, doc_type, limit)
    pages = queries.pages(db, [hit.page for hit in hits])
    return [pages[hit.page].path for hit in hits]


# -- literally -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("session", ["auth.md"]),
        ("SQLite", ["adr/1.md", "auth.md"]),
        ("quick ok", ["ok.md"]),
        ("保存", ["auth/ja.md"]),
        ("認証", ["auth/ja.md"]),
        ("fox OR sqlite", []),
        ("missing", []),
        ("", []),
    ],
)
def test_sections_are_found_that_contain_every_token(
    vault: apsw.Connection, query: str, found: list[str]
) -> None:
    assert literal_paths(vault, query) == found


def test_literal_search_keeps_to_a_doc_type(vault: apsw.Connection) -> None:
    assert literal_paths(vault, "sqlite", "adr") == ["adr/1.md"]
    assert literal_paths(vault, "sqlite", "guide") == []


def test_literal_total_is_true_whatever_the_limit(vault: apsw.Connection) -> None:
    hits, total = search.literally(vault, "sqlite", None, 1)

    assert (len(hits), total) == (1, 2)
    assert search.literally(vault, "sqlite", "adr", 10)[1] == 1
    assert search.literally(vault, "sqlite", None, 0) == ([], 2)


@given(st.lists(mixed, max_size=4), st.one_of(mixed, anything), st.integers(0, 3))
def test_literal_search_of_anything_is_an_answer(
    texts: list[str], query: str, limit: int
) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})

    hits, total = search.literally(db, query, None, limit)

    assert total == len(SECTIONS.search(db, query).rows)
    assert len(hits) == min(limit, total)
    assert [hit.rank for hit in hits] == sorted(hit.rank for hit in hits)


# -- by words --------------------------------------------------------------------------


def test_pages_with_everything_come_before_pages_with_some(
    vault: apsw.Connection,
) -> None:
    found = search.by_words(vault, "quick fox", None, 10)

    assert paths(vault, found) == ["quick.md"]
    assert paths(vault, search.by_words(vault, "sqlite session", None, 10)) == [
        "auth.md",
        "adr/1.md",
    ]


def test_page_is_found_by_some_of_the_words(vault: apsw.Connection) -> None:
    found = search.by_words(vault, "where is the session stored", None, 10)

    assert paths(vault, found)[0] == "auth.md"
    assert all(0 < hit.score <= 0.5 for hit in found.hits)


def test_some_of_the_words_are_not_looked_for_where_enough_have_all(
    vault: apsw.Connection,
) -> None:
    found = search.by_words(vault, "sqlite session", None, 1)

    assert paths(vault, found) == ["auth.md"]


def test_best_page_has_the_full_signal(vault: apsw.Connection) -> None:
    found = search.by_words(vault, "sqlite", None, 10)

    assert found.hits[0].score == 1
    assert all(0.5 <= hit.score <= 1 for hit in found.hits)


def test_words_keep_to_a_doc_type(vault: apsw.Connection) -> None:
    assert paths(vault, search.by_words(vault, "sqlite", "adr", 10)) == ["adr/1.md"]


def test_japanese_question_finds_its_page_by_the_telling_words(
    vault: apsw.Connection,
) -> None:
    found = search.by_words(vault, "認証はどこに保存されるのか", None, 10)

    assert paths(vault, found) == ["auth/ja.md"]


def test_stop_words_alone_are_still_looked_for(vault: apsw.Connection) -> None:
    assert set(paths(vault, search.by_words(vault, "and the", None, 10))) >= {"ok.md"}


def test_page_shows_its_three_best_sections() -> None:
    filler = "word " * 40
    text = "\n\n".join(f"## H{n}\n\nindex {'x ' * n}{filler}" for n in range(5))
    db = with_pages({"a.md": text})

    [hit] = search.by_words(db, "index", None, 10).hits

    assert len(hit.sections) == 3
    assert hit.sections[0].score == hit.score
    scores = [section.score for section in hit.sections]
    assert scores == sorted(scores, reverse=True)


def test_blank_query_finds_no_page(vault: apsw.Connection) -> None:
    assert search.by_words(vault, " \u3000", None, 10) == search.Found([], 0)


queries_ = st.one_of(anything, mixed, st.lists(pieces, max_size=4).map(" ".join))


@given(st.lists(mixed, max_size=5), queries_, st.integers(1, 5))
def test_words_of_anything_are_an_answer_in_order(
    texts: list[str], query: str, limit: int
) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})

    found = search.by_words(db, query, None, limit)

    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert found.total == len({hit.page for hit in found.hits}) == len(found.hits)
    rows = [section.section for hit in found.hits for section in hit.sections]
    assert len(set(rows)) == len(rows)
    strict = queries.pages_of_sections(db, SECTIONS.search(db, query).rows, None)
    assert {hit.page for hit in found.hits if hit.score >= 0.5} >= set(strict.values())
    assert {hit.page for hit in found.hits if hit.score > 0.5} <= set(strict.values())


# -- what to mark ----------------------------------------------------------------------


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
    assert search.words_of(query) == words


@given(st.one_of(anything, mixed))
def test_words_to_mark_are_parts_of_the_folded_query(query: str) -> None:
    folded = lexicon.fold(query)

    words = search.words_of(query)

    assert all(word and word in folded for word in words)
    assert len(set(words)) == len(words)


def test_search_in_an_empty_index_finds_nothing() -> None:
    db = fresh()

    assert search.by_words(db, "word", None, 10) == search.Found([], 0)
    assert search.literally(db, "word", None, 10) == ([], 0)


def test_page_changed_is_found_by_its_new_words_only() -> None:
    db = with_pages({"a.md": "alpha"})

    save(db, "a.md", "beta")

    assert literal_paths(db, "alpha") == []
    assert literal_paths(db, "beta") == ["a.md"]


# -- by name ---------------------------------------------------------------------------


def scores(
    db: apsw.Connection, query: str, doc_type: str | None = None
) -> dict[str, float]:
    found = search.by_words(db, query, doc_type, 10)
    pages = queries.pages(db, [hit.page for hit in found.hits])
    return {pages[hit.page].path: hit.score for hit in found.hits}


def test_title_raises_a_page_above_one_that_has_the_words_more_often() -> None:
    db = with_pages(
        {
            "busy.md": "# Busy\n\nThe lending rules, lending rules, lending rules.\n",
            "right.md": "# Lending rules\n\nThe lending rules and much else besides.\n",
        }
    )

    found = scores(db, "lending rules")

    assert found["right.md"] == 1.0
    assert found["busy.md"] < 1.0


def test_page_called_by_all_words_is_found_although_it_does_not_contain_them() -> None:
    db = with_pages(
        {
            "other.md": "The lending rules are elsewhere.\n",
            "rules.md": "---\ntitle: Lending rules\n---\n\nWho may borrow what.\n",
        }
    )

    assert scores(db, "lending rules") == {"rules.md": 1.0, "other.md": 1.0}


def test_page_is_found_by_its_file_name_and_by_its_tags() -> None:
    db = with_pages(
        {
            "capacity-planning.md": "Nothing of the kind.\n",
            "other.md": "---\ntags: [throughput]\n---\n\nNothing either.\n",
        }
    )

    assert scores(db, "capacity planning") == {"capacity-planning.md": 1.0}
    assert scores(db, "throughput") == {"other.md": 1.0}


def test_named_page_of_another_type_is_left_out() -> None:
    db = with_pages({"planning.md": "---\ndoc_type: adr\n---\n\nText.\n"})

    assert scores(db, "planning", "spec") == {}
    assert scores(db, "planning", "adr") == {"planning.md": 1.0}


def test_page_is_no_longer_found_by_the_title_it_had() -> None:
    db = with_pages({"a.md": "---\ntitle: Ocelot\n---\n\nText.\n"})

    save(db, "a.md", "---\ntitle: Walrus\n---\n\nText.\n")

    assert scores(db, "ocelot") == {}
    assert scores(db, "walrus") == {"a.md": 1.0}

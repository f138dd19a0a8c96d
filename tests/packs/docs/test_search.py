"""Finding sections by what was typed."""

import apsw
import pytest
from databases import fresh, save, with_pages
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed

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


@pytest.mark.parametrize("limit", [1, 2, 4, 5])
def test_equals_are_in_the_order_of_their_paths_however_they_were_stored(
    limit: int,
) -> None:
    paths = ["b.md", "c.md", "a.md", "d.md"]
    db = with_pages(dict.fromkeys(paths, "# A heron\n"))
    save(db, "b.md", "# Nothing\n")
    save(db, "b.md", "# A heron\n")

    assert literal_paths(db, "heron", limit=limit) == sorted(paths)[:limit]


# -- what to mark ----------------------------------------------------------------------


def test_search_in_an_empty_index_finds_nothing() -> None:
    db = fresh()

    assert search.literally(db, "word", None, 10) == ([], 0)


def test_page_changed_is_found_by_its_new_words_only() -> None:
    db = with_pages({"a.md": "alpha"})

    save(db, "a.md", "beta")

    assert literal_paths(db, "alpha") == []
    assert literal_paths(db, "beta") == ["a.md"]

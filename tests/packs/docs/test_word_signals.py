"""How well pages fit words: whoever has all of them is found, and says so."""

import apsw
import pytest
from databases import fresh, save, with_pages
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed, pieces

from ubp.dictionary import lookup
from ubp.packs.docs import queries, word_signals
from ubp.packs.docs.page_signals import PageWords
from ubp.packs.docs.text_index import SECTIONS
from ubp.packs.docs.word_signals import FoundByWords, by_words

ALL = 0.6
"""What a page has for containing everything, whatever the others are like."""

PAGES = {
    "auth.md": "---\ndoc_type: design\n---\n# Login\n\nThe session is kept in SQLite.",
    "auth/ja.md": "# 認証フロー\n\nセッションはデータベースに保存する。",
    "adr/1.md": "---\ndoc_type: adr\n---\n# Store\n\nSQLite, not a server. SQLite!",
    "quick.md": "# Quick\n\nThe quick brown fox.",
    "ok.md": "# Other\n\nquickly, and it is ok",
    "cpp.md": "# Languages\n\nWritten in C++, with std::vector<int> inside.",
}


@pytest.fixture(scope="module")
def vault() -> apsw.Connection:
    return with_pages(PAGES)


def signals(
    db: apsw.Connection, query: str, doc_type: str | None = None
) -> dict[str, float]:
    """The signal of each page found, by path, the best first."""
    found = by_words(db, query, doc_type).pages
    pages = queries.pages(db, found)
    best = sorted(found, key=lambda page: (-found[page].signal, pages[page].path))
    return {pages[page].path: found[page].signal for page in best}


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("session sqlite", "auth.md"),
        ("sess qlit", "auth.md"),
        ("SQLite!", "adr/1.md"),
        ("c++, std::vec", "cpp.md"),
        ("vector<int>", "cpp.md"),
        ("ベースに", "auth/ja.md"),
        ("quick ok", "ok.md"),
        ("row", "quick.md"),
    ],
)
def test_page_that_contains_every_token_literally_covers_everything(
    vault: apsw.Connection, query: str, page: str
) -> None:
    assert signals(vault, query)[page] >= ALL


def test_page_with_everything_comes_before_pages_with_some(
    vault: apsw.Connection,
) -> None:
    found = signals(vault, "sqlite session")

    assert list(found) == ["auth.md", "adr/1.md"]
    assert found["auth.md"] >= ALL > found["adr/1.md"]


def test_page_is_found_by_some_of_the_words(vault: apsw.Connection) -> None:
    found = signals(vault, "where does the session of zebras live")

    assert list(found) == ["auth.md"]
    assert 0 < found["auth.md"] < ALL


def test_rare_word_is_worth_more_than_a_common_one() -> None:
    common = {f"{number}.md": "The server is here." for number in range(8)}
    db = with_pages({**common, "rare.md": "An ocelot."})

    found = signals(db, "ocelot server nowhere")

    assert next(iter(found)) == "rare.md"


def test_best_page_has_the_full_signal(vault: apsw.Connection) -> None:
    found = signals(vault, "sqlite")

    assert found.popitem()[1] >= ALL
    assert max(signals(vault, "sqlite").values()) == pytest.approx(1.0)


def test_words_keep_to_a_doc_type(vault: apsw.Connection) -> None:
    assert list(signals(vault, "sqlite", "adr")) == ["adr/1.md"]
    assert signals(vault, "sqlite", "guide") == {}


def test_japanese_question_finds_its_page_by_the_telling_words(
    vault: apsw.Connection,
) -> None:
    assert list(signals(vault, "認証はどこに保存されるのか")) == ["auth/ja.md"]


def test_stop_words_alone_are_still_looked_for(vault: apsw.Connection) -> None:
    assert "ok.md" in signals(vault, "and the")


def test_sections_are_told_with_their_signals_best_first() -> None:
    filler = "word " * 40
    text = "\n\n".join(f"## H{n}\n\nindex {'x ' * n}{filler}" for n in range(5))
    db = with_pages({"a.md": text})

    [found] = by_words(db, "index", None).pages.values()

    values = [signal for _, signal in found.sections]
    assert len(values) == 5
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(1.0)


def test_second_section_with_the_words_raises_a_page() -> None:
    filler = "word " * 40
    once = f"## One\n\nindex {filler}"
    db = with_pages(
        {"once.md": once, "twice.md": f"{once}\n\n## Two\n\nindex {filler}"}
    )

    found = signals(db, "index")

    assert found["twice.md"] > found["once.md"] >= ALL


def test_title_above_other_headings_covers_everything() -> None:
    filler = "word " * 300
    text = f"# Lending rules\n\n## Part\n\nThe rules. {filler}\n\n## More\n\n{filler}"
    db = with_pages({"a.md": text, "b.md": f"Other rules. {filler}"})

    assert signals(db, "lending rul")["a.md"] >= ALL


def test_pages_beyond_those_compared_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word_signals, "_MOST_ROWS", 3)
    monkeypatch.setattr(word_signals, "_ENOUGH_PAGES", 2)
    db = with_pages({f"{number}.md": "the same index" for number in range(9)})

    found = by_words(db, "index", None)

    assert len(found.pages) + found.uncounted == 9


@pytest.mark.parametrize("query", ["", " ", " \u3000", "\t\n"])
def test_blank_query_finds_no_page(vault: apsw.Connection, query: str) -> None:
    assert by_words(vault, query, None) == FoundByWords({}, 0, 0.0)


def test_words_in_an_empty_index_find_nothing() -> None:
    assert by_words(fresh(), "word", None) == FoundByWords({}, 0, 0.0)


def test_page_changed_is_found_by_its_new_words_only() -> None:
    db = with_pages({"a.md": "alpha"})

    save(db, "a.md", "beta")

    assert signals(db, "alpha") == {}
    assert list(signals(db, "beta")) == ["a.md"]


def test_words_are_the_more_common_the_more_other_pages_of_the_type_have_them() -> None:
    typed = "---\ndoc_type: adr\n---\n"
    db = with_pages(
        {
            "a.md": f"{typed}heron",
            "b.md": f"{typed}heron",
            "c.md": "heron",
            "d.md": "walrus",
            "e.md": "otter",
        }
    )

    assert by_words(db, "walrus", None).common == 0
    assert by_words(db, "heron", None).common == pytest.approx(2 / 4)
    assert by_words(db, "heron", "adr").common == 1
    assert by_words(db, "nothing", None).common == 0


queries_ = st.one_of(anything, mixed, st.lists(pieces, max_size=4).map(" ".join))


@given(st.lists(mixed, max_size=5), queries_)
def test_words_of_anything_are_an_answer_and_all_of_them_cover_everything(
    texts: list[str], query: str
) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})

    found, uncounted, common = by_words(db, query, None)

    assert 0 <= common <= 1
    for page in found.values():
        assert 0 <= page.signal <= 1 + 1e-9
        rows = [signal for _, signal in page.sections]
        assert rows == sorted(rows, reverse=True)
        assert all(0 <= signal <= 1 + 1e-9 for signal in rows)
        assert rows
    shown = [row for page in found.values() for row, _ in page.sections]
    assert len(set(shown)) == len(shown)
    literal = SECTIONS.search(db, query).rows
    of_page = queries.pages_of_sections(db, literal, None)
    assert uncounted == 0
    for page_id in of_page.values():
        assert found[page_id].signal >= ALL - 1e-9


@given(st.lists(mixed, min_size=1, max_size=4), st.data())
def test_any_part_of_a_stored_text_finds_its_page(
    texts: list[str], data: st.DataObject
) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})
    contents = [
        section.content
        for page in queries.all_pages(db)
        for section in queries.sections(db, page.id)
    ]
    whole = data.draw(st.sampled_from(contents))
    begin = data.draw(st.integers(0, len(whole)))
    part = whole[begin : begin + data.draw(st.integers(1, 20))]

    found = by_words(db, part, None).pages

    literal = SECTIONS.search(db, part).rows
    assert set(queries.pages_of_sections(db, literal, None).values()) <= found.keys()


# -- by name ---------------------------------------------------------------------------


def test_title_raises_a_page_above_one_that_has_the_words_more_often() -> None:
    db = with_pages(
        {
            "busy.md": "# Busy\n\nThe lending rules, lending rules, lending rules.\n",
            "right.md": "# Lending rules\n\nThe lending rules and much else besides.\n",
        }
    )

    found = signals(db, "lending rules")

    assert found["right.md"] == pytest.approx(1.0)
    assert found["busy.md"] < found["right.md"]


def test_page_called_by_all_words_is_found_although_it_does_not_contain_them() -> None:
    db = with_pages(
        {
            "other.md": "The lending rules are elsewhere.\n",
            "rules.md": "---\ntitle: Lending rules\n---\n\nWho may borrow what.\n",
        }
    )

    found = signals(db, "lending rules")

    assert found == {"rules.md": pytest.approx(1.0), "other.md": pytest.approx(1.0)}


def test_page_is_found_by_its_file_name_and_by_its_tags() -> None:
    db = with_pages(
        {
            "capacity-planning.md": "Nothing of the kind.\n",
            "other.md": "---\ntags: [throughput]\n---\n\nNothing either.\n",
        }
    )

    assert list(signals(db, "capacity planning")) == ["capacity-planning.md"]
    assert list(signals(db, "throughput")) == ["other.md"]


def test_named_page_of_another_type_is_left_out() -> None:
    db = with_pages({"planning.md": "---\ndoc_type: adr\n---\n\nText.\n"})

    assert signals(db, "planning", "spec") == {}
    assert list(signals(db, "planning", "adr")) == ["planning.md"]


def test_page_is_no_longer_found_by_the_title_it_had() -> None:
    db = with_pages({"a.md": "---\ntitle: Ocelot\n---\n\nText.\n"})

    save(db, "a.md", "---\ntitle: Walrus\n---\n\nText.\n")

    assert signals(db, "ocelot") == {}
    assert list(signals(db, "walrus")) == ["a.md"]


def test_page_found_by_its_name_alone_shows_its_first_section() -> None:
    db = with_pages({"walrus.md": "First.\n\n## Second\n\nMore.\n"})

    [found] = by_words(db, "walrus", None).pages.values()

    first = db.execute("SELECT id FROM docs_section WHERE ordinal = 0").get
    assert isinstance(found, PageWords)
    assert [row for row, _ in found.sections] == [first]


def test_a_page_called_by_every_word_stands_beside_the_best_match() -> None:
    db = with_pages(
        {
            "fees.md": "# Late fees\n\nThey are 20 yen a day for late books.",
            "other.md": "Late fees, late fees and again late fees.",
        }
    )

    found = by_words(db, "late fees", None).pages
    named = queries.page_at(db, "fees.md").id

    assert found[named].signal == 1.0


def test_a_page_called_by_every_word_need_not_contain_them_all() -> None:
    db = with_pages(
        {
            "fees.md": "---\ntitle: Late fees\n---\n\nThey are 20 yen for late books.",
            "other.md": "Late fees, late fees and again late fees.",
        }
    )

    found = by_words(db, "late fees", None).pages

    assert found[queries.page_at(db, "fees.md").id].signal == 1.0


# -- in another language ---------------------------------------------------------------

BILINGUAL = {
    "認証.md": "# 認証フロー\n\nセッションはデータベースに保存する。",
    "delivery.md": "# Delivery\n\nA parcel is delivered in three days.",
    "fees.md": "# Fees\n\nA late book costs 20 yen a day.",
}


def test_a_page_in_another_language_is_found_by_its_words() -> None:
    db = with_pages(BILINGUAL)

    assert list(signals(db, "authentication")) == ["認証.md"]
    assert next(iter(signals(db, "荷物の配送"))) == "delivery.md"
    assert by_words(db, "authentication", None).pages.popitem()[1].translated


def test_a_page_in_ones_own_language_with_the_words_comes_before_the_translated() -> (
    None
):
    db = with_pages({**BILINGUAL, "auth.md": "# Authentication\n\nBy password."})

    found = signals(db, "authentication by password")

    assert next(iter(found)) == "auth.md"
    assert "認証.md" not in found


def test_what_contains_the_question_literally_needs_no_dictionary() -> None:
    db = with_pages({"ja.md": "# 手順\n\nまず kubectl delete を実行します。"})

    [found] = by_words(db, "kubectl delete", None).pages.values()

    assert found.signal == 1.0
    assert not found.translated


def test_a_translated_page_is_narrowed_by_its_type_like_any_other() -> None:
    db = with_pages(
        {"a.md": "---\ndoc_type: adr\n---\n# 認証\n\n認証の話。", **BILINGUAL}
    )

    assert set(signals(db, "authentication")) == {"a.md", "認証.md"}
    assert set(signals(db, "authentication", "adr")) == {"a.md"}


def test_the_best_translated_page_stands_to_ones_own_as_its_words_do() -> None:
    db = with_pages(
        {
            "own.md": "# Parcels\n\nA server is not a parcel.",
            "all.md": "# サーバー\n\nサーバーの認証とセッション。",
            "one.md": "# 一覧\n\nセッションの一覧。",
        }
    )

    found = signals(db, "server authentication session")

    assert next(iter(found)) == "all.md"
    assert found["own.md"] < found["all.md"] / 2


def test_a_damaged_dictionary_leaves_search_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    db = with_pages(BILINGUAL)
    monkeypatch.setattr(lookup, "_lines", lambda _: b"")

    assert signals(db, "authentication") == {}
    assert list(signals(db, "delivery")) == ["delivery.md"]

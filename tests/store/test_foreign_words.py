"""Words in another language: what is found through the dictionary, and how far it counts."""

import apsw
import pytest
from databases import fresh, save, with_pages
from hypothesis import given
from strategies import anything

from ubp.packs.docs import queries
from ubp.packs.docs.text_index import PACK_NAME, SECTION_WORDS
from ubp.store.foreign_words import Abroad, abroad, foreign_terms

PAGES = {
    "認証.md": "# 認証フロー\n\nセッションはデータベースに保存する。",
    "配送.md": "# 配送\n\n荷物の配送は三日かかる。SQLite も使う。",
    "delivery.md": "# Delivery\n\nA parcel is delivered in three days.",
    "storage.md": "# Storage\n\nWhere sessions are stored: the database.",
}


@pytest.fixture(scope="module")
def vault() -> apsw.Connection:
    return with_pages(PAGES)


def found(db: apsw.Connection, question: str, limit: int = 10) -> Abroad:
    return abroad(db, SECTION_WORDS, PACK_NAME, question, limit)


def pages(db: apsw.Connection, there: Abroad) -> list[str]:
    """The paths, those with the highest coverage first."""
    best = sorted(there.rows, key=lambda each: -each.coverage)
    of_rows = queries.pages_of_sections(db, [each.row for each in best], None)
    paths = queries.pages(db, set(of_rows.values()))
    return list(dict.fromkeys(paths[of_rows[each.row]].path for each in best))


def names(question: str) -> list[str]:
    return [term.text for term in foreign_terms(question)]


def test_each_word_is_looked_for_under_all_its_names() -> None:
    terms = {term.text: term.match for term in foreign_terms("delete the server")}

    assert list(terms) == ["delete", "server"]
    assert terms["delete"].startswith('"delete" OR ')
    assert '"削除"' in terms["delete"]


def test_a_run_is_looked_for_word_by_word_and_endings_are_no_words() -> None:
    assert names("サーバーを削除する") == ["サーバ", "削除"]


def test_what_no_dictionary_knows_is_still_a_word_of_the_question() -> None:
    assert "kubectl" in names("kubectl delete")
    assert "寿限無寿限無" in names("寿限無寿限無を削除する")


@pytest.mark.parametrize("question", ["", "kubectl", "?!", "のはを", "qwxz 123", "   "])
def test_a_question_without_a_known_word_looks_for_nothing(question: str) -> None:
    assert foreign_terms(question) == []


def test_of_a_question_without_end_the_beginning_is_looked_for() -> None:
    terms = names("サーバーの認証 " + "検索精度の設計を変更する方法" * 100_000)

    assert terms[:2] == ["サーバ", "認証"]
    assert len(terms) <= 32


def test_names_made_of_signs_are_looked_for_too() -> None:
    assert "c" not in names("C++ server")
    assert len(names("C++ server")) == 2


def test_a_page_in_another_language_is_found_by_the_words_it_has_translated() -> None:
    db = with_pages({path: PAGES[path] for path in ("認証.md", "配送.md")})

    there = found(db, "how is authentication done")

    assert pages(db, there) == ["認証.md"]
    assert there.share == 1.0


def test_it_works_the_other_way_round() -> None:
    db = with_pages({path: PAGES[path] for path in ("delivery.md", "storage.md")})

    assert pages(db, found(db, "セッションの保存"))[0] == "storage.md"


def test_what_ones_own_language_has_as_well_is_not_looked_for_abroad(
    vault: apsw.Connection,
) -> None:
    assert found(vault, "delivery").rows == []
    assert found(vault, "配送").rows == []


def test_the_more_ones_own_language_has_the_less_it_counts(
    vault: apsw.Connection,
) -> None:
    alone = with_pages({"認証.md": PAGES["認証.md"]})

    there = found(vault, "authentication database")

    assert pages(vault, there) == ["認証.md"]
    assert 0 < there.share < found(alone, "authentication database").share == 1.0


def test_a_row_in_the_questions_language_gains_nothing_from_foreign_words() -> None:
    text = "# 手順\n\nserver を restart して delete する。日本語の手順書です。"
    db = with_pages({"ja.md": text, "en.md": "# Notes\n\nRestart the server."})

    assert "ja.md" not in pages(db, found(db, "サーバーを再起動する"))


def test_only_rows_that_are_asked_for_are_looked_at(vault: apsw.Connection) -> None:
    rows = [each.row for each in found(vault, "authentication database").rows]

    assert rows
    none = abroad(
        vault, SECTION_WORDS, PACK_NAME, "authentication database", 10, among=[]
    )
    assert none.rows == []


def test_no_more_rows_than_asked_for_and_the_best_of_them() -> None:
    db = fresh()
    for number in range(20):
        save(db, f"{number}.md", f"# {number}\n\n認証の話。")
    save(db, "best.md", "# 認証\n\nサーバーの認証の話。")

    there = found(db, "server authentication", limit=3)

    assert len(there.rows) == 3
    assert pages(db, there)[0] == "best.md"
    assert len(there.all) == 21


@given(anything)
def test_any_question_can_be_asked(vault: apsw.Connection, question: str) -> None:
    there = found(vault, question)

    assert all(0 < each.coverage <= 1 for each in there.rows)
    assert 0 <= there.share <= 1

"""Adding to a full-text index together: the same as one by one, at the end."""

from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from ubp.actors.wiring import prepare_database
from ubp.packs.docs.text_index import SECTIONS
from ubp.store.connection import open_writer, transaction
from ubp.store.fulltext import IndexedText, together


@pytest.fixture
def db(tmp_path: Path) -> apsw.Connection:
    made = open_writer(tmp_path / "index.db")
    prepare_database(made)
    return made


def indexed(db: apsw.Connection, word: str) -> set[int]:
    found = db.execute("SELECT rowid FROM docs_text WHERE docs_text MATCH ?", (word,))
    return {row for (row,) in found}


def text(row: int, word: str) -> IndexedText:
    return IndexedText(row, "", word, word)


def test_what_is_added_inside_is_indexed_at_the_end(db: apsw.Connection) -> None:
    with transaction(db), together(db):
        SECTIONS.add(db, [text(1, "zebra")])
        SECTIONS.add(db, [text(2, "zebra")])
        assert indexed(db, "zebra") == set()

    assert indexed(db, "zebra") == {1, 2}


def test_what_is_removed_after_it_was_added_is_not_indexed(
    db: apsw.Connection,
) -> None:
    with transaction(db), together(db):
        SECTIONS.add(db, [text(1, "zebra"), text(2, "zebra")])
        SECTIONS.remove(db, [1])
        SECTIONS.add(db, [text(1, "horse")])

    assert indexed(db, "zebra") == {2}
    assert indexed(db, "horse") == {1}


def test_a_document_that_fails_leaves_what_others_added(db: apsw.Connection) -> None:
    with transaction(db), together(db):
        SECTIONS.add(db, [text(1, "zebra")])
        with suppress(KeyError), transaction(db), together(db):
            SECTIONS.remove(db, [1])
            SECTIONS.add(db, [text(1, "horse"), text(2, "horse")])
            raise KeyError

    assert indexed(db, "zebra") == {1}
    assert indexed(db, "horse") == set()


def test_nothing_is_indexed_where_the_whole_fails(db: apsw.Connection) -> None:
    with suppress(KeyError), transaction(db), together(db):
        SECTIONS.add(db, [text(1, "zebra")])
        raise KeyError

    assert indexed(db, "zebra") == set()
    with transaction(db):
        SECTIONS.add(db, [text(1, "zebra")])
    assert indexed(db, "zebra") == {1}

"""Readers cannot write, writers do not lose, and SQLite's refusals become ours."""

from pathlib import Path

import apsw
import pytest
from databases import fresh

from ubp.errors import DatabaseError, IndexNotReady
from ubp.store.connection import database_errors, open_reader, open_writer


def test_writer_makes_the_database(tmp_path: Path) -> None:
    db = open_writer(tmp_path / "index.db")

    assert db.pragma("journal_mode") == "wal"
    assert db.pragma("foreign_keys") == 1
    assert (tmp_path / "index.db").exists()


def test_reader_of_no_database_says_the_index_is_not_ready(tmp_path: Path) -> None:
    with pytest.raises(IndexNotReady):
        open_reader(tmp_path / "index.db")

    assert list(tmp_path.iterdir()) == []


def test_reader_cannot_write(tmp_path: Path) -> None:
    fresh(tmp_path / "index.db")
    reader = open_reader(tmp_path / "index.db")

    with pytest.raises(apsw.ReadOnlyError):
        reader.execute("DELETE FROM file")


def test_reader_sees_what_was_committed_and_nothing_else(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "index.db")
    writer.execute("CREATE TABLE t (n)")
    reader = open_reader(tmp_path / "index.db")

    with writer:
        writer.execute("INSERT INTO t VALUES (1)")
        during = list(reader.execute("SELECT n FROM t"))
    after = list(reader.execute("SELECT n FROM t"))

    assert during == []
    assert after == [(1,)]


def test_transaction_takes_the_write_lock_before_it_reads(tmp_path: Path) -> None:
    """Else two that read first and write later could both be refused at the end."""
    first = open_writer(tmp_path / "index.db")
    second = open_writer(tmp_path / "index.db")
    second.set_busy_timeout(0)

    with first:
        first.execute("SELECT 1")
        with pytest.raises(apsw.BusyError):
            second.execute("BEGIN IMMEDIATE")


def test_rows_of_a_deleted_parent_go_with_it() -> None:
    db = open_writer(":memory:")
    db.execute("CREATE TABLE p (id INTEGER PRIMARY KEY)")
    db.execute("CREATE TABLE c (p REFERENCES p (id) ON DELETE CASCADE)")
    db.execute("INSERT INTO p VALUES (1)")
    db.execute("INSERT INTO c VALUES (1)")

    db.execute("DELETE FROM p")

    assert list(db.execute("SELECT * FROM c")) == []


@pytest.mark.parametrize("raw", [b"not a database" * 100, b"SQLite format 3\0broken"])
def test_file_that_is_no_database_is_an_error_of_ours(
    tmp_path: Path, raw: bytes
) -> None:
    (tmp_path / "index.db").write_bytes(raw)

    with pytest.raises(DatabaseError):
        open_writer(tmp_path / "index.db")


def test_folder_in_place_of_the_database_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError):
        open_writer(tmp_path)
    with pytest.raises(DatabaseError):
        open_reader(tmp_path)


def test_refusal_of_sqlite_becomes_ours_and_keeps_its_reason() -> None:
    db = open_writer(":memory:")

    with pytest.raises(DatabaseError) as refused:
        with database_errors():
            db.execute("SELECT * FROM missing")

    assert isinstance(refused.value.__cause__, apsw.SQLError)


def test_interruption_is_not_an_error_of_the_database() -> None:
    with pytest.raises(apsw.InterruptError):
        with database_errors():
            raise apsw.InterruptError


def test_errors_that_are_not_of_sqlite_pass_unchanged() -> None:
    with pytest.raises(KeyError):
        with database_errors():
            raise KeyError

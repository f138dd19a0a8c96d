"""Readers cannot write, writers do not lose, and SQLite's refusals become ours."""

from pathlib import Path

import apsw
import pytest
from databases import fresh

from ubp.errors import DatabaseError, IndexNotReady
from ubp.store.connection import (
    database_errors,
    lasting,
    open_reader,
    open_writer,
    snapshot,
    transaction,
)


def numbers(db: apsw.Connection) -> list[int]:
    return [n for (n,) in db.execute("SELECT n FROM t ORDER BY n")]


@pytest.fixture
def db() -> apsw.Connection:
    """A database with a table of numbers that may not repeat."""
    db = open_writer(":memory:")
    db.execute("CREATE TABLE t (n UNIQUE)")
    return db


def insert_and_fail(db: apsw.Connection, number: int) -> None:
    with transaction(db):
        db.execute("INSERT INTO t VALUES (?)", (number,))
        raise KeyError


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

    with transaction(writer):
        writer.execute("INSERT INTO t VALUES (1)")
        during = numbers(reader)
    after = numbers(reader)

    assert during == []
    assert after == [1]


def test_transaction_takes_the_write_lock_before_it_reads(tmp_path: Path) -> None:
    """Else two that read first and write later could both be refused at the end."""
    first = open_writer(tmp_path / "index.db")
    second = open_writer(tmp_path / "index.db")
    second.set_busy_timeout(0)

    with transaction(first):
        with pytest.raises(apsw.BusyError):
            with transaction(second):
                raise NotImplementedError


def test_transaction_keeps_all_of_what_happens_inside(db: apsw.Connection) -> None:
    with transaction(db):
        db.execute("INSERT INTO t VALUES (1)")
        db.execute("INSERT INTO t VALUES (2)")

    assert numbers(db) == [1, 2]
    assert not db.in_transaction


def test_what_is_nowhere_else_waits_for_the_disk_and_nothing_after_it_does(
    tmp_path: Path,
) -> None:
    db = open_writer(tmp_path / "index.db")
    at_first = db.pragma("synchronous")

    with lasting(db):
        inside = db.pragma("synchronous")
        with lasting(db):
            db.execute("CREATE TABLE kept (n)")
    with pytest.raises(apsw.SQLError), lasting(db):
        db.execute("CREATE TABLE lost (n); SELECT nothing")

    assert inside == 2  # full
    assert db.pragma("synchronous") == at_first == 1
    assert db.execute("SELECT name FROM sqlite_schema").fetchall() == [("kept",)]
    db.close()


def test_failed_transaction_keeps_nothing(db: apsw.Connection) -> None:
    with pytest.raises(KeyError):
        insert_and_fail(db, 1)

    assert numbers(db) == []
    assert not db.in_transaction


def test_transaction_sqlite_rolled_back_itself_ends_with_its_error(
    db: apsw.Connection,
) -> None:
    with pytest.raises(apsw.ConstraintError):
        with transaction(db):
            db.execute("INSERT OR ROLLBACK INTO t VALUES (1), (1)")

    assert numbers(db) == []
    assert not db.in_transaction


def test_failed_part_of_a_transaction_is_taken_back_alone(db: apsw.Connection) -> None:
    with transaction(db):
        db.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(KeyError):
            insert_and_fail(db, 2)
        with transaction(db):
            db.execute("INSERT INTO t VALUES (3)")

    assert numbers(db) == [1, 3]


def test_part_of_a_transaction_goes_with_it(db: apsw.Connection) -> None:
    def insert_in_two_parts() -> None:
        with transaction(db):
            with transaction(db):
                db.execute("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        insert_in_two_parts()

    assert numbers(db) == []


def test_transaction_that_cannot_be_committed_is_over(db: apsw.Connection) -> None:
    db.execute("CREATE TABLE c (n REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)")

    with pytest.raises(apsw.ConstraintError):
        with transaction(db):
            db.execute("INSERT INTO c VALUES (7)")

    assert not db.in_transaction


def test_snapshot_is_one_state_for_everything_inside(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "index.db")
    writer.execute("CREATE TABLE t (n)")
    reader = open_reader(tmp_path / "index.db")

    with snapshot(reader):
        before = numbers(reader)
        writer.execute("INSERT INTO t VALUES (1)")
        inside = numbers(reader)

    assert (before, inside, numbers(reader)) == ([], [], [1])


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

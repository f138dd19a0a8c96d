"""Only a database that is damaged is set aside, and only the one that was reported."""

from pathlib import Path

import pytest

from ubp.store import damage
from ubp.store.connection import open_writer


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "index.db"
    db = open_writer(path)
    db.execute("CREATE TABLE t (x)")
    db.executemany("INSERT INTO t VALUES (?)", [("x" * 1_000,)] * 100)
    db.close()
    return path


def test_a_report_is_of_one_database(database: Path) -> None:
    damage.report(database, damage.identity(database))
    assert damage.reported(database)

    damage.set_aside(database)
    open_writer(database).close()
    assert not damage.reported(database)


def test_a_report_of_one_that_was_replaced_is_none(database: Path) -> None:
    before = damage.identity(database)
    damage.set_aside(database)
    open_writer(database).close()

    damage.report(database, before)

    assert not damage.reported(database)


def test_a_report_can_be_withdrawn(database: Path) -> None:
    damage.report(database, damage.identity(database))

    damage.withdraw(database)
    damage.withdraw(database)

    assert not damage.reported(database)


def test_intact_is_what_sqlite_finds_nothing_wrong_with(database: Path) -> None:
    assert damage.is_intact(database)

    with database.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xff" * 40_000)
    assert not damage.is_intact(database)

    database.write_bytes(b"no database at all" * 100)
    assert not damage.is_intact(database)
    database.unlink()
    assert not damage.is_intact(database)

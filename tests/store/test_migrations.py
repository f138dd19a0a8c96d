"""Numbered SQL files, each applied once, each whole or not at all."""

import shutil
from pathlib import Path

import anyio
import anyio.lowlevel
import apsw
import pytest
from databases import fresh
from vaults import write_files

from ubp.actors.wiring import prepare_database
from ubp.errors import Busy, DatabaseError
from ubp.messages import FileStamp
from ubp.packs import discover
from ubp.store import files
from ubp.store.connection import open_writer
from ubp.store.migrations import CORE, Set, apply, pending
from ubp.store.session import writing

ONE = "CREATE TABLE one (n);"
TWO = "CREATE TABLE two (n); INSERT INTO one VALUES (1);"


def migrations(folder: Path, **files: str) -> Set:
    """The migrations of one owner, from texts named by their numbers."""
    write_files(
        folder, {f"{name.removeprefix('n')}.sql": sql for name, sql in files.items()}
    )
    return Set("test", folder)


def applied(db: apsw.Connection) -> list[tuple[str, int, str]]:
    return list(
        db.execute("SELECT owner, number, name FROM migration ORDER BY owner, number")
    )


def tables(db: apsw.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}


def test_migrations_are_applied_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    db = open_writer(":memory:")

    apply(db, [migrations(tmp_path, n0002_b=TWO, n0001_a=ONE)])

    assert applied(db) == [("test", 1, "0001_a"), ("test", 2, "0002_b")]
    assert list(db.execute("SELECT n FROM one")) == [(1,)]


def test_migrations_are_applied_once(tmp_path: Path) -> None:
    db = open_writer(":memory:")
    apply(db, [migrations(tmp_path, n0001_a=ONE)])

    later = migrations(tmp_path, n0001_a=ONE, n0002_b=TWO)
    assert [number for number, _ in pending(db, later)] == [2]
    apply(db, [later])
    apply(db, [later])

    assert list(pending(db, later)) == []
    assert list(db.execute("SELECT n FROM one")) == [(1,)]


def test_each_owner_has_its_own_numbers(tmp_path: Path) -> None:
    db = open_writer(":memory:")
    mine = Set("mine", migrations(tmp_path / "a", n0001_a=ONE).folder)
    yours = Set("yours", migrations(tmp_path / "b", n0001_b=TWO).folder)

    apply(db, [mine, yours])

    assert applied(db) == [("mine", 1, "0001_a"), ("yours", 1, "0001_b")]


def test_failed_migration_leaves_nothing_and_names_itself(tmp_path: Path) -> None:
    db = open_writer(":memory:")
    broken = migrations(
        tmp_path, n0001_a=ONE, n0002_b="CREATE TABLE two (n); SELECT * FROM missing;"
    )

    with pytest.raises(DatabaseError) as failed:
        apply(db, [broken])

    assert "0002_b" in failed.value.message
    assert applied(db) == [("test", 1, "0001_a")]
    assert "two" not in tables(db)


def test_failed_migration_is_tried_again_when_it_is_corrected(tmp_path: Path) -> None:
    db = open_writer(":memory:")
    with pytest.raises(DatabaseError):
        apply(db, [migrations(tmp_path, n0001_a="CREATE TABLE;")])

    apply(db, [migrations(tmp_path, n0001_a=ONE)])

    assert "one" in tables(db)


def test_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    db = open_writer(":memory:")
    apply(db, [migrations(tmp_path / "new", n0001_a=ONE, n0002_b=TWO)])

    with pytest.raises(DatabaseError) as refused:
        apply(db, [migrations(tmp_path / "old", n0001_a=ONE)])

    assert refused.value.hint != DatabaseError.hint


def test_migration_another_process_was_quicker_with_is_no_failure(
    tmp_path: Path,
) -> None:
    db = open_writer(tmp_path / "index.db")
    other = open_writer(tmp_path / "index.db")
    both = migrations(tmp_path, n0001_a=ONE, n0002_b=TWO)
    begun = 0

    def overtake(event: dict[str, str]) -> None:
        nonlocal begun
        begun += event["sql"].startswith("BEGIN")
        if begun == 2:  # the first is for the table of migrations
            db.trace_v2(0, None)
            apply(other, [both])

    db.trace_v2(apsw.SQLITE_TRACE_STMT, overtake)
    apply(db, [both])

    assert begun == 2
    assert applied(db) == [("test", 1, "0001_a"), ("test", 2, "0002_b")]
    assert list(db.execute("SELECT n FROM one")) == [(1,)]


async def test_waiting_for_another_process_leaves_the_event_loop_running(
    tmp_path: Path,
) -> None:
    """A thread that waits for the lock must let the others run meanwhile."""
    other = open_writer(tmp_path / "index.db")
    other.execute("BEGIN IMMEDIATE")
    turns = 0

    async with writing(tmp_path / "index.db") as session:
        await session.run(apsw.Connection.set_busy_timeout, 400)
        async with anyio.create_task_group() as group:

            async def prepare() -> None:
                with pytest.raises(Busy):
                    await session.run(prepare_database)
                group.cancel_scope.cancel()

            group.start_soon(prepare)
            while True:
                await anyio.lowlevel.checkpoint()
                turns += 1

    assert turns > 100


async def test_preparing_waits_for_another_process_to_finish(tmp_path: Path) -> None:
    other = open_writer(tmp_path / "index.db")
    other.execute("BEGIN IMMEDIATE")

    async with writing(tmp_path / "index.db") as session:
        await session.run(apsw.Connection.set_busy_timeout, 50)
        async with anyio.create_task_group() as group:
            group.start_soon(session.write, prepare_database)
            await anyio.sleep(0.2)
            other.execute("COMMIT")

        assert await session.run(tables)


def test_files_an_older_version_knew_are_found_by_their_content(tmp_path: Path) -> None:
    for file in ("0001_files.sql", "0002_vectors.sql"):
        shutil.copy(CORE.folder / file, tmp_path)
    db = open_writer(":memory:")
    apply(db, [Set("core", tmp_path)])
    files.remember(db, "docs", "a.md", FileStamp(1, 2, 3), "digest", [])

    apply(db, [CORE])

    assert files.same_content(db, "docs", "b.md", "digest") == ["a.md"]


def test_every_table_of_a_pack_begins_with_its_name() -> None:
    db = fresh()
    core = {"file", "file_by_digest", "failure", "warning", "migration", "reading"}
    core |= {"model", "passage", "vector", "slot", "vector_block", "vector_data"}
    core |= {"vector_counter", "model_state", "passage_state", "passage_waiting"}
    core |= {"mention"}
    packs = tuple(f"{pack.name}_" for pack in discover())

    strangers = [
        name
        for name in tables(db)
        if name not in core and not name.startswith((*packs, "sqlite_"))
    ]
    assert strangers == []

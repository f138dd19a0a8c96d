"""SQL in a thread, one function at a time, interrupted when nobody waits for it."""

import threading
from pathlib import Path

import anyio
import anyio.from_thread
import apsw
import pytest
from databases import fresh

from ubp.errors import DatabaseError, IndexNotReady
from ubp.store.session import Session, reading, writing

# Some seconds of work, so that a query nobody interrupts fails its test in time.
LONG = """
    WITH RECURSIVE n (i) AS
        (SELECT started() UNION ALL SELECT i + 1 FROM n WHERE i < 30000000)
    SELECT count(*) FROM n
"""


def add(db: apsw.Connection, left: int, *, right: int) -> int:
    [(total,)] = db.execute("SELECT ? + ?", (left, right))
    return int(total)


def numbers(db: apsw.Connection) -> list[int]:
    return [n for (n,) in db.execute("SELECT n FROM t ORDER BY n")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one table."""
    db = fresh(tmp_path / "index.db")
    db.execute("CREATE TABLE t (n)")
    db.close()
    return tmp_path / "index.db"


async def test_function_gets_the_connection_and_its_arguments(path: Path) -> None:
    async with reading(path) as session:
        assert await session.run(add, 1, right=2) == 3


async def test_functions_run_outside_the_event_loop(path: Path) -> None:
    def where(_: apsw.Connection) -> int:
        return threading.get_ident()

    async with reading(path) as session:
        assert await session.run(where) != threading.get_ident()


async def test_what_a_writer_commits_a_reader_sees(path: Path) -> None:
    def insert(db: apsw.Connection) -> None:
        db.execute("INSERT INTO t VALUES (7)")

    async with writing(path) as writer, reading(path) as reader:
        assert await reader.run(numbers) == []
        await writer.run(insert)
        assert await reader.run(numbers) == [7]


async def test_reader_cannot_write(path: Path) -> None:
    async with reading(path) as session:
        with pytest.raises(DatabaseError):
            await session.run(lambda db: db.execute("DELETE FROM t"))


async def test_reader_sees_one_state_from_first_statement_to_last(path: Path) -> None:
    other = fresh(path)

    def look_twice(db: apsw.Connection) -> tuple[list[int], list[int]]:
        before = numbers(db)
        other.execute("INSERT INTO t VALUES (1)")
        return before, numbers(db)

    async with reading(path) as session:
        assert await session.run(look_twice) == ([], [])
        assert await session.run(numbers) == [1]


async def test_reading_before_there_is_a_database_is_not_ready(tmp_path: Path) -> None:
    with pytest.raises(IndexNotReady):
        async with reading(tmp_path / "missing.db"):
            raise NotImplementedError


async def test_refusal_of_sqlite_is_an_error_of_ours(path: Path) -> None:
    async with reading(path) as session:
        with pytest.raises(DatabaseError):
            await session.run(lambda db: db.execute("SELECT * FROM missing"))

        assert await session.run(add, 1, right=1) == 2


async def test_error_of_the_function_arrives_as_it_was_raised(path: Path) -> None:
    def fail(_: apsw.Connection) -> None:
        raise KeyError

    async with reading(path) as session:
        with pytest.raises(KeyError):
            await session.run(fail)


async def test_failed_read_does_not_keep_its_snapshot(path: Path) -> None:
    def fail(db: apsw.Connection) -> None:
        numbers(db)
        raise KeyError

    other = fresh(path)
    async with reading(path) as session:
        with pytest.raises(KeyError):
            await session.run(fail)
        other.execute("INSERT INTO t VALUES (1)")

        assert await session.run(numbers) == [1]


async def test_one_function_at_a_time_uses_the_connection(path: Path) -> None:
    held, release, order = threading.Event(), threading.Event(), []

    def first(db: apsw.Connection) -> None:
        held.set()
        release.wait(5)
        order.append(add(db, 1, right=0))

    def second(db: apsw.Connection) -> None:
        order.append(add(db, 2, right=0))

    async with reading(path) as session, anyio.create_task_group() as group:
        group.start_soon(session.run, first)
        await anyio.to_thread.run_sync(held.wait, 5)
        group.start_soon(session.run, second)
        await anyio.wait_all_tasks_blocked()
        assert session._turn.statistics().tasks_waiting == 1
        release.set()

    assert order == [1, 2]


async def cancelled_while_running(session: Session) -> list[str]:
    """How a query ended whose caller was cancelled in the middle of it."""
    running = anyio.Event()
    ends: list[str] = []

    def count(db: apsw.Connection) -> None:
        def started(*_: object) -> int:
            anyio.from_thread.run_sync(running.set)
            return 1

        db.create_scalar_function("started", started, 0)
        db.execute(LONG).fetchall()
        ends.append("finished")

    async def ask() -> None:
        try:
            await session.run(count)
        except Exception as error:  # noqa: BLE001 - the caller asserts what it is
            ends.append(type(error).__name__)

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await running.wait()
        group.cancel_scope.cancel()
    return ends


async def test_cancelled_query_is_cancelled_and_neither_finished_nor_failed(
    path: Path,
) -> None:
    async with reading(path) as session:
        assert await cancelled_while_running(session) == []


async def test_session_lives_on_after_a_cancelled_query(path: Path) -> None:
    async with reading(path) as session:
        await cancelled_while_running(session)

        assert await session.run(add, 1, right=1) == 2


async def test_session_is_closed_on_leaving(path: Path) -> None:
    async with reading(path) as session:
        pass

    with pytest.raises(DatabaseError):
        await session.run(add, 1, right=1)


async def test_session_is_closed_although_its_user_is_cancelled(path: Path) -> None:
    sessions: list[Session] = []

    async with anyio.create_task_group() as group:

        async def use() -> None:
            async with writing(path) as session:
                sessions.append(session)
                group.cancel_scope.cancel()
                await anyio.sleep_forever()

        group.start_soon(use)

    [session] = sessions
    with pytest.raises(DatabaseError):
        await session.run(add, 1, right=1)
    # The last connection tidies up on closing; an open one would leave its log.
    assert [file.name for file in path.parent.iterdir()] == [path.name]

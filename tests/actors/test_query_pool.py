"""The query pool and the boundary around tools."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from models import NoMeaning
from msgspec import Struct
from waiting import until

from ubp.actors.ports import Call, Outbox, ask, channel
from ubp.actors.query_pool import QueryPool
from ubp.actors.tool_runner import ToolRunner
from ubp.errors import Busy, DatabaseError, InternalError
from ubp.messages import RunTool
from ubp.project import open_project
from ubp.store.session import reading, writing
from ubp.toolkit import Context, Effect, ErrorStyle, Pack, tool

ENDLESS = """
    WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n)
    SELECT count(*) FROM n
"""


class Nothing(Struct, frozen=True):
    """Takes nothing."""


class Number(Struct, frozen=True):
    """A number."""

    value: int


@tool("test_one", Effect.READ)
async def one(ctx: Context, args: Nothing) -> Number:
    del args
    return Number(await ctx.db.run(lambda db: db.execute("SELECT 1").get))


@tool("test_endless", Effect.READ)
async def endless(ctx: Context, args: Nothing) -> Number:
    del args
    return Number(await ctx.db.run(lambda db: db.execute(ENDLESS).get))


@tool("test_bug", Effect.READ)
async def bug(ctx: Context, args: Nothing) -> Number:
    del ctx, args
    raise KeyError("a bug")


@tool("test_write", Effect.READ)
async def write(ctx: Context, args: Nothing) -> Number:
    """Claims to read, and writes."""
    del args
    return Number(await ctx.db.run(_create))


def _create(db: apsw.Connection) -> int:
    db.execute("CREATE TABLE t (x)")
    return 1


PACK = Pack(
    "test", "tests", (one, endless, bug, write), ErrorStyle.CODES, Path("/nowhere")
)


@asynccontextmanager
async def pool(
    root: Path, workers: int = 1
) -> AsyncIterator[Outbox[Call[RunTool, Any]]]:
    project = open_project(root)
    project.prepare()
    async with writing(project.database):
        pass
    calls, inbox = channel[Call[RunTool, Any]](8)
    async with AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(reading(project.database))
            for _ in range(workers)
        ]
        runner = ToolRunner(project, [PACK], NoMeaning())
        actor = QueryPool(inbox, sessions=sessions, runner=runner)
        async with anyio.create_task_group() as group:
            group.start_soon(actor.run)
            with calls, inbox:
                yield calls
                group.cancel_scope.cancel()


def request(name: str) -> RunTool:
    return RunTool(name, Nothing(), "r")


async def test_a_call_is_answered(tmp_path: Path) -> None:
    async with pool(tmp_path) as calls:
        assert await ask(calls, request("test_one"), within=5) == Number(1)


async def test_a_bug_in_a_tool_is_internal_and_the_pool_goes_on(tmp_path: Path) -> None:
    async with pool(tmp_path) as calls:
        with pytest.raises(InternalError):
            await ask(calls, request("test_bug"), within=5)

        assert await ask(calls, request("test_one"), within=5) == Number(1)


async def test_a_query_past_its_deadline_is_interrupted(tmp_path: Path) -> None:
    """With one worker, an endless query that was only abandoned would block it."""
    async with pool(tmp_path, workers=1) as calls:
        with pytest.raises(Busy):
            await ask(calls, request("test_endless"), within=0.2)

        assert await ask(calls, request("test_one"), within=10) == Number(1)


async def test_a_slow_query_does_not_hold_up_another_worker(tmp_path: Path) -> None:
    async with pool(tmp_path, workers=2) as calls:
        async with anyio.create_task_group() as group:

            async def slow() -> None:
                with pytest.raises(Busy):
                    await ask(calls, request("test_endless"), within=3)

            group.start_soon(slow)
            await anyio.wait_all_tasks_blocked()

            assert await ask(calls, request("test_one"), within=2) == Number(1)
            group.cancel_scope.cancel()


async def test_a_reading_tool_that_writes_is_refused_by_sqlite(tmp_path: Path) -> None:
    async with pool(tmp_path) as calls:
        with pytest.raises(DatabaseError):
            await ask(calls, request("test_write"), within=5)


async def test_a_cancelled_caller_frees_its_worker(tmp_path: Path) -> None:
    async with pool(tmp_path, workers=1) as calls:
        with anyio.move_on_after(0.2):
            await ask(calls, request("test_endless"), within=60)

        async def free() -> bool:
            return bool(await ask(calls, request("test_one"), within=10) == Number(1))

        await until(free)

"""Calls that take long: signs of life, and an end when nobody waits any more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import apsw
import pytest
from hearing import ERAS, Era
from mcp import Client
from msgspec import Struct
from services import answering
from vaults import vault

from ubp.packs.docs import PACK
from ubp.toolkit import Context, Effect, ErrorStyle, Pack, tool

pytestmark = pytest.mark.parametrize("era", ERAS)

ENDLESS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n
"""
begun: list[anyio.Event] = []
ended: list[anyio.Event] = []


class Search(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Search without an end."""


class Found(Struct, frozen=True):
    """Nothing, ever."""


def _endless(db: apsw.Connection) -> Found:
    db.execute(ENDLESS).fetchall()
    return Found()


@tool("endless", Effect.READ)
async def endless(ctx: Context, args: Search) -> Found:
    del args
    begun[-1].set()
    try:
        return await ctx.db.run(_endless)
    finally:
        ended[-1].set()


SLOW = Pack(
    name="slow",
    summary="what never ends",
    tools=(endless,),
    errors=ErrorStyle.CODES,
    migrations=Path(__file__).parent / "none",
)


@asynccontextmanager
async def connected(root: Path, era: Era) -> AsyncIterator[Client]:
    begun.append(anyio.Event())
    ended.append(anyio.Event())
    async with answering(vault(root, {}), [PACK, SLOW]) as it:
        async with it.client(mode=era) as client:
            yield client


async def test_a_call_that_is_cancelled_stops_its_statement(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "endless", {})
                await begun[-1].wait()
                tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await ended[-1].wait()
            answer = await client.call_tool("ubp_list_pages", {})
        assert not answer.is_error


async def test_a_client_that_wants_it_hears_that_a_call_goes_on(
    tmp_path: Path, era: Era
) -> None:
    heard = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del message
        assert progress > 0
        assert total is None
        heard.set()

    async def ask(client: Client) -> None:
        await client.call_tool("endless", {}, progress_callback=hear)

    async with connected(tmp_path, era) as client:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, client)
                await heard.wait()
                tasks.cancel_scope.cancel()

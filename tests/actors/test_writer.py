"""The writer: whole documents, or none of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec
from msgspec import Struct

from ubp.actors.ports import Call, Outbox, ask, channel
from ubp.actors.progress import Progress
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.wiring import prepare_database
from ubp.actors.writer import Writer
from ubp.messages import (
    FileGone,
    FileParsed,
    FileStamp,
    IndexEvent,
    RunTool,
    ScanFinished,
    Warned,
)
from ubp.packs import discover
from ubp.packs.docs import queries
from ubp.packs.docs.records import read_page
from ubp.project import open_project
from ubp.store import files
from ubp.store.session import Session, writing
from ubp.toolkit import Context, Effect, ErrorStyle, FileText, Pack, tool

STAMP = FileStamp(1, 2, 3)


class Nothing(Struct, frozen=True):
    """Takes nothing."""


@tool("test_add", Effect.ADD)
async def add(ctx: Context, args: Nothing) -> Nothing:
    await ctx.db.run(lambda db: db.execute("CREATE TABLE added (x)").get)
    return args


class Rig(NamedTuple):
    """A writer whose neighbours are played by the test."""

    events: Outbox[IndexEvent]
    calls: Outbox[Call[RunTool, Any]]
    session: Session
    progress: Progress
    root: Path

    def parsed(self, path: str, text: str) -> FileParsed:
        record, warnings = read_page(FileText(path, text, open_project(self.root)))
        encoded = msgspec.msgpack.encode(record)
        return FileParsed("docs", path, STAMP, "digest", encoded, tuple(warnings))


@asynccontextmanager
async def running(root: Path) -> AsyncIterator[Rig]:
    project = open_project(root)
    project.prepare()
    tools = Pack("test", "tests", (add,), ErrorStyle.CODES, Path("/nowhere"))
    events, inbox = channel[IndexEvent](64)
    calls, call_inbox = channel[Call[RunTool, Any]](4)
    progress = Progress()
    async with writing(project.database) as session:
        await session.run(prepare_database)
        writer = Writer(
            inbox,
            call_inbox,
            session=session,
            packs=discover(),
            runner=ToolRunner(project, [tools]),
            progress=progress,
        )
        with events, calls, inbox, call_inbox:
            async with anyio.create_task_group() as group:
                group.start_soon(writer.run)
                yield Rig(events, calls, session, progress, root)
                events.close()
                calls.close()


async def test_documents_are_stored_and_links_settled(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "[[b]] [[nowhere]]"))
        await rig.events.send(rig.parsed("b.md", "text"))
        await rig.events.send(ScanFinished(2, 2, 0))
        await settled(rig)

        assert await rig.session.run(queries.counts) == queries.Counts(2, 2, 2, 1)


async def test_a_document_that_cannot_be_stored_is_a_failure_of_its_own(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as rig:
        broken = FileParsed("docs", "broken.md", STAMP, "digest", b"\xc1 no record")
        await rig.events.send(rig.parsed("a.md", "text"))
        await rig.events.send(broken)
        await rig.events.send(rig.parsed("b.md", "text"))
        await rig.events.send(ScanFinished(3, 3, 0))
        await settled(rig)

        assert (await rig.session.run(queries.counts)).pages == 2
        [failure] = await rig.session.run(files.failures)
        assert failure.path == "broken.md"


async def test_what_is_gone_is_forgotten_with_its_warnings(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        parsed = rig.parsed("a.md", "text")
        warned = msgspec.structs.replace(parsed, warnings=(Warned("kind", "text"),))
        await rig.events.send(warned)
        await rig.events.send(FileGone("docs", "a.md"))
        await rig.events.send(ScanFinished(0, 0, 1))
        await settled(rig)

        assert (await rig.session.run(queries.counts)).pages == 0
        assert await rig.session.run(files.warnings) == []
        assert await rig.session.run(files.known, "docs") == {}


async def test_a_tool_that_writes_runs_on_the_writing_connection(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as rig:
        await ask(rig.calls, RunTool("test_add", Nothing(), "r"), within=10)

        sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'added'"
        assert await rig.session.run(lambda db: db.execute(sql).get) == 1


async def settled(rig: Rig) -> None:
    with anyio.fail_after(20):
        while not rig.progress.settled:
            await anyio.sleep(0.01)

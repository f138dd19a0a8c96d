"""The writer: whole documents, or none of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec
import numpy as np
import pytest
from models import NoMeaning
from msgspec import Struct
from structlog.testing import capture_logs
from waiting import PATIENCE, soon

from ubp.actors import writer as writer_module
from ubp.actors.ports import Call, Inbox, Outbox, ask, channel
from ubp.actors.progress import Progress
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.wiring import prepare_database
from ubp.actors.writer import Writer
from ubp.errors import ModelUnusable
from ubp.messages import (
    AimAt,
    FileGone,
    FileParsed,
    FileStamp,
    IndexEvent,
    Known,
    MadeVectors,
    ModelCompleted,
    ParseFailed,
    RunTool,
    ScanFinished,
    TextsChanged,
    VectorChange,
    VectorsMade,
    Warned,
)
from ubp.packs import discover
from ubp.packs.docs import queries
from ubp.packs.docs.records import read_page
from ubp.project import open_project
from ubp.reading.walk import stamp_of
from ubp.store import connection, files, vectors
from ubp.store import session as store_session
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
    changes: Outbox[Call[VectorChange, Any]]
    nudges: Inbox[TextsChanged]
    session: Session
    progress: Progress
    root: Path

    def parsed(
        self, path: str, text: str, stamp: FileStamp = STAMP, digest: str = "digest"
    ) -> FileParsed:
        record, warnings = read_page(FileText(path, text, open_project(self.root)))
        encoded = msgspec.msgpack.encode(record)
        return FileParsed("docs", path, stamp, digest, encoded, tuple(warnings))


@asynccontextmanager
async def running(root: Path) -> AsyncIterator[Rig]:
    project = open_project(root)
    project.prepare()
    tools = Pack("test", "tests", (add,), ErrorStyle.CODES, Path("/nowhere"))
    events, inbox = channel[IndexEvent](64)
    calls, call_inbox = channel[Call[RunTool, Any]](4)
    changes, change_inbox = channel[Call[VectorChange, Any]](1)
    embedder, nudges = channel[TextsChanged](1)
    progress = Progress()
    async with writing(project.database) as session:
        await session.run(prepare_database)
        writer = Writer(
            inbox,
            call_inbox,
            change_inbox,
            embedder,
            session=session,
            packs=discover(),
            runner=ToolRunner(project, [tools], NoMeaning()),
            progress=progress,
            folders={"docs": root},
        )
        with (
            events,
            calls,
            changes,
            inbox,
            call_inbox,
            change_inbox,
            embedder,
            nudges,
        ):
            async with anyio.create_task_group() as group:
                group.start_soon(writer.run)
                yield Rig(events, calls, changes, nudges, session, progress, root)
                events.close()
                calls.close()
                changes.close()


async def test_documents_are_stored_and_links_settled(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "[[b]] [[nowhere]]"))
        await rig.events.send(rig.parsed("b.md", "text"))
        await rig.events.send(ScanFinished(2, 2, 0))
        await settled(rig)

        assert await rig.session.run(queries.counts) == queries.Counts(2, 2, 2, 1)


async def test_old_text_is_not_stored_over_what_is_on_disk(tmp_path: Path) -> None:
    """Another process may have been quicker with what was written later."""
    (tmp_path / "a.md").write_text("new", encoding="utf-8")
    now = stamp_of((tmp_path / "a.md").stat())
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "new", now, "new"))
        await rig.events.send(rig.parsed("a.md", "old", STAMP, "old"))
        await rig.events.send(ParseFailed("docs", "a.md", "Older still.", STAMP))
        await rig.events.send(ScanFinished(1, 1, 0))
        await settled(rig)

        known = await rig.session.run(files.known, "docs")
        assert known == {"a.md": Known(now, "new")}


async def test_text_that_is_old_by_now_is_stored_until_there_is_newer(
    tmp_path: Path,
) -> None:
    """A file that is always being written would be in no index otherwise."""
    (tmp_path / "a.md").write_text("newest", encoding="utf-8")
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "older", FileStamp(1, 1, 1), "older"))
        await rig.events.send(rig.parsed("a.md", "old", STAMP, "old"))
        await rig.events.send(ScanFinished(1, 1, 0))
        await settled(rig)

        known = await rig.session.run(files.known, "docs")
        assert known == {"a.md": Known(STAMP, "old")}


async def test_another_process_may_write_for_as_long_as_it_likes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 1)
    monkeypatch.setattr(store_session, "_TURNS", 1)
    monkeypatch.setattr(writer_module, "_NO_ROOM", 0.01)
    with capture_logs() as logs:
        async with running(tmp_path) as rig:
            other = connection.open_writer(tmp_path / ".ubp/index.db")
            other.execute("BEGIN IMMEDIATE")
            await rig.events.send(rig.parsed("a.md", "text"))
            await rig.events.send(ScanFinished(1, 1, 0))
            with anyio.fail_after(PATIENCE):
                while not any(log["event"] == "index.no_room" for log in logs):
                    await anyio.sleep(0.01)
            other.execute("ROLLBACK")
            other.close()
            await settled(rig)
            assert (await rig.session.run(queries.counts)).pages == 1


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
    with anyio.fail_after(PATIENCE):
        while not rig.progress.settled:
            await anyio.sleep(0.01)


# -- the embedder beside it ------------------------------------------------------------


def vector(*values: float) -> bytes:
    return np.array(values, np.float32).tobytes()


def aimed(identity: str = "m@1") -> AimAt:
    return AimAt(identity, "m", "{}", ("en",))


async def change(rig: Rig, wanted: VectorChange) -> Any:
    return await ask(rig.changes, wanted, within=PATIENCE)


async def test_stored_texts_nudge_the_embedder_which_finds_them_waiting(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "text"))

        assert await soon(rig.nudges) == TextsChanged()
        model = await change(rig, aimed())
        [waiting] = await rig.session.run(vectors.waiting, model, 10)
        assert waiting.pack == "docs"


async def test_a_tool_that_writes_nudges_the_embedder(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        await ask(rig.calls, RunTool("test_add", Nothing(), "r"), within=PATIENCE)

        assert await soon(rig.nudges) == TextsChanged()


async def test_a_tool_may_write_after_the_last_file(tmp_path: Path) -> None:
    async with running(tmp_path) as rig:
        rig.events.close()
        with anyio.fail_after(PATIENCE):
            assert [each async for each in rig.nudges] == []

        await ask(rig.calls, RunTool("test_add", Nothing(), "r"), within=PATIENCE)

        sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'added'"
        assert await rig.session.run(lambda db: db.execute(sql).get) == 1


async def test_nudges_nobody_takes_do_not_stop_the_writer(tmp_path: Path) -> None:
    """The edge of the cycle that cannot block."""
    async with running(tmp_path) as rig:
        for number in range(300):
            await rig.events.send(rig.parsed(f"{number}.md", "text"))
        await rig.events.send(ScanFinished(300, 300, 0))
        await settled(rig)

        assert rig.nudges.statistics().current_buffer_used == 1


async def test_vectors_are_stored_and_texts_without_any_wait_no_longer(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "alpha"))
        await rig.events.send(rig.parsed("b.md", "beta"))
        await rig.events.send(ScanFinished(2, 2, 0))
        await settled(rig)
        model = await change(rig, aimed())
        one, other = await rig.session.run(vectors.waiting, model, 10)

        made = MadeVectors(*one, (vector(1, 0), vector(0, 1)))
        await change(rig, VectorsMade(model.id, (made, MadeVectors(*other, ()))))

        assert await rig.session.run(vectors.waiting, model, 10) == []
        now = await rig.session.run(vectors.progress)
        assert (now.completed, now.skipped, now.total) == (1, 1, 2)
        assert await change(rig, ModelCompleted()) is False


async def test_vectors_that_do_not_fit_are_refused_and_the_writer_goes_on(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "alpha"))
        await rig.events.send(ScanFinished(1, 1, 0))
        await settled(rig)
        model = await change(rig, aimed())
        [entry] = await rig.session.run(vectors.waiting, model, 10)

        with pytest.raises(ModelUnusable):
            await change(
                rig, VectorsMade(model.id, (MadeVectors(*entry, (vector(0, 0),)),))
            )

        assert await rig.session.run(vectors.waiting, model, 10) == [entry]
        good = MadeVectors(*entry, (vector(0, 1),))
        await change(rig, VectorsMade(model.id, (good,)))
        assert await rig.session.run(vectors.waiting, model, 10) == []


async def test_the_end_of_files_is_told_to_the_embedder_whose_last_vectors_are_stored(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as rig:
        await rig.events.send(rig.parsed("a.md", "alpha"))
        rig.events.close()
        with anyio.fail_after(PATIENCE):
            assert [TextsChanged()] == [each async for each in rig.nudges]

        model = await change(rig, aimed())
        [entry] = await rig.session.run(vectors.waiting, model, 10)
        await change(
            rig, VectorsMade(model.id, (MadeVectors(*entry, (vector(0, 1),)),))
        )

        assert (await rig.session.run(vectors.progress)).completed == 1

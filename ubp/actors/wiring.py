"""Makes the channels, connects the actors, starts and stops the service.

The only file that knows the whole graph:

    watcher ─► parser ─► writer            files on their way into the index
    protocol ─► query pool                 calls that read
    protocol ─► writer                     calls that write
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import apsw

from ubp.actors.parser import Parser
from ubp.actors.ports import Call, Outbox, channel
from ubp.actors.progress import Progress
from ubp.actors.query_pool import QueryPool
from ubp.actors.reading_process import ReadingProcess
from ubp.actors.supervisor import supervise
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.watcher import Scan, Watcher
from ubp.actors.writer import Writer
from ubp.messages import FileEvent, IndexEvent, RunTool
from ubp.packs import discover
from ubp.project import Project
from ubp.store import migrations
from ubp.store.session import Session, reading, writing
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = ("Service", "index_once", "prepare_database", "serving", "writable")

log = get_logger("wiring")

WATCHER_TO_PARSER = 256
"""One burst of a branch switch; when full the watcher waits."""

PARSER_TO_WRITER = 64
"""About one transaction; when full the parser waits, so memory stays flat."""

PROTOCOL_TO_POOL = 32
"""More would only be latency; when full the caller waits until its deadline."""

PROTOCOL_TO_WRITER = 32
"""The same."""

READERS = 4
"""Connections that answer queries: enough that a slow one does not hold up the rest."""

FORGIVEN = 3
"""Crashes within half a minute after which an actor is still started again."""

STOP_WITHIN = 2.5
"""Seconds an orderly stop may take before everything is cancelled."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, as the protocol sees it."""

    reads: Outbox[Call[RunTool, Any]]
    writes: Outbox[Call[RunTool, Any]]
    progress: Progress


@asynccontextmanager
async def serving(project: Project, packs: Sequence[Pack]) -> AsyncIterator[Service]:
    """The service, from the first comparison until the block is left.

    Leaving stops it in order: no more calls, no more files, what is read is stored,
    and the database is closed. What does not end in time is cancelled; the index is
    intact either way.
    """
    stop = anyio.Event()
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(writable(project))
        readers = [
            await stack.enter_async_context(reading(project.database))
            for _ in range(READERS + 1)
        ]
        progress = Progress()
        writes, pipeline = _pipeline(
            project, packs, writer, readers.pop(), Scan(), stop, progress
        )
        reads, inbox = channel[Call[RunTool, Any]](PROTOCOL_TO_POOL)
        runner = ToolRunner(project, packs)
        pool = QueryPool(inbox, sessions=readers, runner=runner)
        async with anyio.create_task_group() as group:
            for actor, forgiven in (*pipeline, (pool, FORGIVEN)):
                group.start_soon(partial(supervise, actor, forgiven=forgiven))
            try:
                yield Service(reads, writes, progress)
            finally:
                log.debug("serve.stopping")
                stop.set()
                reads.close()
                writes.close()
                group.cancel_scope.deadline = anyio.current_time() + STOP_WITHIN


async def index_once(
    project: Project, packs: Sequence[Pack], scan: Scan, progress: Progress
) -> None:
    """Bring the index in line with the disk, and end."""
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(writable(project))
        reader = await stack.enter_async_context(reading(project.database))
        writes, pipeline = _pipeline(
            project, packs, writer, reader, scan, anyio.Event(), progress
        )
        writes.close()
        async with anyio.create_task_group() as group:
            for actor, _ in pipeline:
                group.start_soon(partial(supervise, actor, forgiven=0))


def prepare_database(db: apsw.Connection) -> None:
    """Bring the schema up to date; of every pack, so enabling one needs nothing."""
    sets = [migrations.Set(pack.name, pack.migrations) for pack in discover()]
    migrations.apply(db, [migrations.CORE, *sets])


@asynccontextmanager
async def writable(project: Project) -> AsyncIterator[Session]:
    """A session that may write, with the schema up to date."""
    await anyio.to_thread.run_sync(project.prepare)
    async with writing(project.database) as session:
        await session.write(prepare_database)
        yield session


_Pipeline = list[tuple[Watcher | Parser | Writer, int]]
"""The actors between the files and the database, and the crashes each is forgiven."""


def _pipeline(
    project: Project,
    packs: Sequence[Pack],
    writer: Session,
    reader: Session,
    scan: Scan,
    stop: anyio.Event,
    progress: Progress,
) -> tuple[Outbox[Call[RunTool, Any]], _Pipeline]:
    """The pipeline, connected, and the outbox of calls to the writer."""
    to_parser, parser_inbox = channel[FileEvent](WATCHER_TO_PARSER)
    to_writer, writer_inbox = channel[IndexEvent](PARSER_TO_WRITER)
    writes, writer_calls = channel[Call[RunTool, Any]](PROTOCOL_TO_WRITER)
    readings = {p.name: p.reading for p in packs if p.reading is not None}
    watcher = Watcher(
        to_parser,
        sources={name: reading.source(project) for name, reading in readings.items()},
        fingerprints={
            name: reading.fingerprint(project) for name, reading in readings.items()
        },
        index=reader,
        scan=scan,
        stop=stop,
        progress=progress,
    )
    parser = Parser(
        parser_inbox,
        to_writer,
        start=partial(ReadingProcess, project.root, [pack.name for pack in packs]),
        stop=stop,
    )
    storing = Writer(
        writer_inbox,
        writer_calls,
        session=writer,
        packs=packs,
        runner=ToolRunner(project, packs),
        progress=progress,
    )
    # The writer is never forgiven: a half-understood write path is worse than a stop.
    return writes, [(watcher, FORGIVEN), (parser, FORGIVEN), (storing, 0)]

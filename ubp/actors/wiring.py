"""Makes the channels, connects the actors, starts and stops the service.

The only file that knows the whole graph:

    watcher ─► parser ─► writer            files on their way into the index
    protocol ─► query pool                 calls that read
    protocol ─► writer                     calls that write
    writer ╌╌► embedder ─► writer          a nudge, then vectors for what was stored
    query pool ─► embedder                 a query that wants a vector

The writer and the embedder are a cycle. It cannot lock up, because a nudge never waits.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import apsw

from ubp.actors.embedder import Embedder
from ubp.actors.meaning import AskedMeaning, EmbeddingCall
from ubp.actors.parser import Parser
from ubp.actors.ports import Call, Inbox, Outbox, channel
from ubp.actors.progress import Progress
from ubp.actors.query_pool import QueryPool
from ubp.actors.reading_process import ReadingProcess
from ubp.actors.supervisor import supervise
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.watcher import Scan, Watcher
from ubp.actors.writer import Writer
from ubp.messages import FileEvent, IndexEvent, RunTool, TextsChanged, VectorChange
from ubp.packs import discover
from ubp.project import Project
from ubp.store import migrations
from ubp.store.session import Session, reading, writing
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = (
    "Service",
    "index_once",
    "prepare_database",
    "readable",
    "serving",
    "writable",
)

log = get_logger("wiring")

WATCHER_TO_PARSER = 256
"""One burst of a branch switch; when full the watcher waits."""

PARSER_TO_WRITER = 64
"""About one transaction; when full the parser waits, so memory stays flat."""

PROTOCOL_TO_POOL = 32
"""More would only be latency; when full the caller waits until its deadline."""

PROTOCOL_TO_WRITER = 32
"""The same."""

POOL_TO_EMBEDDER = 16
"""At most one of each reader, with room."""

EMBEDDER_TO_WRITER = 1
"""It waits for each answer."""

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
            for _ in range(READERS + 2)
        ]
        progress = Progress()
        queries, query_inbox = channel[EmbeddingCall](POOL_TO_EMBEDDER)
        runner = ToolRunner(project, packs, AskedMeaning(queries))
        pipeline = _pipeline(
            project, packs, writer, readers.pop(), runner, Scan(), stop, progress
        )
        embedder = Embedder(
            pipeline.nudges,
            query_inbox,
            pipeline.vector_changes,
            session=readers.pop(),
            project=project,
            packs=packs,
            progress=progress,
        )
        reads, inbox = channel[Call[RunTool, Any]](PROTOCOL_TO_POOL)
        pool = QueryPool(inbox, sessions=readers, runner=runner)
        embedding = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            group.start_soon(_embed, embedder, embedding, progress)
            for actor, forgiven in (*pipeline.actors, (pool, FORGIVEN)):
                group.start_soon(partial(supervise, actor, forgiven=forgiven))
            try:
                yield Service(reads, pipeline.writes, progress)
            finally:
                log.debug("serve.stopping")
                # First, or the writer would wait for it and it for the writer.
                embedding.cancel()
                stop.set()
                reads.close()
                pipeline.writes.close()
                queries.close()
                group.cancel_scope.deadline = anyio.current_time() + STOP_WITHIN


async def index_once(
    project: Project,
    packs: Sequence[Pack],
    scan: Scan,
    progress: Progress,
    *,
    embed: bool = True,
) -> None:
    """Bring the index in line with the disk, vectors included, and end."""
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(writable(project))
        readers = [
            await stack.enter_async_context(reading(project.database)) for _ in range(2)
        ]
        queries, query_inbox = channel[EmbeddingCall](POOL_TO_EMBEDDER)
        runner = ToolRunner(project, packs, AskedMeaning(queries))
        pipeline = _pipeline(
            project, packs, writer, readers[0], runner, scan, anyio.Event(), progress
        )
        pipeline.writes.close()
        queries.close()
        embedder = Embedder(
            pipeline.nudges,
            query_inbox,
            pipeline.vector_changes,
            session=readers[1],
            project=project,
            packs=packs,
            progress=progress,
            again=scan.force,
        )
        async with anyio.create_task_group() as group:
            for actor, _ in pipeline.actors:
                group.start_soon(partial(supervise, actor, forgiven=0))
            if embed:
                group.start_soon(_embed, embedder, anyio.CancelScope(), progress)
            else:
                embedder.close()


async def _embed(
    embedder: Embedder, scope: anyio.CancelScope, progress: Progress
) -> None:
    """Run the embedder until *scope* is cancelled; the service can do without it."""
    with scope:
        if not await supervise(embedder, forgiven=FORGIVEN, vital=False):
            progress.not_embedded = "The embedder failed; the log says why."


def prepare_database(db: apsw.Connection) -> None:
    """Bring the schema up to date; of every pack, so enabling one needs nothing."""
    migrations.apply(db, _schema())


def _is_behind(db: apsw.Connection) -> bool:
    return any(migrations.pending(db, each) for each in _schema())


def _schema() -> list[migrations.Set]:
    sets = [migrations.Set(pack.name, pack.migrations) for pack in discover()]
    return [migrations.CORE, *sets]


@asynccontextmanager
async def readable(project: Project) -> AsyncIterator[Session]:
    """A session that only reads; a database of an older version is brought up first.

    Raises:
        IndexNotReady: There is no database yet.
    """
    async with reading(project.database) as session:
        behind = await session.run(_is_behind)
        if not behind:
            yield session
            return
    async with writable(project):
        pass
    async with reading(project.database) as session:
        yield session


@asynccontextmanager
async def writable(project: Project) -> AsyncIterator[Session]:
    """A session that may write, with the schema up to date."""
    await anyio.to_thread.run_sync(project.prepare)
    async with writing(project.database) as session:
        await session.write(prepare_database)
        yield session


@dataclass(frozen=True, slots=True)
class _Pipeline:
    """The actors between the files and the database, and their loose ends."""

    actors: list[tuple[Watcher | Parser | Writer, int]]
    """With the crashes each is forgiven."""
    writes: Outbox[Call[RunTool, Any]]
    nudges: Inbox[TextsChanged]
    vector_changes: Outbox[Call[VectorChange, Any]]


def _pipeline(
    project: Project,
    packs: Sequence[Pack],
    writer: Session,
    reader: Session,
    runner: ToolRunner,
    scan: Scan,
    stop: anyio.Event,
    progress: Progress,
) -> _Pipeline:
    to_parser, parser_inbox = channel[FileEvent](WATCHER_TO_PARSER)
    to_writer, writer_inbox = channel[IndexEvent](PARSER_TO_WRITER)
    writes, writer_calls = channel[Call[RunTool, Any]](PROTOCOL_TO_WRITER)
    nudges, nudged = channel[TextsChanged](1)
    vector_changes, changes_inbox = channel[Call[VectorChange, Any]](EMBEDDER_TO_WRITER)
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
        changes_inbox,
        nudges,
        session=writer,
        packs=packs,
        runner=runner,
        progress=progress,
    )
    return _Pipeline(
        # The writer is never forgiven: a half-understood write path is worse than a
        # stop.
        actors=[(watcher, FORGIVEN), (parser, FORGIVEN), (storing, 0)],
        writes=writes,
        nudges=nudged,
        vector_changes=vector_changes,
    )

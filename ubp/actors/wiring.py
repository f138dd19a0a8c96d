"""Makes the channels, connects the actors, starts and stops the service.

The only file that knows the whole graph:

    watcher ─► parser ─► writer            files on their way into the index
    protocol ─► query pool                 calls that read
    protocol ─► writer                     calls that write
    writer ╌╌► embedder ─► writer          a nudge, then vectors for what was stored
    query pool ─► embedder                 a query that wants a vector
    protocol ─► announcer ╌╌► protocol     what clients follow, and what of it changed

The writer and the embedder are a cycle. It cannot lock up, because a nudge never waits.
Nor does the announcer, which is in another one with the protocol.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import apsw

from ubp.actors.announcer import Announcer, FollowCall
from ubp.actors.client_link import ClientLink
from ubp.actors.embedder import Embedder
from ubp.actors.followed import Followed
from ubp.actors.jobs import RunningJobs, running_jobs
from ubp.actors.keeper import Keeper
from ubp.actors.meaning import AskedMeaning, EmbeddingCall
from ubp.actors.parser import Parser
from ubp.actors.ports import Call, Inbox, Outbox, channel, nudge
from ubp.actors.progress import Progress
from ubp.actors.query_pool import QueryPool
from ubp.actors.reading_process import ReadingProcess
from ubp.actors.supervisor import supervise
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.watcher import Scan, Watcher
from ubp.actors.writer import Writer
from ubp.config import Settings
from ubp.errors import IndexDamaged, innermost
from ubp.messages import (
    FileEvent,
    IndexEvent,
    ResourcesChanged,
    RunTool,
    TextsChanged,
    VectorChange,
)
from ubp.packs import discover
from ubp.project import Project
from ubp.store import damage, migrations, texts_waiting
from ubp.store.lock import Claim, claiming
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

PARSER_TO_WRITER = 128
"""About one transaction; when full the parser waits, so memory stays flat."""

PROTOCOL_TO_POOL = 32
"""More would only be latency; when full the caller waits until its deadline."""

PROTOCOL_TO_WRITER = 32
"""The same."""

POOL_TO_EMBEDDER = 16
"""At most one of each reader, with room."""

PROTOCOL_TO_ANNOUNCER = 1
"""It waits for each answer."""

ANNOUNCER_TO_PROTOCOL = 1
"""One is being told to the client; what comes meanwhile is collected into the next."""

EMBEDDER_TO_WRITER = 1
"""It waits for each answer."""

READERS = 4
"""Connections that answer queries: enough that a slow one does not hold up the rest."""

FORGIVEN = 3
"""Crashes within half a minute after which an actor is still started again."""

STOP_WITHIN = 2.5
"""Seconds an orderly stop may take before everything is cancelled."""


@dataclass(slots=True)
class Service:
    """A running service, as the protocol sees it.

    After the database was replaced the channels are others: use them, keep none.
    """

    reads: Outbox[Call[RunTool, Any]]
    writes: Outbox[Call[RunTool, Any]]
    follows: Outbox[FollowCall]
    announcements: Inbox[ResourcesChanged]
    """This one stays, like what is followed."""
    progress: Progress
    client: ClientLink = field(default_factory=ClientLink)
    """So does this one."""


@dataclass(frozen=True, slots=True)
class _Lasting:
    """What is known of the client, and how it is told: it outlives a database."""

    followed: Followed
    announcer: Outbox[ResourcesChanged]
    announcements: Inbox[ResourcesChanged]
    client: ClientLink
    jobs: RunningJobs


@asynccontextmanager
async def serving(
    project: Project, packs: Sequence[Pack], claim: Claim | None = None
) -> AsyncIterator[Service]:
    """The service, from the first comparison until the block is left.

    Whoever holds *claim* watches the files and embeds. Others answer from what is in
    the database, and take over when it becomes theirs. None means that it is ours.

    Leaving stops it in order: no more calls, no more files, what is read is stored,
    and the database is closed. What does not end in time is cancelled; the index is
    intact either way.
    """
    keeper = Keeper(project, claim)
    async with anyio.create_task_group() as group:
        service: Service = await group.start(_keep_serving, project, packs, keeper)
        try:
            yield service
        finally:
            log.debug("serve.stopping")
            keeper.stop.set()
            group.cancel_scope.deadline = anyio.current_time() + STOP_WITHIN


async def _keep_serving(
    project: Project,
    packs: Sequence[Pack],
    keeper: Keeper,
    *,
    task_status: anyio.abc.TaskStatus[Service],
) -> None:
    """Serve from one database after the other, until told to stop."""
    service: Service | None = None
    announced, announcements = channel[ResourcesChanged](ANNOUNCER_TO_PROTOCOL)
    mode = project.settings.source.watch
    async with announced, announcements, running_jobs(mode) as jobs:
        lasting = _Lasting(Followed(), announced, announcements, ClientLink(), jobs)
        for pack in packs:
            if pack.begin is not None:
                pack.begin(project, jobs, lasting.client)
        while not keeper.stop.is_set():
            async with (
                keeper.replacing_what_is_damaged(),
                _generation(project, packs, keeper, lasting) as current,
            ):
                if service is None:
                    service = current
                    task_status.started(service)
                service.reads, service.writes = current.reads, current.writes
                service.follows = current.follows
                service.progress = current.progress
                await keeper.until_over()


@asynccontextmanager
async def _generation(
    project: Project, packs: Sequence[Pack], keeper: Keeper, lasting: _Lasting
) -> AsyncIterator[Service]:
    """All actors on one database, for as long as it is the project's."""
    stop = anyio.Event()
    turn, damaged = await keeper.begin()
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(writable(project, damaged))
        if await writer.run(_cannot_be_written):
            log.warning(
                "serve.read_only", hint="Make .ubp writable to have changes followed."
            )
        readers = [
            await stack.enter_async_context(reading(project.database, damaged))
            for _ in range(READERS + 3)
        ]
        progress = Progress()
        queries, query_inbox = channel[EmbeddingCall](POOL_TO_EMBEDDER)
        runner = ToolRunner(
            project,
            packs,
            _meaning(queries, project),
            client=lasting.client,
            jobs=lasting.jobs,
        )
        scan = Scan(watch=project.settings.source.watch)
        pipeline = _pipeline(
            project,
            packs,
            writer,
            readers.pop(),
            runner,
            scan,
            stop,
            progress,
            tell_others=partial(_tell_owner, keeper, project),
        )
        to_embedder = stack.enter_context(pipeline.to_embedder)
        keeper.texts_stored = partial(nudge, to_embedder, TextsChanged())
        embedder = Embedder(
            pipeline.nudges,
            query_inbox,
            pipeline.vector_changes,
            session=readers.pop(),
            project=project,
            packs=discover(),
            progress=progress,
            turn=turn,
        )
        follows, follow_inbox = channel[FollowCall](PROTOCOL_TO_ANNOUNCER)
        announcer = Announcer(
            follow_inbox,
            lasting.announcer.clone(),
            lasting.followed,
            session=readers.pop(),
            project=project,
            packs=packs,
        )
        reads, inbox = channel[Call[RunTool, Any]](PROTOCOL_TO_POOL)
        pool = QueryPool(inbox, sessions=readers, runner=runner)
        for actor in (*pipeline.readers, pipeline.writer, embedder, announcer, pool):
            stack.callback(actor.close)  # also if it is cancelled before it begins
        embedding = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            group.start_soon(_embed, embedder, embedding, progress)
            group.start_soon(partial(supervise, pool, forgiven=FORGIVEN))
            group.start_soon(
                partial(supervise, announcer, forgiven=FORGIVEN, vital=False)
            )
            # Never forgiven: a half-understood write path is worse than a stop.
            group.start_soon(partial(supervise, pipeline.writer, forgiven=0))
            waiting = anyio.CancelScope()
            group.start_soon(_read_files, pipeline, turn, waiting)
            try:
                yield Service(
                    reads,
                    pipeline.writes,
                    follows,
                    lasting.announcements,
                    progress,
                    lasting.client,
                )
            finally:
                # First, or the writer would wait for it and it for the writer.
                embedding.cancel()
                stop.set()
                waiting.cancel()
                reads.close()
                follows.close()
                pipeline.writes.close()
                queries.close()
                group.cancel_scope.deadline = anyio.current_time() + STOP_WITHIN


def _tell_owner(keeper: Keeper, project: Project) -> None:
    """A tool has written. Whoever embeds is to know, unless that is us."""
    if not keeper.owns:
        texts_waiting.tell(project.database)


async def _read_files(
    pipeline: "_Pipeline", turn: anyio.Event, waiting: anyio.CancelScope
) -> None:
    """Once it is our turn, bring what is on disk into the index."""
    with waiting:
        await turn.wait()
    async with anyio.create_task_group() as group:
        for actor in pipeline.readers:
            if turn.is_set():
                group.start_soon(partial(supervise, actor, forgiven=FORGIVEN))
            else:
                actor.close()  # or the writer would wait for what never comes


async def index_once(
    project: Project,
    packs: Sequence[Pack],
    scan: Scan,
    progress: Progress,
    *,
    embed: bool = True,
) -> None:
    """Bring the index in line with the disk, vectors included, and end.

    A damaged one is set aside first, unless a server runs: it will do that itself.
    """
    try:
        await _index_once(project, packs, scan, progress, embed=embed)
    except Exception as caught:
        if not isinstance(innermost(caught), IndexDamaged):
            raise
        with claiming(project.lock_file) as claim:
            which = damage.identity(project.database)
            if not claim.take():
                damage.report(project.database, which)
                raise
            if await anyio.to_thread.run_sync(damage.is_intact, project.database):
                raise
            await anyio.to_thread.run_sync(damage.set_aside, project.database)
            log.warning("index.set_aside", kept=damage.kept(project.database).name)
            await _index_once(project, packs, scan, progress, embed=embed)


async def _index_once(
    project: Project,
    packs: Sequence[Pack],
    scan: Scan,
    progress: Progress,
    *,
    embed: bool = True,
) -> None:
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(writable(project))
        readers = [
            await stack.enter_async_context(reading(project.database)) for _ in range(2)
        ]
        queries, query_inbox = channel[EmbeddingCall](POOL_TO_EMBEDDER)
        runner = ToolRunner(project, packs, _meaning(queries, project))
        pipeline = _pipeline(
            project,
            packs,
            writer,
            readers[0],
            runner,
            scan,
            anyio.Event(),
            progress,
            waits_for_room=False,
        )
        pipeline.writes.close()
        pipeline.to_embedder.close()
        queries.close()
        embedder = Embedder(
            pipeline.nudges,
            query_inbox,
            pipeline.vector_changes,
            session=readers[1],
            project=project,
            packs=discover(),
            progress=progress,
            again=scan.force,
        )
        async with anyio.create_task_group() as group:
            for actor in (*pipeline.readers, pipeline.writer):
                group.start_soon(partial(supervise, actor, forgiven=0))
            if embed:
                group.start_soon(_embed, embedder, anyio.CancelScope(), progress)
            else:
                embedder.close()


def _meaning(queries: Outbox[EmbeddingCall], project: Project) -> AskedMeaning:
    remote = project.settings.embedding.provider == "http"
    return AskedMeaning(queries, remote=remote)


async def _embed(
    embedder: Embedder, scope: anyio.CancelScope, progress: Progress
) -> None:
    """Run the embedder until *scope* is cancelled; the service can do without it."""
    with scope:
        if not await supervise(embedder, forgiven=FORGIVEN, vital=False):
            progress.not_embedded = "The embedder failed; the log says why."


def prepare_database(db: apsw.Connection, settings: Settings | None = None) -> None:
    """Bring the schema up to date; of every pack, so enabling one needs nothing.

    And what is stored in line with *settings*, if any are given.
    """
    migrations.apply(db, _schema())
    for pack in discover():
        if pack.rules and settings and not pack.rules.hold(db, settings):
            # Before anything is brought back, which is to follow them too.
            pack.rules.follow(db, settings)
        if pack.restore is None:
            continue
        restored = pack.restore(db)
        if any(restored):
            log.warning(
                "pack.restored",
                pack=pack.name,
                items=restored.number,
                damaged=restored.lost,
            )


def _is_behind(db: apsw.Connection, settings: Settings) -> bool:
    if any(migrations.pending(db, each) for each in _schema()):
        return True
    rules = [pack.rules for pack in discover() if pack.rules]
    return not all(each.hold(db, settings) for each in rules)


def _cannot_be_written(db: apsw.Connection) -> bool:
    """SQLite opens what is on a read-only disk, and refuses once it is to write."""
    return db.readonly("main")


def _schema() -> list[migrations.Set]:
    sets = [migrations.Set(pack.name, pack.migrations) for pack in discover()]
    return [migrations.CORE, *sets]


@asynccontextmanager
async def readable(project: Project) -> AsyncIterator[Session]:
    """A session that only reads; a database of an older version is brought up first.

    So is one of other settings, where these decide what is stored.

    Raises:
        IndexNotReady: There is no database yet.
    """
    async with reading(project.database) as session:
        behind = await session.run(_is_behind, project.settings)
        if not behind:
            yield session
            return
    async with writable(project):
        pass
    async with reading(project.database) as session:
        yield session


@asynccontextmanager
async def writable(
    project: Project, damaged: anyio.Event | None = None
) -> AsyncIterator[Session]:
    """A session that may write, with the schema up to date."""
    await anyio.to_thread.run_sync(project.prepare)
    async with writing(project.database, damaged) as session:
        await session.write(prepare_database, project.settings)
        yield session


@dataclass(frozen=True, slots=True)
class _Pipeline:
    """The actors between the files and the database, and their loose ends."""

    readers: tuple[Watcher, Parser]
    writer: Writer
    writes: Outbox[Call[RunTool, Any]]
    nudges: Inbox[TextsChanged]
    to_embedder: Outbox[TextsChanged]
    """For nudges from elsewhere; whoever takes none closes it."""
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
    *,
    waits_for_room: bool = True,
    tell_others: Callable[[], None] | None = None,
) -> _Pipeline:
    to_parser, parser_inbox = channel[FileEvent](WATCHER_TO_PARSER)
    to_writer, writer_inbox = channel[IndexEvent](PARSER_TO_WRITER)
    writes, writer_calls = channel[Call[RunTool, Any]](PROTOCOL_TO_WRITER)
    nudges, nudged = channel[TextsChanged](1)
    vector_changes, changes_inbox = channel[Call[VectorChange, Any]](EMBEDDER_TO_WRITER)
    readings = {p.name: p.reading for p in packs if p.reading is not None}
    sources = {name: reading.source(project) for name, reading in readings.items()}
    watcher = Watcher(
        to_parser,
        sources=sources,
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
        start=partial(ReadingProcess, project, [pack.name for pack in packs]),
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
        folders={
            name: reading.source(project).folder for name, reading in readings.items()
        },
        waits_for_room=waits_for_room,
        tell_others=tell_others,
    )
    return _Pipeline(
        readers=(watcher, parser),
        writer=storing,
        writes=writes,
        nudges=nudged,
        to_embedder=nudges.clone(),
        vector_changes=vector_changes,
    )

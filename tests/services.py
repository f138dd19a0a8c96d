"""A service that only answers: no files are watched, and the test is the writer."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import apsw
from databases import fresh, save
from mcp import Client
from mcp.server.lowlevel import Server
from models import NoMeaning

from ubp.actors.announcer import Announcer, FollowCall
from ubp.actors.followed import Followed
from ubp.actors.ports import Call, channel
from ubp.actors.progress import Progress
from ubp.actors.query_pool import QueryPool
from ubp.actors.supervisor import supervise
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.wiring import Service
from ubp.messages import ResourcesChanged, RunTool
from ubp.packs.docs import writes
from ubp.project import Project
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.server import build
from ubp.store.connection import transaction
from ubp.store.session import reading
from ubp.toolkit import Pack

__all__ = ("Vault", "answering")


class Vault:
    """A project with a server, and the hands of somebody who changes its pages."""

    def __init__(self, project: Project, db: apsw.Connection, service: Service) -> None:
        self.project = project
        self.service = service
        self._db = db
        self.stop = anyio.Event()
        self.followed = Followed()
        self.server: Server[Any]

    def write(self, path: str, text: str) -> None:
        """Write a page to disk, and store it as another process would."""
        file = self.project.docs_dir / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        with transaction(self._db):
            save(self._db, path, text, self.project)

    def settle(self) -> None:
        """Let links find the pages they mean."""
        left = True
        while left:
            with transaction(self._db):
                left = writes.settle(self._db)

    def delete(self, path: str) -> None:
        (self.project.docs_dir / path).unlink()
        with transaction(self._db):
            writes.forget(self._db, path)

    def client(self, **options: Any) -> Client:
        return Client(self.server, **options)


@asynccontextmanager
async def answering(project: Project, packs: Sequence[Pack]) -> AsyncIterator[Vault]:
    """A vault whose server answers while inside."""
    project.prepare()
    db = fresh(project.database)
    reads, read_inbox = channel[Call[RunTool, Any]](32)
    writing, write_inbox = channel[Call[RunTool, Any]](1)
    follows, follow_inbox = channel[FollowCall](1)
    announced, announcements = channel[ResourcesChanged](1)
    service = Service(
        reads=reads,
        writes=writing,
        follows=follows,
        announcements=announcements,
        progress=Progress(),
    )
    vault = Vault(project, db, service)
    vault.server = build(Dispatcher(service, packs), packs, vault.stop)
    async with AsyncExitStack() as stack:
        readers = [
            await stack.enter_async_context(reading(project.database)) for _ in range(3)
        ]
        announcer = Announcer(
            follow_inbox,
            announced,
            vault.followed,
            session=readers.pop(),
            project=project,
            packs=packs,
        )
        runner = ToolRunner(project, packs, NoMeaning())
        pool = QueryPool(read_inbox, sessions=readers, runner=runner)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(supervise, pool, forgiven=0))
            group.start_soon(partial(supervise, announcer, forgiven=0, vital=False))
            with reads, writing, write_inbox, follows, announcements:
                yield vault
    db.close()

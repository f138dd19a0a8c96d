"""The query pool actor: answers calls that only read, several at a time."""

from collections.abc import Sequence
from typing import Any

import anyio

from ubp.actors.ports import Call, Inbox
from ubp.actors.tool_runner import ToolRunner
from ubp.messages import RunTool
from ubp.store.session import Session

__all__ = ("QueryPool",)


class QueryPool:
    """Workers that share an inbox, each with a connection of its own."""

    name = "query pool"

    def __init__(
        self,
        inbox: Inbox[Call[RunTool, Any]],
        *,
        sessions: Sequence[Session],
        runner: ToolRunner,
    ) -> None:
        self._inbox = inbox
        self._sessions = sessions
        self._runner = runner

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            for session in self._sessions:
                group.start_soon(self._work, session)

    def close(self) -> None:
        self._inbox.close()

    async def _work(self, session: Session) -> None:
        async for call in self._inbox:
            await self._runner.serve(call, session)

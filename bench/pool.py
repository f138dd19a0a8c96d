"""A client of the real process with many calls under way at once."""

import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from bench.wire import HELLO

__all__ = ("Pool", "serving_many")

_PATIENCE = 60.0
"""Seconds after which an answer will not come any more."""


class _Answer:
    def __init__(self) -> None:
        self.came = anyio.Event()
        self.message: dict[str, Any] = {}


class Pool:
    """Calls to one server; answers come in whatever order they are ready."""

    def __init__(self, server: Process) -> None:
        self.pid = server.pid
        self._server = server
        self._number = 0
        self._waiting: dict[int, _Answer] = {}

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a request.

        Raises:
            RuntimeError: The server answered with an error: nothing to be measured.
        """
        if self._server.stdin is None:
            raise OSError
        self._number += 1
        number, answer = self._number, _Answer()
        self._waiting[number] = answer
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await self._server.stdin.send(json.dumps(request).encode() + b"\n")
        with anyio.fail_after(_PATIENCE):
            await answer.came.wait()
        if "error" in answer.message or answer.message["result"].get("isError"):
            raise RuntimeError(str(answer.message)[:500])
        result: dict[str, Any] = answer.message["result"]
        return result

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> float:
        """Seconds until *tool* has answered."""
        begin = time.perf_counter()
        await self.ask("tools/call", {"name": tool, "arguments": arguments})
        return time.perf_counter() - begin

    async def ping(self) -> float:
        """Seconds until the server says that it is there: how late its loop is."""
        begin = time.perf_counter()
        await self.ask("ping", {})
        return time.perf_counter() - begin

    async def listen(self) -> None:
        """Hand out answers until there are no more."""
        if self._server.stdout is None:
            raise OSError
        rest = b""
        async for chunk in self._server.stdout:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if answer := self._waiting.pop(message.get("id"), None):
                    answer.message = message
                    answer.came.set()


@asynccontextmanager
async def serving_many(root: Path, *command: str) -> AsyncIterator[Pool]:
    """A server on the project at *root*, or the one *command* starts; killed after."""
    # Vaults of a hundred thousand sections are in this process. Looking through them
    # for garbage takes 70 ms, which would be told as the server's.
    gc.freeze()
    ours = (sys.executable, "-m", "ubp", "serve", "--root", str(root), "--quiet")
    async with (
        await anyio.open_process(command or ours, stderr=None, cwd=root) as server,
        anyio.create_task_group() as tasks,
    ):
        pool = Pool(server)
        tasks.start_soon(pool.listen)
        try:
            await pool.ask("initialize", HELLO)
            yield pool
        finally:
            tasks.cancel_scope.cancel()
            server.kill()

"""A client of the real process: what a call costs as a client sees it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ("Wire", "serving")

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Wire:
    """A server that has answered ``initialize``, and one call at a time to it."""

    def __init__(self, server: "subprocess.Popen[bytes]") -> None:
        if server.stdin is None or server.stdout is None:
            raise OSError
        self.pid = server.pid
        self._requests = server.stdin
        self._answers = server.stdout
        self._number = 0
        self._ask("initialize", HELLO)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of *tool*."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        found: dict[str, Any] = answer["result"]["structuredContent"]
        return found

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        request = {
            "jsonrpc": "2.0",
            "id": self._number,
            "method": method,
            "params": params,
        }
        self._requests.write(json.dumps(request).encode() + b"\n")
        self._requests.flush()
        while line := self._answers.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        raise EOFError


@contextmanager
def serving(root: Path, *arguments: str) -> Iterator[Wire]:
    """A server on the project at *root*, killed on leaving."""
    command = [sys.executable, "-m", "ubp", "serve", "--root", str(root), "--quiet"]
    with subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            yield Wire(server)
        finally:
            server.kill()

"""A client of the real process that speaks the wire by hand."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import Any, TypeVar

__all__ = ("PATIENCE", "UBP", "Client", "eventually", "serving")

T = TypeVar("T")

UBP = [sys.executable, "-m", "ubp"]
PATIENCE = 60.0


def eventually(
    look: Callable[[], T],
    wanted: Callable[[T], bool] = bool,
    *,
    within: float = PATIENCE,
) -> T:
    """What *look* sees once it is as *wanted*."""
    deadline = time.monotonic() + within
    while True:
        seen = look()
        if wanted(seen):
            return seen
        assert time.monotonic() < deadline, seen
        time.sleep(0.02)


class Client:
    """A client that speaks the wire by hand, so that it sees exactly what is there."""

    def __init__(
        self, root: Path, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            [*UBP, "serve", "--root", str(root), *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.lines: Queue[str | None] = Queue()
        self.log: list[str] = []
        self._threads = [
            threading.Thread(target=self._read_out, daemon=True),
            threading.Thread(target=self._read_log, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._id = 0

    def _read_out(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)

    def send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.send(json.dumps(message, ensure_ascii=False))
        while True:
            line = self.lines.get(timeout=PATIENCE)
            assert line is not None, "".join(self.log)
            answer: dict[str, Any] = json.loads(line)
            assert answer["jsonrpc"] == "2.0"
            if answer.get("id") == self._id:
                return answer

    def hello(self) -> dict[str, Any]:
        answer = self.ask(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        )
        self.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, (answer, self.log[-5:])
        value: dict[str, Any] = answer["result"]["structuredContent"]
        return value

    def until_indexed(self, pages: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.call("ubp_list_pages")["total"] != pages:
            assert time.monotonic() < deadline, "".join(self.log[-20:])

    def end(self) -> int:
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code


@contextmanager
def serving(
    root: Path, *arguments: str, environment: dict[str, str] | None = None
) -> Iterator[Client]:
    client = Client(root, *arguments, environment=environment)
    try:
        client.hello()
        yield client
    finally:
        if client.process.poll() is None:
            client.process.kill()
        assert client.process.stdin is not None
        with suppress(OSError):
            client.process.stdin.close()
        client.wait()

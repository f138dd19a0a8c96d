"""A server on a pipe made reachable over HTTP, for suites that know no pipes.

Nothing is understood on the way: a body becomes a line, and the line with its answer
becomes the body. So what is judged is what the server wrote. Each session has a process of
its own; requests without a session (since 2026-07-28 all of them) share one.
"""

import json
import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ("bridged",)

SESSION = "Mcp-Session-Id"

MODERN = {
    "jsonrpc": "2.0",
    "id": "bridge",
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bridge", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
"""A pipe speaks the era of its first request; without a session it is the modern one."""


class Pipe:
    """One process of the server; one question at a time, so that ids cannot meet."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._turn = threading.Lock()

    def pass_on(self, message: dict[str, Any]) -> bytes | None:
        """The line that answers *message*; none if it asks nothing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            if "id" not in message or "method" not in message:
                return None
            for line in self._process.stdout:
                answer = json.loads(line)
                if answer.get("id") == message["id"] and "method" not in answer:
                    return line.strip()
        return b""

    def end(self) -> None:
        """Close its input, which ends it."""
        self._process.communicate()


class Bridge(ThreadingHTTPServer):
    """The processes behind one address."""

    daemon_threads = True

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self._command = command
        self._opening = threading.Lock()
        self.pipes: dict[str, Pipe] = {}

    def pipe(self, session: str) -> Pipe:
        """The process of *session*, started when it is first spoken to."""
        with self._opening:
            if session not in self.pipes:
                self.pipes[session] = Pipe(self._command)
                if not session:
                    self.pipes[session].pass_on(MODERN)
            return self.pipes[session]


class Handler(BaseHTTPRequestHandler):
    """One request over HTTP."""

    protocol_version = "HTTP/1.1"
    server: Bridge

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        message = json.loads(body)
        if message.get("method") == "subscriptions/listen":
            self.send_error(501)  # a stream; the turn of its pipe would never end
            return
        opens = message.get("method") == "initialize"
        session = uuid.uuid4().hex if opens else self.headers.get(SESSION, "")
        answer = self.server.pipe(session).pass_on(message)
        self.send_response(202 if answer is None else 200)
        if session:
            self.send_header(SESSION, session)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer or b"")))
        self.end_headers()
        self.wfile.write(answer or b"")

    def do_GET(self) -> None:
        """There is no stream to open: a bridge hears of nothing by itself."""
        self.send_error(405)

    def do_DELETE(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: the suite does."""


@contextmanager
def bridged(command: Sequence[str]) -> Iterator[str]:
    """The address of the server that *command* starts."""
    with Bridge(command) as bridge:
        thread = threading.Thread(target=bridge.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{bridge.server_address[1]}/mcp"
        finally:
            bridge.shutdown()
            thread.join()
            for pipe in bridge.pipes.values():
                pipe.end()

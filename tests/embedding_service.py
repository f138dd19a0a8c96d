"""An embedding service on the loopback interface that can be told to misbehave."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from notebooks import vector_of

__all__ = ("KEY", "Service", "embedding_service", "embeds", "says")

KEY = "key-0123456789"


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Service"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((dict(self.headers), body))
        script = self.server.script
        answer = script.popleft() if script else self.server.otherwise
        answer(self, body)

    def reply(self, status: int, value: Any, **headers: str) -> None:
        """Send *value* as JSON; ``_`` in the names of headers becomes ``-``."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


Answer = Callable[[_Request, Any], None]


def embeds(request: _Request, body: Any) -> None:
    """As a good service does, in any order; the vectors are made up from the words."""
    data = [
        {"embedding": vector_of(text).tolist(), "index": number}
        for number, text in enumerate(body["input"])
    ]
    request.reply(200, {"data": data[::-1], "model": body["model"]})


def says(status: int, value: Any = None, **headers: str) -> Answer:
    """Whatever is asked, answer this."""
    return lambda request, _: request.reply(status, value, **headers)


class Service(ThreadingHTTPServer):
    """Answers with ``script``, one after another, and from then on ``otherwise``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.script: deque[Answer] = deque()
        self.otherwise: Answer = embeds
        self.seen: list[tuple[dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/embeddings"

    @property
    def texts(self) -> list[tuple[str, int]]:
        """The role and the number of texts of each request."""
        return [(body["input_type"], len(body["input"])) for _, body in self.seen]

    def handle_error(self, *_: object) -> None:
        """Keep quiet: a client that hangs up is what some tests are about."""


@contextmanager
def embedding_service() -> Iterator[Service]:
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()

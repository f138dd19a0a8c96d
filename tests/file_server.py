"""A file server on the loopback interface that can be told to misbehave."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ("Answer", "FileServer", "Request", "file_server")


class Request(BaseHTTPRequestHandler):
    """One request; ``Answer`` functions send what they like through it."""

    protocol_version = "HTTP/1.1"
    server: "FileServer"

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers)))
        script = self.server.scripts.get(self.path) or self.server.script
        special = script.popleft() if script else self.server.always.get(self.path)
        (special or serve)(self)

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Send a whole answer; ``_`` in the names of headers becomes ``-``."""
        self.head(status, len(body), **headers)
        self.wfile.write(body)

    def head(self, status: int, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


Answer = Callable[[Request], None]


class FileServer(ThreadingHTTPServer):
    """Serves ``files`` with ranges and entity tags, or what ``script`` says first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.files: dict[str, bytes] = {}
        self.tag = '"first"'
        self.tags: dict[str, str] = {}
        """Of single files, where they differ; an empty one is not sent."""
        self.script: deque[Answer] = deque()
        self.scripts: dict[str, deque[Answer]] = {}
        """What is answered first to requests for one path."""
        self.always: dict[str, Answer] = {}
        """What is answered to all of them."""
        self.seen: list[tuple[str, dict[str, str]]] = []

    def handle_error(self, *_: object) -> None:
        """Keep quiet: a client that hangs up is what some tests are about."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def serve(request: Request) -> None:
    """Behave: the whole file, or the rest of it if it is still the same."""
    content = request.server.files.get(request.path)
    if content is None:
        request.reply(404)
        return
    tag = request.server.tags.get(request.path, request.server.tag)
    if tag and request.headers.get("If-None-Match") == tag:
        request.reply(304, ETag=tag)
        return
    wanted = request.headers.get("Range", "")
    if wanted and request.headers.get("If-Range", tag) == tag:
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            request.reply(416, Content_Range=f"bytes */{len(content)}")
            return
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        request.reply(206, content[start:], ETag=tag, Content_Range=span)
        return
    kind = "text/html" if request.path.endswith("/") else "application/octet-stream"
    more = {"ETag": tag} if tag else {}
    request.reply(200, content, Content_Type=kind, **more)


@contextmanager
def file_server() -> Iterator[FileServer]:
    """A server, while inside."""
    server = FileServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

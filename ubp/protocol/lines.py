"""Lines in, lines out: on the event loop where that cannot block, else in a thread.

A pipe or a socket, which is what clients give, tells when something can be read, and
when a little can be written: then no thread needs to be woken for a call, which would
cost as much as the call. Anything else gets a thread for each direction - daemons,
because one that waits for a client which says nothing must not keep the process from
ending.
"""

import os
import queue
import select
import stat
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel

from ubp.actors.ports import channel

__all__ = ("Output", "lines_of")

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. A longer line is refused as it comes, so it cannot fill the memory."""

_CHUNK = 64 * 1024


async def lines_of(descriptor: int) -> AsyncGenerator[bytes, None]:
    """Every line that comes, without its end, until there are no more."""
    read = _read_when_ready if _tells_when_ready(descriptor) else _read_in_thread
    splitter = _Splitter()
    async for chunk in read(descriptor):
        for line in splitter.feed(chunk):
            yield line
    for line in splitter.rest():
        yield line


class _Splitter:
    """Pieces of any size -> lines."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0
        self._too_long = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if not self._too_long:
                yield b"".join([*self._pending, part])
            self._pending, self._size, self._too_long = [], 0, False
        self._size += len(rest)
        if self._size > LONGEST_LINE and not self._too_long:
            self._too_long = True
            self._pending = []
            yield b"{"  # no JSON, so it is answered as such
        if rest and not self._too_long:
            self._pending.append(rest)

    def rest(self) -> Iterator[bytes]:
        if self._pending:
            yield b"".join(self._pending)


async def _read_when_ready(descriptor: int) -> AsyncGenerator[bytes, None]:
    while True:
        await anyio.wait_readable(descriptor)
        if not (chunk := _read(descriptor)):
            return
        yield chunk


async def _read_in_thread(descriptor: int) -> AsyncGenerator[bytes, None]:
    outbox, inbox = channel[bytes](16)
    token = anyio.lowlevel.current_token()

    def read_all() -> None:
        try:
            while chunk := _read(descriptor):
                anyio.from_thread.run(outbox.send, chunk, token=token)
        finally:
            anyio.from_thread.run_sync(outbox.close, token=token)

    _start_thread("wire input", read_all)
    with outbox, inbox:
        async for chunk in inbox:
            yield chunk


class Output:
    """Writes whole lines, one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = anyio.Lock(fast_acquire=True)
        self._token = anyio.lowlevel.current_token()
        self._room = _Room(descriptor) if _tells_when_ready(descriptor) else None
        # Holds one line, and those whose senders were cancelled while it was written.
        self._lines: queue.SimpleQueue[tuple[memoryview, anyio.Event] | None]
        self._lines = queue.SimpleQueue()
        self._in_thread = 0
        _start_thread("wire output", self._write_lines)

    async def send(self, line: bytes) -> None:
        """Write *line* and its end."""
        async with self._turn:
            left = memoryview(line + b"\n")
            # Behind what a thread is writing, only that thread may write.
            if self._room is not None and not self._in_thread:
                left = self._room.fill(left)
            if left:
                written = anyio.Event()
                self._in_thread += 1
                self._lines.put((left, written))
                await written.wait()

    def close(self) -> None:
        """Let the thread end; what it was given before is written first."""
        self._lines.put(None)

    def _write_lines(self) -> None:
        while (item := self._lines.get()) is not None:
            left, written = item
            with suppress(OSError):  # the client has gone; its input ends too
                while left:
                    left = left[os.write(self._descriptor, left) :]
            anyio.from_thread.run_sync(self._written, written, token=self._token)

    def _written(self, written: anyio.Event) -> None:
        self._in_thread -= 1
        written.set()


class _Room:
    """What a pipe or a socket takes without making its writer wait."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def fill(self, left: memoryview) -> memoryview:
        """Write as much as there is room for, and give back the rest."""
        while left and self._is_there():
            # So much fits wherever anything does; of more, the writer might wait.
            try:
                done = os.write(self._descriptor, left[: select.PIPE_BUF])
            except OSError:  # the client has gone; its input ends too
                return left[:0]
            left = left[done:]
        return left

    def _is_there(self) -> bool:
        return any(event & select.POLLOUT for _, event in self._poll.poll(0))


def _tells_when_ready(descriptor: int) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


def _start_thread(name: str, target: Callable[[], Any]) -> None:
    def run() -> None:
        # The service has ended while we waited: there is nobody left to tell.
        with suppress(
            anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError
        ):
            target()

    threading.Thread(target=run, daemon=True, name=name).start()

"""The wire: JSON-RPC lines on standard input and output, and nothing else there.

Reading and writing block, so each has a thread - daemons, because a thread that waits
for a client which says nothing must not keep the process from ending.
"""

import os
import queue
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio
import anyio.from_thread
import anyio.lowlevel
import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from ubp.actors.ports import Inbox, Outbox, channel
from ubp.protocol.descriptors import Descriptors
from ubp.protocol.framing import Refusal, parse

__all__ = ("Wire", "open_wire")

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. A longer line is refused as it comes, so it cannot fill the memory."""

FINISH_WITHIN = 1.5
"""Seconds that calls in flight have to finish once the input has ended."""

DRAIN_WITHIN = 0.5
"""Seconds a client has to take the last answers."""

MOST_IN_FLIGHT = 64
"""Requests being served at a time. Beyond that nothing is read until one is answered,
so a client that asks and does not listen fills its own pipe, not our memory."""

_CHUNK = 64 * 1024


class Wire(NamedTuple):
    """The streams the server of the SDK is run on."""

    incoming: Inbox[SessionMessage | Exception]
    outgoing: Outbox[SessionMessage]


@asynccontextmanager
async def open_wire(descriptors: Descriptors, stop: anyio.Event) -> AsyncIterator[Wire]:
    """The wire, open until the block is left; *stop* is as if the input ended.

    The end of the input sets it, too.
    """
    to_server, incoming = channel[SessionMessage | Exception](0)
    outgoing, from_server = channel[SessionMessage](0)
    output = _Output(descriptors.output)
    calls = _InFlight()
    drained = anyio.Event()
    with to_server, incoming, outgoing, from_server:
        async with anyio.create_task_group() as group:
            group.start_soon(
                _pump_in, descriptors.input, to_server, output, calls, stop
            )
            group.start_soon(_pump_out, from_server, output, calls, drained)
            try:
                yield Wire(incoming, outgoing)
            finally:
                # The last answers are not cut, unless the client does not take them.
                outgoing.close()
                with anyio.move_on_after(DRAIN_WITHIN, shield=True):
                    await drained.wait()
                output.close()
                group.cancel_scope.cancel()


class _InFlight:
    """The requests that have not been answered yet."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._fewer = anyio.Event()

    def add(self, ident: Any) -> None:
        self._ids.add(ident)

    async def settle(self, ident: Any) -> None:
        self._ids.discard(ident)
        self._fewer.set()
        self._fewer = anyio.Event()

    async def at_most(self, number: int) -> None:
        """Wait until no more than *number* are left."""
        while len(self._ids) > number:
            await self._fewer.wait()


async def _pump_in(
    descriptor: int,
    to_server: Outbox[SessionMessage | Exception],
    output: "_Output",
    calls: _InFlight,
    stop: anyio.Event,
) -> None:
    lines, inbox = channel[bytes | None](16)
    token = anyio.lowlevel.current_token()

    def forward(line: bytes | None) -> None:
        anyio.from_thread.run(lines.send, line, token=token)

    _start_thread(_read_lines, descriptor, forward)
    with lines, inbox, to_server:
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_on, stop, group.cancel_scope)
            async for line in inbox:
                if line is None:
                    break
                message = parse(line)
                if isinstance(message, Refusal):
                    await output.send(message.encoded())
                elif message is not None:
                    await to_server.send(_session_message(message, calls))
                    await calls.at_most(MOST_IN_FLIGHT)
            group.cancel_scope.cancel()
        # No more requests. What was asked for may still be on its way.
        stop.set()
        with anyio.move_on_after(FINISH_WITHIN):
            await calls.at_most(0)


async def _cancel_on(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _session_message(message: Any, calls: _InFlight) -> SessionMessage:
    if not isinstance(message, types.JSONRPCRequest):
        return SessionMessage(message)
    ident = message.id
    calls.add(ident)

    async def unanswered() -> None:
        await calls.settle(ident)

    return SessionMessage(
        message, ServerMessageMetadata(on_request_unanswered=unanswered)
    )


async def _pump_out(
    from_server: Inbox[SessionMessage],
    output: "_Output",
    calls: _InFlight,
    drained: anyio.Event,
) -> None:
    try:
        async for item in from_server:
            message = item.message
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            await output.send(text.encode())
            if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                await calls.settle(message.id)
    finally:
        drained.set()


class _Output:
    """Writes whole lines, in a thread, one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = anyio.Lock()
        self._token = anyio.lowlevel.current_token()
        # Holds one line at most: the lock is only released when it is written.
        self._lines: queue.SimpleQueue[tuple[bytes, anyio.Event] | None]
        self._lines = queue.SimpleQueue()
        _start_thread(self._write_lines)

    async def send(self, line: bytes) -> None:
        async with self._turn:
            written = anyio.Event()
            self._lines.put((line + b"\n", written))
            await written.wait()

    def close(self) -> None:
        """Let the thread end; what it was given before is written first."""
        self._lines.put(None)

    def _write_lines(self) -> None:
        while (item := self._lines.get()) is not None:
            line, written = item
            with suppress(OSError):  # the client has gone; its input ends too
                view = memoryview(line)
                while view:
                    view = view[os.write(self._descriptor, view) :]
            anyio.from_thread.run_sync(written.set, token=self._token)


def _read_lines(descriptor: int, forward: Callable[[bytes | None], None]) -> None:
    """Forward each line, and None at the end."""
    pending: list[bytes] = []
    size = 0
    too_long = False
    while True:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except OSError:
            chunk = b""
        if not chunk:
            break
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if not too_long:
                forward(b"".join([*pending, part]))
            pending, size, too_long = [], 0, False
        size += len(rest)
        if size > LONGEST_LINE and not too_long:
            too_long = True
            pending = []
            forward(b"{")  # no JSON, so it is answered as such
        if rest and not too_long:
            pending.append(rest)
    if pending:
        forward(b"".join(pending))
    forward(None)


def _start_thread(target: Callable[..., None], *args: Any) -> None:
    def run() -> None:
        # The service has ended while we waited: there is nobody left to tell.
        with suppress(
            anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError
        ):
            target(*args)

    threading.Thread(target=run, daemon=True, name=target.__name__).start()

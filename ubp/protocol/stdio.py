"""The wire: JSON-RPC lines on standard input and output, and nothing else there."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from ubp.actors.ports import Inbox, Outbox, channel
from ubp.protocol.descriptors import Descriptors
from ubp.protocol.framing import Refusal, parse
from ubp.protocol.lines import Output, lines_of

__all__ = ("Wire", "open_wire")

FINISH_WITHIN = 1.5
"""Seconds that calls in flight have to finish once the input has ended."""

DRAIN_WITHIN = 0.5
"""Seconds a client has to take the last answers."""

MOST_IN_FLIGHT = 64
"""Requests being served at a time. Beyond that nothing is read until one is answered,
so a client that asks and does not listen fills its own pipe, not our memory."""


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
    output = Output(descriptors.output)
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
    output: Output,
    calls: _InFlight,
    stop: anyio.Event,
) -> None:
    with to_server:
        async with (
            anyio.create_task_group() as group,
            aclosing(lines_of(descriptor)) as lines,
        ):
            group.start_soon(_cancel_on, stop, group.cancel_scope)
            async for line in lines:
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
    output: Output,
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

"""The wire over real pipes."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import anyio
import mcp_types as types
import msgspec
import pytest
from anyio import to_thread
from mcp.shared.message import SessionMessage
from waiting import soon

from ubp.protocol import lines, stdio
from ubp.protocol.descriptors import Descriptors
from ubp.protocol.stdio import open_wire


class Pipes(NamedTuple):
    """The client's ends, and the server's."""

    to_server: int
    from_server: int
    server: Descriptors


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    server_in, to_server = os.pipe()
    from_server, server_out = os.pipe()
    yield Pipes(to_server, from_server, Descriptors(server_in, server_out))
    with suppress(OSError):
        os.close(to_server)
    # Now the reading thread sees the end; before its descriptor is used again.
    join("wire input", "wire output")
    for descriptor in (from_server, server_in, server_out):
        os.close(descriptor)


def join(*names: str) -> None:
    """Wait for the wire's threads of these names."""
    for thread in threading.enumerate():
        if thread.name in names:
            thread.join(10)


async def answer(pipes: Pipes) -> dict[str, object]:
    with anyio.fail_after(10):
        raw = await to_thread.run_sync(os.read, pipes.from_server, 65536)
    found: dict[str, object] = msgspec.json.decode(raw)
    return found


def request(ident: int) -> bytes:
    message = {"jsonrpc": "2.0", "id": ident, "method": "ping"}
    return msgspec.json.encode(message) + b"\n"


async def test_a_line_in_pieces_is_one_message(pipes: Pipes) -> None:
    async with open_wire(pipes.server, anyio.Event()) as wire:
        whole = request(7)
        os.write(pipes.to_server, whole[:9])
        os.write(pipes.to_server, whole[9:])

        item = await soon(wire.incoming)

        assert isinstance(item, SessionMessage)
        assert isinstance(item.message, types.JSONRPCRequest)
        assert item.message.id == 7


async def test_what_is_no_message_is_answered_without_the_server(pipes: Pipes) -> None:
    async with open_wire(pipes.server, anyio.Event()):
        os.write(pipes.to_server, b"nonsense\n")

        error = (await answer(pipes))["error"]

        assert isinstance(error, dict)
        assert error["code"] == -32700


async def test_a_line_beyond_all_measure_is_refused_and_the_next_is_read(
    pipes: Pipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1_000)
    async with open_wire(pipes.server, anyio.Event()) as wire:
        os.write(pipes.to_server, b"x" * 3_000)
        assert "error" in await answer(pipes)
        os.write(pipes.to_server, b"x" * 3_000 + b"\n" + request(1))

        item = await soon(wire.incoming)

        assert isinstance(item, SessionMessage)


async def test_an_answer_is_one_line(pipes: Pipes) -> None:
    async with open_wire(pipes.server, anyio.Event()) as wire:
        result = types.JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "a\nb"})
        await wire.outgoing.send(SessionMessage(result))

        with anyio.fail_after(10):
            raw = await to_thread.run_sync(os.read, pipes.from_server, 65536)

        assert raw.endswith(b"\n")
        assert raw.count(b"\n") == 1


async def test_the_input_ends_only_after_what_was_asked_is_answered(
    pipes: Pipes,
) -> None:
    stop = anyio.Event()
    async with open_wire(pipes.server, stop) as wire:
        os.write(pipes.to_server, request(1))
        await soon(wire.incoming)
        os.close(pipes.to_server)
        await stop.wait()  # the end has been seen
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(anyio.WouldBlock):
            wire.incoming.receive_nowait()

        result = types.JSONRPCResponse(jsonrpc="2.0", id=1, result={})
        await wire.outgoing.send(SessionMessage(result))

        with pytest.raises(anyio.EndOfStream):
            await soon(wire.incoming)


async def test_a_call_that_never_ends_does_not_keep_the_input_open(
    pipes: Pipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "FINISH_WITHIN", 0.05)
    async with open_wire(pipes.server, anyio.Event()) as wire:
        os.write(pipes.to_server, request(1))
        await soon(wire.incoming)
        os.close(pipes.to_server)

        with pytest.raises(anyio.EndOfStream):
            await soon(wire.incoming)


async def test_a_stop_ends_the_input_as_the_client_would(pipes: Pipes) -> None:
    stop = anyio.Event()
    async with open_wire(pipes.server, stop) as wire:
        stop.set()

        with pytest.raises(anyio.EndOfStream):
            await soon(wire.incoming)


async def test_the_end_of_the_input_is_told_to_whoever_waits_for_a_stop(
    pipes: Pipes,
) -> None:
    """So that streams, which would never end by themselves, are answered in time."""
    stop = anyio.Event()
    async with open_wire(pipes.server, stop) as wire:
        os.write(pipes.to_server, request(1))
        await soon(wire.incoming)
        os.close(pipes.to_server)

        with anyio.fail_after(10):
            await stop.wait()

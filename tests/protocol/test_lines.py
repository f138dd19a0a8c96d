"""Lines over what a client may give for a wire: pipes, sockets, files."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from ubp.protocol.lines import Output, lines_of

MUCH = b"m" * 300_000
"""More than a pipe or a socket holds."""


@pytest.fixture(params=["pipe", "socket"])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """Where is read from, and where is written to."""
    if request.param == "pipe":
        reading, writing = os.pipe()
    else:
        one, other = socket.socketpair()
        reading, writing = one.detach(), other.detach()
    yield reading, writing
    for thread in threading.enumerate():
        if thread.name.startswith("wire "):
            thread.join(10)
    for descriptor in (reading, writing):
        with suppress(OSError):
            os.close(descriptor)


async def all_of(descriptor: int) -> list[bytes]:
    with anyio.fail_after(20):
        return [line async for line in lines_of(descriptor)]


async def test_lines_come_whole_and_the_last_needs_no_end(
    ends: tuple[int, int],
) -> None:
    reading, writing = ends
    os.write(writing, b"one\n\ntwo\nthree")
    os.close(writing)

    assert await all_of(reading) == [b"one", b"", b"two", b"three"]


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"one\n" + MUCH + b"\nthree\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert await all_of(descriptor) == [b"one", MUCH, b"three"]
    finally:
        os.close(descriptor)


async def test_a_file_is_written_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    output = Output(descriptor)
    with anyio.fail_after(20):
        await output.send(b"one")
        await output.send(MUCH)
    output.close()
    os.close(descriptor)

    assert path.read_bytes() == b"one\n" + MUCH + b"\n"


async def test_lines_longer_than_the_room_there_is_arrive_whole_and_in_order(
    ends: tuple[int, int],
) -> None:
    reading, writing = ends
    sent = [b"short", MUCH, b"s" * 5_000, MUCH, b"end"]
    output = Output(writing)

    async def send_all() -> None:
        for line in sent:
            await output.send(line)
        output.close()
        os.close(writing)

    async with anyio.create_task_group() as group:
        group.start_soon(send_all)
        assert await all_of(reading) == sent


async def test_what_a_cancelled_sender_left_is_written_before_anything_else(
    ends: tuple[int, int],
) -> None:
    reading, writing = ends
    output = Output(writing)
    with anyio.move_on_after(0.05) as given_up:
        await output.send(MUCH)
    assert given_up.cancelled_caught

    async def send_another() -> None:
        await output.send(b"another")
        output.close()
        os.close(writing)

    async with anyio.create_task_group() as group:
        group.start_soon(send_another)
        assert await all_of(reading) == [MUCH, b"another"]


async def test_sending_to_a_client_that_has_gone_is_no_error(
    ends: tuple[int, int],
) -> None:
    reading, writing = ends
    os.close(reading)
    output = Output(writing)
    with anyio.fail_after(20):
        await output.send(b"one")
        await output.send(MUCH)
    output.close()


async def test_the_event_loop_goes_on_while_a_client_does_not_read(
    ends: tuple[int, int],
) -> None:
    reading, writing = ends
    output = Output(writing)
    async with anyio.create_task_group() as group:
        group.start_soon(output.send, MUCH)
        await anyio.wait_all_tasks_blocked()  # it waits, and we do not
        taken = 0
        with anyio.fail_after(20):
            while taken <= len(MUCH):
                taken += len(await to_thread.run_sync(os.read, reading, 65_536))
    output.close()

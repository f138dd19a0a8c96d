"""Starts a server as a client would, and speaks with it, line by line.

By hand rather than with the client of the SDK: that one passes over what is no message,
and it is just what is wrong with a server that we want to see.
"""

import json
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from ubp.clients.launching import Launch

__all__ = ("Conversation", "Ended", "Fault", "Noise", "Refused", "Silent", "talking")

_LONGEST_LINE = 16_000_000
"""Bytes; the list of all tools is far below."""
_LOG_LINES = 40
"""Of the log, the last ones: an error is at its end."""
_PATIENCE_AT_THE_END = 10.0
"""Seconds a server has to end by itself when its input ends."""


class Fault(Exception):
    """Why a conversation cannot go on."""


class Silent(Fault):
    """Nothing came within the time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Noise(Fault):
    """Something came that is no message."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


class Ended(Fault):
    """The server ended."""

    def __init__(self, code: int | None, log: tuple[str, ...]) -> None:
        super().__init__(code)
        self.code = code
        self.log = log


class Refused(Fault):
    """The answer is an error."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Conversation:
    """Questions to a server that has been started, and its answers."""

    def __init__(self, process: Process) -> None:
        self._process = process
        if process.stdin is None or process.stdout is None:
            raise ValueError(process)
        self._input = process.stdin
        self._output = BufferedByteReceiveStream(process.stdout)
        self._asked = 0
        self._log: deque[bytes] = deque(maxlen=_LOG_LINES)
        self._log_ended = anyio.Event()

    async def ask(self, method: str, params: Any, *, within: float) -> dict[str, Any]:
        """The result of *method*.

        Raises:
            Fault: There is none.
        """
        self._asked += 1
        question = {"jsonrpc": "2.0", "id": self._asked, "method": method}
        try:
            with anyio.fail_after(within):
                await self._send({**question, "params": params})
                while (answer := await self._message()).get("id") != self._asked:
                    pass
        except TimeoutError:
            if self._output.buffer:
                raise Noise(_decoded(self._output.buffer)) from None
            raise Silent(within) from None
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead):
            raise await self._ended() from None
        if "error" in answer:
            error = answer["error"]
            message = error.get("message") if isinstance(error, dict) else None
            raise Refused(str(message))
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    async def tell(self, method: str) -> None:
        """Send a notification; a server that has ended says so when it is asked."""
        await self._send({"jsonrpc": "2.0", "method": method})

    async def collect_log(self, stream: ByteReceiveStream) -> None:
        """Read the log to its end; a server whose log is not read stands still."""
        rest = b""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for piece in stream:
                *lines, rest = (rest + piece).split(b"\n")
                self._log.extend(lines)
                rest = rest[-_LONGEST_LINE:]
        self._log.append(rest)
        self._log_ended.set()

    async def _send(self, message: dict[str, Any]) -> None:
        with suppress(anyio.BrokenResourceError):  # what it said last is still to come
            await self._input.send(json.dumps(message).encode() + b"\n")

    async def _message(self) -> dict[str, Any]:
        try:
            line = await self._output.receive_until(b"\n", _LONGEST_LINE)
        except anyio.DelimiterNotFound:
            raise Noise(_decoded(self._output.buffer)) from None
        except anyio.IncompleteRead:
            if self._output.buffer.strip():
                raise Noise(_decoded(self._output.buffer)) from None
            raise
        try:
            message = json.loads(line)
        except ValueError:
            raise Noise(_decoded(line)) from None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise Noise(_decoded(line))
        return message

    async def _ended(self) -> Ended:
        with anyio.move_on_after(_PATIENCE_AT_THE_END):
            await self._process.wait()
            await self._log_ended.wait()
        lines = (_decoded(line).rstrip() for line in self._log)
        return Ended(self._process.returncode, tuple(line for line in lines if line))


@asynccontextmanager
async def talking(launch: Launch, folder: Path) -> AsyncIterator[Conversation]:
    """A server started by *launch* in *folder*; it ends with the block.

    Raises:
        OSError: It cannot be started.
    """
    process = await anyio.open_process(
        [launch.command, *launch.args],
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=folder,
        env={**os.environ, **launch.env},
    )
    conversation = Conversation(process)
    fault: Fault | None = None
    try:
        async with anyio.create_task_group() as group:
            if process.stderr is not None:
                group.start_soon(conversation.collect_log, process.stderr)
            try:
                yield conversation
            except Fault as caught:  # as it is: a task group would wrap it
                fault = caught
            await _end(process)
            group.cancel_scope.cancel()
    finally:
        if process.returncode is None:  # we were interrupted
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()
    if fault is not None:
        raise fault


async def _end(process: Process) -> None:
    """As a client ends a server: its input ends, and after a while it is killed."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(_PATIENCE_AT_THE_END):
        await process.wait()
        return
    process.kill()
    await process.wait()


def _decoded(line: bytes | bytearray) -> str:
    return bytes(line[:1_000]).decode(errors="replace")

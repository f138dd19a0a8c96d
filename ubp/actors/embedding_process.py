"""The parent's side of the embedding process: start it, ask it, end it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from subprocess import DEVNULL
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.to_thread
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream

from ubp.actors.embedding_child import (
    Answer,
    Embed,
    Job,
    Loaded,
    NotLoaded,
    Refused,
    Text,
    Unavailable,
    Vectors,
)
from ubp.actors.frames import HEADER, framed
from ubp.actors.ports import Outbox, channel
from ubp.errors import EmbeddingServiceFailed, ModelUnusable
from ubp.telemetry import get_logger

if TYPE_CHECKING:
    # numpy is loaded with the first vector: starting must not wait for it.
    import numpy as np
    from numpy.typing import NDArray

__all__ = ("EmbeddingProcess", "ProcessLost", "TextRefused")

log = get_logger("embedder")

_LOAD_WITHIN = 120.0
"""Seconds a model may take to load; a large one from a slow disk."""

_Reply = Vectors | Refused | Unavailable

_decode = msgspec.msgpack.Decoder(Answer).decode


class ProcessLost(Exception):
    """The process ended, or did not answer in time."""

    def __str__(self) -> str:
        return "The embedding process ended, or did not answer in time."


class TextRefused(Exception):
    """The model could not take a text."""


class EmbeddingProcess:
    """A running embedding process. Requests may overlap."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: anyio.abc.Process | None = None
        self._waiting: dict[int, Outbox[_Reply]] = {}
        self._last = 0
        self.dimension = 0

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self, group: anyio.abc.TaskGroup) -> None:
        """Start it, and have *group* hear its answers.

        Raises:
            ModelUnusable: It cannot load its model, and says why.
            ProcessLost: It ended without a word, or took too long.
        """
        command = [
            sys.executable,
            "-P",  # the current directory may hold anything; it is not ours to import
            "-m",
            "ubp.actors.embedding_child",
            msgspec.json.encode(self._job).decode(),
        ]
        # What comes needs it, and loading it would hold up the event loop.
        await anyio.to_thread.run_sync(import_module, "numpy")
        self._process = await anyio.open_process(command, stderr=DEVNULL)
        if self._process.stdout is None:
            raise ProcessLost
        answers = BufferedByteReceiveStream(self._process.stdout)
        try:
            with anyio.fail_after(_LOAD_WITHIN):
                first = await _receive(answers)
        except (TimeoutError, anyio.IncompleteRead, anyio.EndOfStream):
            await self.aclose()
            raise ProcessLost from None
        except BaseException:
            await self.aclose()
            raise
        match first:
            case Loaded(dimension):
                self.dimension = dimension
            case NotLoaded(message, cause, hint):
                await self.aclose()
                raise ModelUnusable(message, cause=cause, hint=hint)
            case Vectors() | Refused() | Unavailable():
                await self.aclose()
                raise ProcessLost
        group.start_soon(self._hear, answers)

    async def query(self, text: str, *, within: float) -> NDArray[np.float32]:
        """The vector of a query."""
        [vectors] = await self._ask((Text("", text),), within, is_query=True)
        first: NDArray[np.float32] = vectors[0]
        return first

    async def passages(
        self, texts: Sequence[Text], *, within: float
    ) -> list[NDArray[np.float32]]:
        """For each text its vectors: more than one where it exceeds the window.

        Raises:
            TextRefused: The model could not take one of them.
            ProcessLost: The process ended.
            EmbeddingServiceFailed: A service was asked, and made none.
        """
        if not texts:
            return []
        return await self._ask(tuple(texts), within, is_query=False)

    async def aclose(self) -> None:
        """End the process at once; there is nothing it could lose."""
        process = self._process
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                process.kill()
            await process.aclose()

    async def _ask(
        self, texts: tuple[Text, ...], within: float, *, is_query: bool
    ) -> list[NDArray[np.float32]]:
        import numpy as np

        process = self._process
        if process is None or process.stdin is None:
            raise ProcessLost
        self._last += 1
        number = self._last
        reply, answers = channel[_Reply](1)
        self._waiting[number] = reply
        body = msgspec.msgpack.encode(Embed(number, texts, is_query))
        try:
            with answers, anyio.fail_after(within):
                await process.stdin.send(framed(body))
                answer = await answers.receive()
        except (
            TimeoutError,
            anyio.EndOfStream,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
        ):
            raise ProcessLost from None
        finally:
            self._waiting.pop(number, reply).close()
        if isinstance(answer, Refused | Unavailable) and answer.fault:
            log.error("model.fault", traceback=answer.fault)
        if isinstance(answer, Refused):
            raise TextRefused(answer.reason)
        if isinstance(answer, Unavailable):
            raise EmbeddingServiceFailed(answer.said)
        lines = sum(answer.counts)
        values = np.frombuffer(answer.values, np.float32).reshape(lines, -1)
        cuts = np.cumsum(answer.counts)[:-1]
        return np.split(values, cuts)

    async def _hear(self, answers: BufferedByteReceiveStream) -> None:
        try:
            while True:
                answer = await _receive(answers)
                if isinstance(answer, Vectors | Refused | Unavailable):
                    waiting = self._waiting.get(answer.number)
                    if waiting is not None:
                        # A caller who gave up has closed its end.
                        with suppress(anyio.BrokenResourceError, anyio.WouldBlock):
                            waiting.send_nowait(answer)
        except (
            anyio.IncompleteRead,
            anyio.EndOfStream,
            anyio.ClosedResourceError,
            anyio.BrokenResourceError,
        ):
            log.debug("model.process_ended")
        finally:
            # Nobody else will answer; whoever waits must not wait for the deadline.
            for waiting in self._waiting.values():
                waiting.close()


async def _receive(answers: BufferedByteReceiveStream) -> Answer:
    header = await answers.receive_exactly(HEADER)
    body = await answers.receive_exactly(int.from_bytes(header, "big"))
    answer: Answer = _decode(body)
    return answer

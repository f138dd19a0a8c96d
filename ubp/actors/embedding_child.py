"""The embedding process: texts in, vectors out, over its own standard streams.

llama.cpp lives here and nowhere else: when it aborts, a process is lost, not the
service; and its memory and priority are its own. Two contexts share the one model, each
with a thread: one for queries, one for everything else at low priority, so that a query
never waits for a batch.

The first frame out is ``Loaded`` or ``NotLoaded``. Then every request gets one answer
with its number, in whatever order they are done.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import Struct

from ubp.actors.frames import read_frame, write_frame
from ubp.embedding.models import Pooling
from ubp.embedding.tokens import Bilingual, Tokenizer, WordPieces, pieces
from ubp.errors import ModelUnusable, UbpError

if TYPE_CHECKING:
    # Who asks this process for vectors imports it too, and may never need numpy.
    import numpy as np
    from numpy.typing import NDArray

__all__ = (
    "Answer",
    "Embed",
    "Job",
    "Loaded",
    "NotLoaded",
    "Refused",
    "Text",
    "Vectors",
    "main",
)


class Job(Struct, frozen=True, kw_only=True):
    """What the process is started for."""

    path: str
    tokenizer: str
    """A ``tokenizer.json``; empty for the one in the model file."""
    japanese: str = ""
    """The pieces for Japanese beside it; empty if there are none."""
    adapter: str = ""
    """A file with what to do differently where there are such pieces."""
    window: int
    pooling: Pooling | None
    query_prefix: str
    passage_prefix: str
    languages: tuple[str, ...]
    threads: int
    niceness: int


class Text(Struct, frozen=True, array_like=True):
    """A text to be embedded; *head* says what *body* is about."""

    head: str
    body: str


class Embed(Struct, frozen=True, array_like=True):
    """A request: a query, or passages."""

    number: int
    texts: tuple[Text, ...]
    is_query: bool


class Loaded(Struct, frozen=True, tag=True):
    """The model is ready."""

    dimension: int


class NotLoaded(Struct, frozen=True, tag=True):
    """The model is not, and the process ends."""

    message: str
    cause: str
    hint: str


class Vectors(Struct, frozen=True, tag=True):
    """The answer to a request: for each text one vector or more, one after another."""

    number: int
    counts: tuple[int, ...]
    values: bytes


class Refused(Struct, frozen=True, tag=True):
    """A request whose texts the model could not take."""

    number: int
    reason: str


Answer = Loaded | NotLoaded | Vectors | Refused

_encode = msgspec.msgpack.encode


def main(encoded: str) -> None:
    """Serve requests until the input ends."""
    # The service decides when this ends; an interrupt at the terminal is its business.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    frames_in = os.fdopen(os.dup(0), "rb")
    frames_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever llama.cpp prints must not go into the frames
    job = msgspec.json.decode(encoded, type=Job)
    try:
        _serve(job, frames_in, frames_out)
    except UbpError as error:
        told = NotLoaded(error.message, error.cause, error.hint)
        write_frame(frames_out, _encode(told))
    except ImportError as error:
        told = NotLoaded(
            "llama-cpp-python cannot be imported.",
            f"{error}.",
            "Install ubp again with pip; it needs a C++ compiler.",
        )
        write_frame(frames_out, _encode(told))
    frames_out.flush()
    # At once: nobody reads what a thread in llama.cpp might still compute.
    os._exit(0)


def _serve(job: Job, frames_in: BinaryIO, frames_out: BinaryIO) -> None:
    from ubp.embedding.llama import Adapter, LlamaModel

    own = _tokens(job)
    adapter = None
    if isinstance(own, Bilingual) and job.adapter:
        adapter = Adapter(Path(job.adapter), own.first)
    model = LlamaModel(Path(job.path), job.pooling, job.window, adapter)
    tokens = own or model.tokens
    if not job.tokenizer and "ja" in job.languages:
        _check_japanese(model.tokens.tells_voiced_kana(), model.name)
    speaking = threading.Lock()

    def answer(message: Answer) -> None:
        with speaking:
            write_frame(frames_out, _encode(message))

    queues: dict[bool, SimpleQueue[Embed]] = {}
    for is_query in (True, False):
        prefix = job.query_prefix if is_query else job.passage_prefix
        threads = max(job.threads, 2) if is_query else job.threads
        context = model.context(min(threads, os.cpu_count() or 1))
        queues[is_query] = SimpleQueue()
        worker = _Worker(tokens, prefix, model.window, context.vectors, answer)
        niceness = 0 if is_query else job.niceness
        threading.Thread(
            target=worker.run, args=(queues[is_query], niceness), daemon=True
        ).start()
    answer(Loaded(model.dimension))
    decode = msgspec.msgpack.Decoder(Embed).decode
    while (frame := read_frame(frames_in)) is not None:
        request = decode(frame)
        queues[request.is_query].put(request)


def _tokens(job: Job) -> Tokenizer | None:
    """The tokenizer beside the model file, if there is one."""
    if not job.tokenizer:
        return None
    english = WordPieces(Path(job.tokenizer))
    return Bilingual(english, Path(job.japanese)) if job.japanese else english


def _check_japanese(tells_voiced_kana: bool, name: str) -> None:
    if not tells_voiced_kana:
        raise ModelUnusable(
            f"The model file {name} was built with the wrong tokenizer.",
            cause="It cannot tell が from か, so Japanese would be found wrongly.",
            hint="Get the file from another place, or set embedding.languages to "
            '["en"] if you need no Japanese.',
        )


class _Worker:
    """One thread's work: requests of one kind, one after another."""

    def __init__(
        self,
        tokens: Tokenizer,
        prefix: str,
        window: int,
        compute: "Callable[[Sequence[Sequence[int]]], NDArray[np.float32]]",
        answer: Callable[[Answer], None],
    ) -> None:
        self._tokens = tokens
        self._prefix = tokens.ids(prefix) if prefix else []
        self._window = window
        self._compute = compute
        self._answer = answer

    def run(self, requests: "SimpleQueue[Embed]", niceness: int) -> None:
        if niceness and sys.platform == "linux":  # there, a thread has its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
        while True:
            request = requests.get()
            try:
                self._answer(self._embedded(request))
            except UbpError as error:
                reason = f"{error.message} {error.cause}"
                self._answer(Refused(request.number, reason))
            except Exception:  # noqa: BLE001 - reported with its traceback
                self._answer(Refused(request.number, traceback.format_exc()))

    def _knows(self, request: Embed) -> bool:
        """A query of nothing the model knows has a vector that means nothing."""
        ids = {each for text in request.texts for each in self._tokens.ids(text.body)}
        return not ids <= self._tokens.unknown

    def _embedded(self, request: Embed) -> Vectors | Refused:
        cut = [
            pieces(
                [*self._prefix, *self._tokens.ids(text.head)],
                self._tokens.ids(text.body),
                self._tokens.frame,
                self._window,
            )
            for text in request.texts
        ]
        if request.is_query:
            if not self._knows(request):
                return Refused(request.number, "The model knows none of these words.")
            cut = [each[:1] for each in cut]
        vectors = self._compute([ids for each in cut for ids in each])
        counts = tuple(len(each) for each in cut)
        return Vectors(request.number, counts, vectors.tobytes())


if __name__ == "__main__":
    main(sys.argv[1])

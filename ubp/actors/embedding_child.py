"""The embedding process: texts in, vectors out, over its own standard streams.

llama.cpp lives here and nowhere else: when it aborts, a process is lost, not the
service; and its memory and priority are its own. Two contexts share the one model, each
with a thread: one for queries, one for everything else at low priority, so that a query
never waits for a batch. Where a service over HTTP makes the vectors, this process waits
for it, with the same two threads.

The first frame out is ``Loaded`` or ``NotLoaded``. Then every request gets one answer
with its number, in whatever order they are done.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import Struct

from ubp.actors.frames import read_frame, write_frame
from ubp.config import secret
from ubp.embedding.models import Pooling
from ubp.embedding.remote import RemoteEmbedder, TextsRefused
from ubp.embedding.tokens import Bilingual, Tokenizer, WordPieces, pieces
from ubp.errors import EmbeddingServiceFailed, ModelUnusable, UbpError

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
    "Unavailable",
    "Vectors",
    "main",
)


class Job(Struct, frozen=True, kw_only=True):
    """What the process is started for."""

    path: str
    tokenizer: str
    """A ``tokenizer.json``; empty for the one in the model file."""
    rows: str = ""
    """The rows of the vocabulary; empty if they are in the model file."""
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
    name: str = ""
    url: str = ""
    """Of a service that makes the vectors; then there is no file."""
    api_key_env: str = ""
    dimension: int | None = None


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
    fault: str = ""
    """Where it failed, if it is a fault of ours: for the log, never for a client."""


class Unavailable(Struct, frozen=True, tag=True):
    """A request that could not be served, whatever its texts."""

    number: int
    said: str
    fault: str = ""
    """As of ``Refused``."""


Answer = Loaded | NotLoaded | Vectors | Refused | Unavailable

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
            "Install ubp again, as you did before; this needs a C++ compiler. In a "
            "desktop extension, tick *Search by meaning*.",
        )
        write_frame(frames_out, _encode(told))
    frames_out.flush()
    # At once: nobody reads what a thread in llama.cpp might still compute.
    os._exit(0)


def _serve(job: Job, frames_in: BinaryIO, frames_out: BinaryIO) -> None:
    speaking = threading.Lock()

    def answer(message: Answer) -> None:
        with speaking:
            write_frame(frames_out, _encode(message))

    work = _remote_work(job, answer) if job.url else _local_work(job, answer)
    queues: dict[bool, SimpleQueue[Embed]] = {}
    for is_query in (True, False):
        queues[is_query] = SimpleQueue()
        niceness = 0 if is_query else job.niceness
        threading.Thread(
            target=_run,
            args=(work[is_query], answer, queues[is_query], niceness),
            daemon=True,
        ).start()
    decode = msgspec.msgpack.Decoder(Embed).decode
    while (frame := read_frame(frames_in)) is not None:
        request = decode(frame)
        queues[request.is_query].put(request)


_Work = Callable[[Embed], Answer]


def _local_work(job: Job, answer: Callable[[Answer], None]) -> dict[bool, _Work]:
    """What to do with queries, and with passages, by llama.cpp."""
    from ubp.embedding.llama import Adapter, LlamaModel

    own = _tokens(job)
    adapter = None
    if isinstance(own, Bilingual) and job.adapter:
        adapter = Adapter(Path(job.adapter), own.first)
    rows = Path(job.rows) if job.rows else None
    model = LlamaModel(Path(job.path), job.pooling, job.window, adapter, rows)
    tokens = own or model.tokens
    if not job.tokenizer and "ja" in job.languages:
        _check_japanese(model.tokens.tells_voiced_kana(), model.name)
    work: dict[bool, _Work] = {}
    for is_query in (True, False):
        prefix = job.query_prefix if is_query else job.passage_prefix
        threads = max(job.threads, 2) if is_query else job.threads
        context = model.context(min(threads, os.cpu_count() or 1))
        work[is_query] = _Worker(tokens, prefix, model.window, context.vectors).embedded
    answer(Loaded(model.dimension))
    return work


def _remote_work(job: Job, answer: Callable[[Answer], None]) -> dict[bool, _Work]:
    """The same by a service; whether it answers is found out with the first text."""
    key = secret(job.api_key_env) if job.api_key_env else ""
    work: dict[bool, _Work] = {}
    for is_query in (True, False):
        service = RemoteEmbedder(job.url, job.name, key, dimension=job.dimension)
        prefix = job.query_prefix if is_query else job.passage_prefix
        work[is_query] = partial(_by_service, service, prefix)
    answer(Loaded(job.dimension or 0))
    return work


def _by_service(service: RemoteEmbedder, prefix: str, request: Embed) -> Answer:
    texts = [
        prefix + (f"{text.head}\n\n{text.body}" if text.head else text.body)
        for text in request.texts
    ]
    try:
        made = service.vectors(texts, "query" if request.is_query else "document")
    except EmbeddingServiceFailed as error:
        return Unavailable(request.number, error.said)
    except TextsRefused as error:
        return Refused(request.number, f"The embedding service refused: {error}")
    except Exception as error:  # noqa: BLE001 - not the texts' fault, whatever it is
        kind = type(error).__name__
        return Unavailable(request.number, kind, _where(error))
    return Vectors(request.number, (1,) * len(texts), made.tobytes())


def _run(
    work: _Work,
    answer: Callable[[Answer], None],
    requests: "SimpleQueue[Embed]",
    niceness: int,
) -> None:
    """One thread's work: requests of one kind, one after another."""
    if niceness and sys.platform == "linux":  # there, a thread has its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
    while True:
        request = requests.get()
        try:
            answer(work(request))
        except UbpError as error:
            reason = f"{error.message} {error.cause}"
            answer(Refused(request.number, reason))
        except OSError as error:
            # The model's file went, which is no text's fault. Whoever starts the next
            # process makes it again, if need be.
            sys.stderr.write(f"{error}\n")
            sys.stderr.flush()
            os._exit(1)
        except Exception as error:  # noqa: BLE001 - in the log with its traceback
            reason = f"The model failed over this: {type(error).__name__}."
            answer(Refused(request.number, reason, _where(error)))


def _where(error: Exception) -> str:
    """Its traceback without its message, which may hold a text, or a key."""
    return "".join(traceback.format_tb(error.__traceback__))


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
    """Turns texts into tokens, and tokens into vectors; for one thread."""

    def __init__(
        self,
        tokens: Tokenizer,
        prefix: str,
        window: int,
        compute: "Callable[[Sequence[Sequence[int]]], NDArray[np.float32]]",
    ) -> None:
        self._tokens = tokens
        self._prefix = tokens.ids(prefix) if prefix else []
        self._window = window
        self._compute = compute

    def _knows(self, request: Embed) -> bool:
        """A query of nothing the model knows has a vector that means nothing."""
        ids = {each for text in request.texts for each in self._tokens.ids(text.body)}
        return not ids <= self._tokens.unknown

    def embedded(self, request: Embed) -> Vectors | Refused:
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

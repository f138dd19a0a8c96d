"""The processes that run models: started when needed, kept while used, replaced.

There is one for each model in use: usually one, two while a new model takes over.
"""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.to_thread

from ubp.actors.embedding_child import Job, Text
from ubp.actors.embedding_process import EmbeddingProcess, ProcessLost
from ubp.embedding import japanese, library, weights
from ubp.embedding.models import Model
from ubp.embedding.remote_choice import host_of, key_for
from ubp.errors import ModelUnusable, UbpError
from ubp.project import Project
from ubp.telemetry import get_logger

if TYPE_CHECKING:
    # numpy is loaded with the first vector: starting must not wait for it.
    import numpy as np
    from numpy.typing import NDArray

__all__ = ("ModelProcesses", "job_for")

log = get_logger("embedder")

_QUERY_WITHIN = 10.0
"""Seconds a query's vector may take; the model is loaded then, so it takes moments."""

_TEXT_WITHIN = 30.0
"""Seconds each text of a batch may take; a large model on a busy machine."""

_SLOWEST = 100
"""Characters a second, at least: a very long text may take its time."""

_IDLE = 900.0
"""Seconds without work after which a model's memory is given back."""

_LOSSES = 6
_LOSSES_WITHIN = 60.0
"""A process lost this often in this many seconds is not started again for a while."""

_TRY_AGAIN = 30.0
"""Seconds after which a model that could not be used is tried again."""

_REMEMBERED = 256
"""Vectors of queries kept: agents ask the same thing again, with another limit."""


def job_for(model: Model, project: Project, identity: str = "") -> Job:
    """What the process for *model* needs to know. Blocking: it may make a file.

    Raises:
        ModelUnusable: Its file no longer makes the vectors of *identity*.
    """
    settings = project.settings.embedding
    folder = library.folder_for(settings, project.root)
    if model.url:
        key_for(model)  # the process finds it by itself; here it is only missed
    path = "" if model.url else str(library.ready(model, folder, _announce))
    if identity and library.identity(model, folder) != identity:
        raise ModelUnusable(
            f"The file of the model {model.name} is not what it was.",
            cause="Its vectors would not fit those in the index.",
            hint="Run `ubp index`: the vectors are made again.",
        )
    return Job(
        path=path,
        name=model.name,
        url=model.url,
        api_key_env=model.api_key_env,
        dimension=model.dimension,
        **_beside(model, folder, Path(path)),
        window=model.window,
        pooling=model.pooling,
        query_prefix=model.query_prefix,
        passage_prefix=model.passage_prefix,
        languages=model.languages,
        threads=settings.threads or max(1, (os.cpu_count() or 1) - 1),
        niceness=settings.niceness,
    )


def _beside(model: Model, folder: Path, path: Path) -> dict[str, str]:
    """The files the default model has beside its own."""
    if not model.is_default:
        return {"tokenizer": ""}
    files = {"tokenizer": weights.tokenizer_file(folder), "rows": library.rows(path)}
    if japanese.digest() is not None:
        files["japanese"] = japanese.pieces_file()
        files["adapter"] = library.adapter(path)
    return {name: str(each) for name, each in files.items()}


def _announce(what: str) -> None:
    log.info("model.preparing", what=what)


@dataclass(slots=True)
class _Seat:
    """What is known of one model's process."""

    turn: anyio.Lock = field(default_factory=anyio.Lock)
    """Whoever needs the process waits here for the one who starts it."""
    process: EmbeddingProcess | None = None
    at_work: int = 0
    """Requests that wait for its answer."""
    used: float = 0.0
    losses: deque[float] = field(default_factory=lambda: deque(maxlen=_LOSSES))
    unusable: UbpError | None = None
    try_at: float = 0.0


@contextmanager
def _working(seat: _Seat) -> Iterator[None]:
    seat.at_work += 1
    try:
        yield
    finally:
        seat.at_work -= 1
        seat.used = monotonic()


class ModelProcesses:
    """Vectors from models, whatever becomes of the processes that make them."""

    def __init__(
        self,
        group: anyio.abc.TaskGroup,
        project: Project,
        job: Callable[[Model, Project, str], Job] = job_for,
    ) -> None:
        self._group = group
        self._project = project
        self._job = job
        self._seats: dict[str, _Seat] = {}
        self._asked: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()

    async def query(
        self, model: Model, text: str, identity: str = ""
    ) -> NDArray[np.float32]:
        """The vector of a query, by the model of that identity if one is given.

        Raises:
            ModelUnusable: There is no process that could make it.
            TextRefused: The model could not take the text.
        """
        text = text.encode("utf-8", "replace").decode()  # a terminal may give any byte
        key = (identity or model.name + model.path, text)
        vector = self._asked.get(key)
        if vector is None:
            vector = await self._with_process(
                model,
                identity,
                lambda process: process.query(text, within=_QUERY_WITHIN),
            )
            self._asked[key] = vector
        self._asked.move_to_end(key)
        while len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)
        return vector

    async def passages(
        self, model: Model, texts: Sequence[Text], identity: str = ""
    ) -> list[NDArray[np.float32]]:
        """For each text its vectors, by the model of that identity if one is given.

        Raises:
            ModelUnusable: There is no process that could make them.
            ProcessLost: The process ended over these texts.
            TextRefused: The model could not take one of them.
        """
        seat, process = await self._running(model, identity)
        size = sum(len(text.head) + len(text.body) for text in texts)
        try:
            with _working(seat):
                within = _TEXT_WITHIN * len(texts) + size / _SLOWEST
                return await process.passages(texts, within=within)
        except ProcessLost:
            await self._lost(seat, process, model)
            raise

    async def end_idle(self) -> None:
        """Give back the memory of models nobody uses, for as long as this runs."""
        while True:
            await anyio.sleep(_IDLE / 10)
            for seat in list(self._seats.values()):
                idle = not seat.at_work and monotonic() - seat.used > _IDLE
                if idle and seat.process is not None and not seat.turn.locked():
                    process, seat.process = seat.process, None
                    await process.aclose()
                    log.info("model.released")

    async def aclose(self) -> None:
        for seat in list(self._seats.values()):
            if seat.process is not None:
                await seat.process.aclose()

    async def _with_process(
        self,
        model: Model,
        identity: str,
        ask: Callable[[EmbeddingProcess], Awaitable[NDArray[np.float32]]],
    ) -> NDArray[np.float32]:
        """The same question to a second process, should the first be lost over it."""
        for _ in range(2):
            seat, process = await self._running(model, identity)
            try:
                with _working(seat):
                    return await ask(process)
            except ProcessLost:
                await self._lost(seat, process, model)
        raise ModelUnusable(
            f"The model {model.name} ended its process.",
            cause="It did so twice over one query.",
        )

    async def _running(
        self, model: Model, identity: str
    ) -> tuple[_Seat, EmbeddingProcess]:
        """The process of *model*, started if need be."""
        seat = self._seats.setdefault(identity or model.name + model.path, _Seat())
        async with seat.turn:
            seat.used = monotonic()
            if seat.process is not None and seat.process.alive:
                return seat, seat.process
            if seat.unusable is not None and monotonic() < seat.try_at:
                raise seat.unusable
            try:
                seat.process = await self._start(model, identity)
            except UbpError as error:
                seat.unusable = error
                seat.try_at = monotonic() + _TRY_AGAIN
                raise
            seat.unusable = None
            return seat, seat.process

    async def _start(self, model: Model, identity: str) -> EmbeddingProcess:
        begin = monotonic()
        job = await anyio.to_thread.run_sync(self._job, model, self._project, identity)
        process = EmbeddingProcess(job)
        try:
            await process.start(self._group)
        except ProcessLost:
            raise ModelUnusable(
                f"The model {model.name} could not be loaded.",
                cause="Its process ended while loading it: the file may be damaged, "
                "or there is not enough memory.",
            ) from None
        log.info(
            "model.loaded",
            model=model.name,
            file=Path(job.path).name or host_of(model),
            ms=round((monotonic() - begin) * 1000),
        )
        return process

    async def _lost(self, seat: _Seat, process: EmbeddingProcess, model: Model) -> None:
        """Make sure it has ended; after too many, no new one for a while."""
        await process.aclose()
        if seat.process is process:
            seat.process = None
            seat.losses.append(monotonic())
            log.error("model.lost", model=model.name, losses=len(seat.losses))
        many = len(seat.losses) == _LOSSES
        if many and seat.losses[-1] - seat.losses[0] < _LOSSES_WITHIN:
            seat.unusable = ModelUnusable(
                f"The model {model.name} keeps ending its process.",
                cause=f"{_LOSSES} times within a minute.",
            )
            seat.try_at = monotonic() + 10 * _TRY_AGAIN
            seat.losses.clear()

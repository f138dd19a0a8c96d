"""How a tool gets the vector of a query: from the embedder, or from its own process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from ubp.actors.embedder import NOTHING_YET, query_vector
from ubp.actors.model_processes import ModelProcesses
from ubp.actors.ports import Call, Outbox, ask
from ubp.embedding import library
from ubp.errors import ActorStopped, Busy
from ubp.messages import EmbedQuery, NoVector, QueryVector
from ubp.project import Project
from ubp.store.session import Session
from ubp.store.vector_blocks import Blocks

__all__ = ("AskedMeaning", "DirectMeaning", "EmbeddingCall", "direct_meaning")

EmbeddingCall = Call[EmbedQuery, QueryVector | NoVector]

_WITHIN = 8.0
"""Seconds a search waits for its vector: moments, unless a model must be loaded. Then
it answers by words, and the next one finds the model ready."""


class AskedMeaning:
    """For the service: the embedder actor makes the vector."""

    def __init__(
        self, embedder: Outbox[EmbeddingCall], *, remote: bool = False
    ) -> None:
        """*remote*: a service over HTTP makes it; then no model has to be loaded."""
        self._embedder = embedder
        self._remote = remote
        self.blocks = Blocks()

    async def vector(self, text: str) -> QueryVector | NoVector:
        try:
            return await ask(self._embedder, EmbedQuery(text), within=_WITHIN)
        except Busy:
            if self._remote:
                told = "The embedding service did not answer in time."
                return NoVector(told, failed=True)
            return NoVector("The model is still being loaded.")
        except ActorStopped:
            return NoVector("The embedder has stopped; the log says why.")


class DirectMeaning:
    """For one command: a process is started if the database has vectors at all."""

    def __init__(
        self, project: Project, session: Session, processes: ModelProcesses
    ) -> None:
        self._project = project
        self._session = session
        self._processes = processes
        self.blocks = Blocks()

    async def vector(self, text: str) -> QueryVector | NoVector:
        project = self._project
        answer = await query_vector(text, project, self._session, self._processes)
        if answer != NOTHING_YET:
            return answer
        why = await anyio.to_thread.run_sync(
            library.problem, project.settings.embedding, project.root
        )
        remote = project.settings.embedding.provider == "http"
        return NoVector(why, failed=remote) if why else answer


@asynccontextmanager
async def direct_meaning(
    project: Project, session: Session
) -> AsyncIterator[DirectMeaning]:
    """Meaning for as long as the block lasts."""
    async with anyio.create_task_group() as group:
        processes = ModelProcesses(group, project)
        try:
            yield DirectMeaning(project, session, processes)
        finally:
            await processes.aclose()
            group.cancel_scope.cancel()

"""The embedder actor: vectors for stored texts, and for queries ahead of them.

What is to be done is in the database, so nothing is lost when this ends at any moment;
a nudge only says that it is worth looking.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import apsw
import msgspec

from ubp import config
from ubp.actors.embedding_child import Text
from ubp.actors.embedding_process import ProcessLost, TextRefused
from ubp.actors.model_processes import ModelProcesses
from ubp.actors.ports import Call, Inbox, Outbox, ask
from ubp.actors.progress import Progress
from ubp.embedding import library
from ubp.embedding.models import OFF, Model, chosen
from ubp.embedding.remote import AT_ONCE
from ubp.errors import NoRoom, UbpError
from ubp.languages import language_of
from ubp.messages import (
    AimAt,
    EmbedQuery,
    MadeVectors,
    ModelCompleted,
    NoVector,
    QueryVector,
    TextsChanged,
    VectorChange,
    VectorsMade,
)
from ubp.project import Project
from ubp.store import lock, vectors
from ubp.store.session import Session
from ubp.store.vectors import ModelRow, Waiting
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = ("NOTHING_YET", "Embedder", "query_vector")

log = get_logger("embedder")

_STORE_WITHIN = 120.0
"""Seconds the writer may take: it may be busy with a large change."""

_LOOK_AGAIN = 60.0
"""Seconds after which a model that could not be used is looked for again."""

_ROOM_AGAIN = 5.0
"""Seconds after which storing is tried again on a full disk."""


class _AtOnce(NamedTuple):
    """Of one batch: what a crash would cost, and a change has to wait for."""

    texts: int
    characters: int


_MOST_CHARACTERS = 100_000

_REMOTE = _AtOnce(AT_ONCE, 300_000)
"""A service takes much at a time, and each request takes its time."""

_OTHERS_TURN = 0.5
"""Seconds between two looks at how far another process is."""

_MOST_COUNTED = 1_000_000
"""Waiting texts counted while another process embeds: all there will ever be."""

NOTHING_YET = NoVector("Nothing is embedded yet.")

_SWITCHED_OFF = "Vectors are switched off (embedding.model)."

_NAMES = {"en": "English", "ja": "Japanese"}

_Batch = list[tuple[Waiting, Text]]


class _Next(NamedTuple):
    """What is to be done next."""

    batch: _Batch
    lost: list[Waiting]
    """Noted as texts by a pack that does not give them."""


class _Work(NamedTuple):
    """What texts are embedded with."""

    model: Model
    target: ModelRow
    processes: ModelProcesses


class Embedder:
    """Has texts turned into vectors by a process of its own, a batch at a time."""

    name = "embedder"

    def __init__(
        self,
        nudges: Inbox[TextsChanged],
        queries: Inbox[Call[EmbedQuery, QueryVector | NoVector]],
        writer: Outbox[Call[VectorChange, Any]],
        *,
        session: Session,
        project: Project,
        packs: Sequence[Pack],
        progress: Progress,
        again: bool = False,
        turn: anyio.Event | None = None,
    ) -> None:
        """*packs*: all there are, since texts of one that is not enabled wait too.

        *again*: what could not be embedded before is tried once more.

        Until *turn* is set, stored texts are left to another process.
        """
        self._nudges = nudges
        self._queries = queries
        self._writer = writer
        self._session = session
        self._project = project
        self._texts = {pack.name: pack.texts for pack in packs if pack.texts}
        self._hidden = {pack.name: pack.hidden for pack in packs if pack.hidden}
        self._progress = progress
        self._again = again
        self._turn = turn
        self._stirred = anyio.Event()
        """That a query found texts waiting which nobody told us of."""

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            processes = ModelProcesses(group, self._project)
            try:
                group.start_soon(processes.end_idle)
                async with anyio.create_task_group() as work:
                    work.start_soon(self._answer_queries, processes, work)
                    work.start_soon(self._follow_changes, processes)
            finally:
                await processes.aclose()
            group.cancel_scope.cancel()

    def close(self) -> None:
        self._nudges.close()
        self._queries.close()
        self._writer.close()

    # -- queries -----------------------------------------------------------------------

    async def _answer_queries(
        self, processes: ModelProcesses, group: anyio.abc.TaskGroup
    ) -> None:
        async for call in self._queries:
            # Each on its own: one that waits for a model to load holds up no other.
            group.start_soon(self._answer, call, processes)

    async def _answer(
        self, call: Call[EmbedQuery, QueryVector | NoVector], processes: ModelProcesses
    ) -> None:
        with call:
            text = call.request.text
            answer = await query_vector(text, self._project, self._session, processes)
            if answer == NOTHING_YET and self._progress.not_embedded:
                remote = self._project.settings.embedding.provider == "http"
                answer = NoVector(self._progress.not_embedded, failed=remote)
            call.answer(answer)
        await self._look_what_waits()

    async def _look_what_waits(self) -> None:
        """Another process may have stored texts, and it cannot nudge us."""
        with suppress(UbpError):  # whoever asks next is told of it
            if await self._session.run(vectors.count_waiting, 1):
                self._stirred.set()

    # -- passages ----------------------------------------------------------------------

    async def _follow_changes(self, processes: ModelProcesses) -> None:
        """Embed what waits, whenever something changed; at the end, what is left."""
        if self._turn is not None:
            await self._turn.wait()
        ended = False
        while not ended:
            try:
                await self._embed_all(processes)
                again = None
            except UbpError as error:
                self._tell(error)
                again = _ROOM_AGAIN if isinstance(error, NoRoom) else _LOOK_AGAIN
            with anyio.move_on_after(again):
                ended = await self._until_something_waits(look=again is None)
        try:
            await self._embed_all(processes)
        except UbpError as error:
            self._tell(error)

    async def _until_something_waits(self, *, look: bool) -> bool:
        """Whether it is the end that was waited for; *look*: queries may tell, too."""
        ended = False
        async with anyio.create_task_group() as group:
            if look:
                group.start_soon(_cancel_when, self._stirred, group.cancel_scope)
            try:
                await self._nudges.receive()
            except anyio.EndOfStream:
                ended = True
            group.cancel_scope.cancel()
        self._stirred = anyio.Event()
        return ended

    async def _embed_all(self, processes: ModelProcesses) -> None:
        """Until no text waits for a vector."""
        while True:
            with lock.trying(self._project.embedding_lock) as mine:
                if mine:
                    await self._embed_waiting(processes)
                    return
            # Another process is at it, and doing it twice is no quicker.
            left = await self._session.run(_left)
            self._progress.to_embed = max(self._progress.to_embed, left)
            self._progress.embedded = self._progress.to_embed - left
            if not left:
                return
            await anyio.sleep(_OTHERS_TURN)

    async def _embed_waiting(self, processes: ModelProcesses) -> None:
        model = await anyio.to_thread.run_sync(self._wanted)
        if model is None:
            self._progress.not_embedded = _SWITCHED_OFF
            return
        identity = await anyio.to_thread.run_sync(self._identity, model)
        spec = msgspec.json.encode(model).decode()
        target: ModelRow = await self._change(
            AimAt(identity, model.name, spec, model.languages, self._again)
        )
        self._again = False
        work = _Work(model, target, processes)
        size = self._project.settings.embedding.batch_size
        limit = _REMOTE if model.url else _AtOnce(size, _MOST_CHARACTERS)
        while any(found := await self._session.run(self._waiting, target, limit)):
            batch = found.batch
            await self._leave_out(found.lost, work)
            try:
                wanted = not batch or await self._embed(batch, work)
            except (ProcessLost, TextRefused) as error:
                log.warning("embed.one_by_one", reason=str(error))
                # Each is stored before the next is tried, so that no text that ends the
                # process keeps the others from being embedded.
                for entry in batch:
                    await self._embed_alone(*entry, work)
                wanted = True
            self._progress.preparing = ""
            if not wanted:
                return  # another process has aimed at another model
        self._progress.not_embedded = ""
        while await self._change(ModelCompleted()):
            pass  # the rest of a replaced model's vectors, some at a time

    async def _embed(self, batch: _Batch, work: "_Work") -> bool:
        """Have the texts of *batch* embedded and stored; whether they were wanted.

        Raises:
            ProcessLost: The process ended over them.
            TextRefused: The model could not take one of them.
        """
        texts = [text for _, text in batch]
        found = await work.processes.passages(work.model, texts, work.target.identity)
        made = tuple(
            MadeVectors(*entry, tuple(vector.tobytes() for vector in each))
            for (entry, _), each in zip(batch, found, strict=True)
        )
        wanted: bool = await self._change(VectorsMade(work.target.id, made))
        told = await self._session.run(self._told, [entry for entry, _ in batch])
        self._progress.embedded += told
        self._progress.made += told
        log.debug("embed.batch", texts=len(batch))
        return wanted

    async def _embed_alone(self, entry: Waiting, text: Text, work: "_Work") -> None:
        """The same for one text that may have none; it is left out after two tries."""
        reason = ""
        for _ in range(2):  # once may be chance: somebody may have killed the process
            try:
                await self._embed([(entry, text)], work)
            except (ProcessLost, TextRefused) as error:
                reason = str(error)
            else:
                return
        log.warning("embed.skipped", pack=entry.pack, row=entry.row, reason=reason)
        await self._leave_out([entry], work)

    async def _leave_out(self, entries: list[Waiting], work: "_Work") -> None:
        """Have it stored that these have no vector, so that nobody waits for them."""
        if entries:
            none = tuple(MadeVectors(*entry, ()) for entry in entries)
            await self._change(VectorsMade(work.target.id, none))
            self._progress.embedded += await self._session.run(self._told, entries)

    async def _change(self, change: VectorChange) -> Any:
        return await ask(self._writer, change, within=_STORE_WITHIN)

    def _tell(self, error: UbpError) -> None:
        told = f"{error.message} {error.cause} {error.hint}"
        if self._progress.not_embedded != told:
            log.warning(
                "embed.unavailable",
                error=error.message,
                cause=error.cause,
                hint=error.hint,
            )
        self._progress.not_embedded = told

    # -- in threads --------------------------------------------------------------------

    def _wanted(self) -> Model | None:
        """The model the settings ask for now: `ubp model use` may have changed them."""
        settings, _ = config.load(self._project.root / config.FILE_NAME)
        return chosen(settings.embedding, self._project.root)

    def _identity(self, model: Model) -> str:
        """What vectors the model makes.

        Raises:
            ConfigError: They are not of the dimension the settings expect.
        """
        settings = self._project.settings.embedding
        folder = library.folder_for(settings, self._project.root)
        path = library.find(model, folder)
        if path is None and model.is_default:
            self._progress.preparing = "Making the embedding model ready, once …"
        library.check_dimensions(model, folder, settings.dimensions)
        return library.identity(model, folder)

    def _waiting(self, db: apsw.Connection, target: ModelRow, limit: _AtOnce) -> _Next:
        """The next texts to embed, as they are in this state of the database."""
        hidden = self._hidden_rows(db)
        told = {**dict.fromkeys(self._texts, ()), **hidden} if hidden else None
        now = vectors.progress(db, told)
        left = now.total - now.completed - now.skipped
        self._progress.to_embed = self._progress.embedded + left
        waiting = vectors.waiting(db, target, limit.texts)
        batch: _Batch = []
        lost: list[Waiting] = []
        for pack in {entry.pack for entry in waiting}:
            of_pack = [entry for entry in waiting if entry.pack == pack]
            rows = [entry.row for entry in of_pack]
            texts = self._texts[pack](db, rows) if pack in self._texts else {}
            # Never an empty text in its place: its vector would be kept as the text's.
            lost += [entry for entry in of_pack if entry.row not in texts]
            batch += [
                (entry, Text(*texts[entry.row]))
                for entry in of_pack
                if entry.row in texts
            ]
        size = 0
        for number, (_, text) in enumerate(batch):
            size += len(text.head) + len(text.body)
            if number and size > limit.characters:
                return _Next(batch[:number], lost)
        return _Next(batch, lost)

    def _told(self, db: apsw.Connection, entries: Sequence[Waiting]) -> int:
        """How many of these whoever runs this process may know of."""
        hidden = {pack: set(rows) for pack, rows in self._hidden_rows(db).items()}
        return sum(entry.row not in hidden.get(entry.pack, ()) for entry in entries)

    def _hidden_rows(self, db: apsw.Connection) -> dict[str, Collection[int]]:
        found = {pack: rows(db) for pack, rows in self._hidden.items()}
        return {pack: rows for pack, rows in found.items() if rows}


async def _cancel_when(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _left(db: apsw.Connection) -> int:
    """How many texts wait; one at least while nobody has said for which model."""
    return vectors.count_waiting(db, _MOST_COUNTED) if vectors.target(db) else 1


async def query_vector(
    text: str, project: Project, session: Session, processes: ModelProcesses
) -> QueryVector | NoVector:
    """The vector of a query in the space of the vectors that serve, or why none."""
    if project.settings.embedding.model.strip().casefold() == OFF:
        return NoVector(_SWITCHED_OFF)
    try:
        serving = await session.run(vectors.serving)
    except UbpError as error:
        return NoVector(f"{error.message} {error.cause}")
    if serving is None or serving.dimension is None:
        return NOTHING_YET
    language = language_of(text)
    if language not in serving.languages:
        return NoVector(f"The model {serving.name} does not know {_NAMES[language]}.")
    try:
        model = msgspec.json.decode(serving.spec, type=Model)
    except msgspec.DecodeError:  # of another version; the next pass writes it anew
        return NOTHING_YET
    try:
        vector = await processes.query(model, text, serving.identity)
    except UbpError as error:
        told = f"{error.message} {error.cause} {error.hint}"
        return NoVector(told, failed=bool(model.url))
    except TextRefused as error:
        return NoVector(str(error), failed=bool(model.url))
    if len(vector) != serving.dimension and model.url:
        told = (
            f"The service makes vectors of {len(vector)} numbers for {serving.name} "
            f"now; those in the index have {serving.dimension}."
        )
        return NoVector(told, failed=True)
    if len(vector) != serving.dimension:
        return NoVector(f"The file of the model {serving.name} is not what it was.")
    scale = model.scale(language)
    return QueryVector(
        serving.id, vector.tobytes(), scale.unrelated, scale.related, scale.literal
    )

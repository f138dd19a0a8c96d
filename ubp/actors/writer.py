"""The writer actor: the only one that may change the database."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import apsw
import msgspec
from msgspec.structs import replace

from ubp.actors.ports import Call, Inbox, Outbox, nudge
from ubp.actors.progress import Progress
from ubp.actors.tool_runner import ToolRunner
from ubp.errors import Busy, ModelUnusable, NoRoom, UbpError
from ubp.messages import (
    AimAt,
    FileGone,
    FileParsed,
    FileUnchanged,
    IndexEvent,
    MadeVectors,
    ModelCompleted,
    ParseFailed,
    RunTool,
    ScanFinished,
    TextsChanged,
    VectorChange,
    VectorsMade,
)
from ubp.reading.walk import stamp_of
from ubp.store import files, fulltext, vectors
from ubp.store.connection import transaction
from ubp.store.session import Session
from ubp.store.vectors import ModelRow, VectorMismatch, Waiting
from ubp.telemetry import get_logger
from ubp.toolkit import Pack, Reading

__all__ = ("Writer",)

log = get_logger("writer")

T = TypeVar("T")

_MOST_EVENTS = 128
_MOST_BYTES = 4_000_000
"""Of one transaction: many documents at once are much cheaper to index, and a call
that wants to write waits for one transaction at most."""

_SETTLE_EVERY = 2.0
"""Seconds between settling some links while changes keep coming."""

_QUIET_AFTER = 0.2
"""Seconds without a change after which links are settled at once."""

_NO_ROOM = 0.5
_NO_ROOM_FOR_LONG = 5.0
"""Seconds until a write is tried again on a full disk, at first and later on."""

_QUIET = ScanFinished(0, 0, 0)
"""Stands for the moment when nothing comes; told apart by identity."""


_MANY = 1_000
"""Changed files after which tidying the full-text index is worth the while."""

# SQLite refused this document, not documents as such.
_DOCUMENT_AT_FAULT = (
    apsw.TooBigError,
    apsw.ConstraintError,
    apsw.MismatchError,
    msgspec.DecodeError,
    UnicodeEncodeError,
)


class Writer:
    """Carries events into the database, and runs the tools that write.

    A document is stored in one transaction, whole or not at all.
    """

    name = "writer"

    def __init__(
        self,
        events: Inbox[IndexEvent],
        calls: Inbox[Call[RunTool, Any]],
        vector_changes: Inbox[Call[VectorChange, Any]],
        embedder: Outbox[TextsChanged],
        *,
        session: Session,
        packs: Sequence[Pack],
        runner: ToolRunner,
        progress: Progress,
        folders: Mapping[str, Path] = {},
        waits_for_room: bool = True,
        tell_others: Callable[[], None] | None = None,
    ) -> None:
        """*folders*, by pack, are where its files are; without it none is moved.

        *tell_others* is called after a tool has written: another process may embed.
        """
        self._events = events
        self._calls = calls
        self._vector_changes = vector_changes
        self._embedder = embedder
        self._session = session
        self._readings = {
            pack.name: pack.reading for pack in packs if pack.reading is not None
        }
        self._decoders = {
            name: msgspec.msgpack.Decoder(reading.record)
            for name, reading in self._readings.items()
        }
        self._runner = runner
        self._progress = progress
        self._folders = folders
        self._waits_for_room = waits_for_room
        self._tell_others = tell_others
        self._counted: set[tuple[type[IndexEvent], Path]] = set()
        """What has been counted since the last comparison: a file that two packs read
        is one file."""

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._serve_calls)
            group.start_soon(self._serve_embedder)
            await self._carry_events()
            # It will embed what is left, and end; this ends when it has.
            self._embedder.close()

    def close(self) -> None:
        self._events.close()
        self._calls.close()
        self._vector_changes.close()
        self._embedder.close()

    async def _serve_calls(self) -> None:
        async for call in self._calls:
            await self._runner.serve(call, self._session)
            # Closed once no more files come: then it looks a last time by itself.
            with suppress(anyio.ClosedResourceError):
                nudge(self._embedder, TextsChanged())
            if self._tell_others is not None:
                await anyio.to_thread.run_sync(self._tell_others)

    async def _serve_embedder(self) -> None:
        async for call in self._vector_changes:
            with call:
                try:
                    done = await self._session.write(_change_vectors, call.request)
                except VectorMismatch as error:
                    call.answer(
                        ModelUnusable("Its vectors do not fit.", cause=f"{error}.")
                    )
                except UbpError as error:
                    # What it wanted stored still waits, and nobody else is affected.
                    call.answer(error)
                else:
                    call.answer(done)

    async def _carry_events(self) -> None:
        unsettled = False
        settle_at = 0.0
        while (first := await self._next(unsettled)) is not None:
            if first is _QUIET:
                await self._settle()
                unsettled = False
                continue
            batch = await self._write(self._store, self._waiting(first))
            nudge(self._embedder, TextsChanged())
            unsettled = True
            self._count(batch)
            finished = [each for each in batch if isinstance(each, ScanFinished)]
            if finished:
                await self._settle()
                unsettled = False
            elif monotonic() > settle_at:
                # Some of them: while changes keep coming, the time is for these, and
                # what is settled now may not be so after the next ones.
                unsettled = await self._write(self._settle_some)
                settle_at = monotonic() + _SETTLE_EVERY
            for scan in finished:
                await self._finish(scan)
        if unsettled:
            await self._settle()

    async def _next(self, unsettled: bool) -> IndexEvent | None:
        """The next event; None at the end, ``_QUIET`` if links could be settled."""
        with anyio.move_on_after(_QUIET_AFTER if unsettled else None):
            try:
                return await self._events.receive()
            except anyio.EndOfStream:
                return None
        return _QUIET

    async def _settle(self) -> None:
        while await self._write(self._settle_some):
            pass

    async def _write(self, function: Callable[..., T], *args: Any) -> T:
        """Write, as soon as that is possible: queries go on, and nothing is lost."""
        pause = 0.0
        while True:
            try:
                done = await self._session.write(function, *args)
            except (NoRoom, Busy) as error:
                if not self._waits_for_room:
                    raise
                if not pause:
                    log.error("index.no_room", cause=error.cause, hint=error.hint)  # noqa: TRY400
                pause = min(2 * pause, _NO_ROOM_FOR_LONG) or _NO_ROOM
                await anyio.sleep(pause)
            else:
                if pause:
                    log.info("index.room_again")
                return done

    def _waiting(self, first: IndexEvent) -> list[IndexEvent]:
        batch = [first]
        size = _size(first)
        while len(batch) < _MOST_EVENTS and size < _MOST_BYTES:
            try:
                batch.append(self._events.receive_nowait())
            except (anyio.WouldBlock, anyio.EndOfStream):
                break
            size += _size(batch[-1])
        return batch

    async def _finish(self, scan: ScanFinished) -> None:
        if scan.changed + scan.gone >= _MANY:
            await self._write(self._optimize)
        for pack, fingerprint in scan.fingerprints.items():
            await self._write(files.set_fingerprint, pack, fingerprint)
        self._progress.settled = True
        log.info(
            "index.updated",
            files=scan.seen,
            stored=self._progress.stored,
            failed=self._progress.failed,
            removed=self._progress.removed,
        )

    def _count(self, batch: Sequence[IndexEvent]) -> None:
        progress = self._progress
        for event in batch:
            if isinstance(event, ScanFinished):
                self._counted.clear()
                continue
            progress.done += 1
            if isinstance(event, FileParsed):
                for each in event.warnings:
                    log.debug("index.warning", path=event.path, kind=each.kind)
            where = self._folders.get(event.pack, Path(event.pack)) / event.path
            if (type(event), where) in self._counted:
                continue
            self._counted.add((type(event), where))
            match event:
                case FileParsed():
                    progress.stored += 1
                    progress.added += event.is_new
                case ParseFailed():
                    progress.failed += 1
                    log.warning(
                        "index.file_failed", path=event.path, reason=event.reason
                    )
                case FileGone():
                    progress.removed += 1
                case FileUnchanged():
                    pass

    # -- in the connection's thread ----------------------------------------------------

    def _store(
        self, db: apsw.Connection, batch: Sequence[IndexEvent]
    ) -> list[IndexEvent]:
        """Carry out *batch*; what could not be stored comes back as failed."""
        with transaction(db), fulltext.together(db):
            return [self._carry_out(db, event) for event in batch]

    def _carry_out(self, db: apsw.Connection, event: IndexEvent) -> IndexEvent:
        if self._is_overtaken(db, event):
            return event
        match event:
            case FileParsed():
                return self._store_document(db, event)
            case FileUnchanged(pack, path, stamp, digest):
                files.touch(db, pack, path, stamp, digest)
            case FileGone(pack, path):
                self._readings[pack].forget(db, path)
                files.forget(db, pack, path)
            case ParseFailed(pack, path, reason, stamp):
                self._readings[pack].forget(db, path)
                files.fail(db, pack, path, reason, stamp)
            case ScanFinished():
                pass
        return event

    def _is_overtaken(self, db: apsw.Connection, event: IndexEvent) -> bool:
        """Whether another process has already stored what is on disk by now.

        What it was read from may be older: then this would put old text over new.
        """
        if not isinstance(event, FileParsed | ParseFailed) or event.stamp is None:
            return False
        folder = self._folders.get(event.pack)
        if folder is None:
            return False
        known = files.known_at(db, event.pack, event.path)
        if known is None or known.stamp in (None, event.stamp):
            return False
        try:
            return stamp_of((folder / event.path).stat()) == known.stamp
        except OSError:
            return False

    def _store_document(self, db: apsw.Connection, event: FileParsed) -> IndexEvent:
        pack, path = event.pack, event.path
        reading: Reading[Any] = self._readings[pack]
        is_new = files.known_at(db, pack, path) is None
        try:
            # This document alone is taken back if it fails.
            with transaction(db), fulltext.together(db):
                record = self._decoders[pack].decode(event.record)
                old = self._former_path(db, event)
                if old is not None:
                    reading.rename(db, old, path)
                    files.rename(db, pack, old, path)
                reading.save(db, path, event.digest, record, event.reset)
                files.remember(
                    db, pack, path, event.stamp, event.digest, event.warnings
                )
        except _DOCUMENT_AT_FAULT as error:
            reason = f"Cannot be stored: {type(error).__name__}."
            failed = ParseFailed(pack, path, reason, event.stamp)
            return self._carry_out(db, failed)
        return replace(event, is_new=is_new)

    def _former_path(self, db: apsw.Connection, event: FileParsed) -> str | None:
        """Where the index has a file that was moved; None if it was not.

        Moved is what the index does not know at its path, while it knows the same
        content at a path where there is nothing any more. What changed comes before
        what is gone, so it still does.
        """
        folder = self._folders.get(event.pack)
        if folder is None:
            return None
        known = files.same_content(db, event.pack, event.path, event.digest)
        # Where the new path is gone too, all of the folder may be: unmounted, perhaps.
        if not known or _is_gone(folder / event.path):
            return None
        return next((path for path in known if _is_gone(folder / path)), None)

    def _settle_some(self, db: apsw.Connection) -> bool:
        with transaction(db):
            more = [reading.settle(db) for reading in self._readings.values()]
        return any(more)

    def _optimize(self, db: apsw.Connection) -> None:
        for reading in self._readings.values():
            with transaction(db):
                reading.optimize(db)
        db.pragma("optimize")


def _change_vectors(db: apsw.Connection, change: VectorChange) -> ModelRow | bool:
    """Carry out what the embedder asks for; whether it should go on with it."""
    with transaction(db):
        match change:
            case AimAt(identity, name, spec, languages, again):
                if again:
                    vectors.try_again(db)
                return vectors.aim(
                    db, identity=identity, name=name, spec=spec, languages=languages
                )
            case VectorsMade(model, made):
                _store_vectors(db, model, made)
                target = vectors.target(db)
                return target is not None and target.id == model
            case ModelCompleted():
                vectors.promote(db)
                return vectors.tidy(db)


def _store_vectors(
    db: apsw.Connection, model: int, made: Sequence[MadeVectors]
) -> None:
    import numpy as np  # with the first vector: starting must not wait for it

    entries = [(Waiting(each.pack, each.row, each.digest), each) for each in made]
    vectors.skip(db, [entry for entry, each in entries if not each.values])
    stored = [
        (entry, np.array([np.frombuffer(value, np.float32) for value in each.values]))
        for entry, each in entries
        if each.values
    ]
    vectors.store(db, model, stored)


def _is_gone(path: Path) -> bool:
    """Whether there is nothing at *path*; what cannot be looked at may be there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _size(event: IndexEvent) -> int:
    return len(event.record) if isinstance(event, FileParsed) else 0

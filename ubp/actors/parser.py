"""The parser actor: changed files in, documents out."""

from collections.abc import Callable, Sequence

import anyio
import anyio.to_thread

from ubp.actors.ports import Inbox, Outbox
from ubp.actors.reading_child import ReaderBug
from ubp.actors.reading_process import Answer, ReaderLost, ReadingProcess
from ubp.messages import (
    ChangesComing,
    FileChanged,
    FileEvent,
    FileGone,
    IndexEvent,
    ParseFailed,
    ReadOutcome,
    ScanFinished,
)
from ubp.telemetry import get_logger

__all__ = ("Parser",)

log = get_logger("parser")

_MOST_FILES = 128
_MOST_BYTES = 2_000_000
"""Of one batch: enough to keep the process busy, little enough to keep in memory."""

_PATIENCE = 30.0
_PATIENCE_PER_MB = 5.0
"""Seconds a batch may take before the file in hand is suspected."""

_MORE_PATIENCE = 10
"""So many times as long it may take when it is tried again: the process runs at low
priority, and on a busy machine it may be that which took so long."""

_IDLE = 10.0
"""Seconds without work after which the reading process is let go."""


class Parser:
    """Has changed files read by a process of their own, a batch at a time.

    A file that cannot be read becomes a ``ParseFailed``; so does one that hangs the
    process or kills it, and the others go on.
    """

    name = "parser"

    def __init__(
        self,
        inbox: Inbox[FileEvent],
        writer: Outbox[IndexEvent],
        *,
        start: Callable[[], ReadingProcess],
        stop: anyio.Event,
        patience: float = _PATIENCE,
    ) -> None:
        self._inbox = inbox
        self._writer = writer
        self._start = start
        self._stop = stop
        self._patience = patience

    async def run(self) -> None:
        process = self._start()
        try:
            while (events := await self._next(process)) is not None:
                changes: list[FileChanged] = []
                for event in events:
                    match event:
                        case ChangesComing():
                            await anyio.to_thread.run_sync(process.start)
                        case FileChanged():
                            changes.append(event)
                        case FileGone() | ParseFailed() | ScanFinished():
                            await self._read_and_send(process, changes)
                            changes = []
                            await self._writer.send(event)
                await self._read_and_send(process, changes)
        finally:
            process.close()

    def close(self) -> None:
        self._inbox.close()
        self._writer.close()

    async def _next(self, process: ReadingProcess) -> list[FileEvent] | None:
        """The events that are waiting, a batch at most; None at the end."""
        while True:
            with anyio.move_on_after(_IDLE) as idle:
                try:
                    events = [await self._inbox.receive()]
                except anyio.EndOfStream:
                    return None
            if not idle.cancelled_caught:
                break
            process.close()
        if self._stop.is_set():
            return None  # what is left is found again by the next comparison
        size = _size(events[0])
        while len(events) < _MOST_FILES and size < _MOST_BYTES:
            try:
                events.append(self._inbox.receive_nowait())
            except (anyio.WouldBlock, anyio.EndOfStream):
                break
            size += _size(events[-1])
        return events

    async def _read_and_send(
        self, process: ReadingProcess, changes: list[FileChanged]
    ) -> None:
        for outcome in await self._read(process, changes):
            await self._writer.send(outcome)

    async def _read(
        self, process: ReadingProcess, changes: Sequence[FileChanged]
    ) -> list[ReadOutcome]:
        """An outcome for each change, however the process fares."""
        outcomes: list[ReadOutcome] = []
        suspects: set[FileChanged] = set()
        while changes:
            answers: list[Answer] = []
            more = _MORE_PATIENCE if changes[0] in suspects else 1
            reason = await self._ask(process, changes, answers, more)
            outcomes += [_outcome(answer) for answer in answers]
            changes = changes[len(answers) :]
            if reason is None or not changes:
                continue
            at_fault = changes[0]
            log.error("reader.lost", path=at_fault.path, reason=reason)
            if at_fault in suspects:
                failed = ParseFailed(
                    at_fault.pack, at_fault.path, reason, at_fault.stamp
                )
                outcomes.append(failed)
                changes = changes[1:]
            # Once may be chance: somebody may have killed the process.
            suspects.add(at_fault)
        return outcomes

    async def _ask(
        self,
        process: ReadingProcess,
        changes: Sequence[FileChanged],
        answers: list[Answer],
        more: int,
    ) -> str | None:
        """Fill *answers*; if not for all changes, why the next one has none."""
        size = sum(_size(change) for change in changes)
        patience = more * (self._patience + _PATIENCE_PER_MB * size / 1_000_000)
        with anyio.move_on_after(patience) as scope:
            try:
                await anyio.to_thread.run_sync(
                    process.read, changes, answers, abandon_on_cancel=True
                )
            except ReaderLost:
                process.close()
                return "Reading it ended the reading process."
            except BaseException:
                # Only a dead process lets go of a thread that waits for its answer.
                process.close()
                raise
        return "Reading it took too long." if scope.cancelled_caught else None


def _size(event: FileEvent) -> int:
    return event.stamp.size if isinstance(event, FileChanged) else 0


def _outcome(answer: Answer) -> ReadOutcome:
    if isinstance(answer, ReaderBug):
        log.error("reader.bug", path=answer.path, trace=answer.trace)
        reason = "A fault in ubp, not in the file; the log says more."
        return ParseFailed(answer.pack, answer.path, reason)
    return answer

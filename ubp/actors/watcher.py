"""The watcher actor: compares disk with index, and says what differs.

It compares once, when it starts; what a file's stamp says is enough to tell whether it
must be read.
"""

from dataclasses import dataclass

import anyio
import anyio.to_thread

from ubp.actors.ports import Outbox
from ubp.actors.progress import Progress
from ubp.messages import (
    FileChanged,
    FileEvent,
    FileGone,
    Known,
    ScanFinished,
)
from ubp.reading.changes import differences
from ubp.reading.walk import walk
from ubp.store import files
from ubp.store.session import Session
from ubp.toolkit import Source

__all__ = ("Scan", "Watcher")


@dataclass(frozen=True, slots=True)
class Scan:
    """What a comparison covers."""

    force: bool = False
    """Read every file again, whatever the index says."""
    only: str | None = None
    """Look at this path alone, relative to the folder of the pack."""


class Watcher:
    """Sends an event for each file that is not as the index has it."""

    name = "watcher"

    def __init__(
        self,
        parser: Outbox[FileEvent],
        *,
        sources: dict[str, Source],
        fingerprints: dict[str, str],
        index: Session,
        scan: Scan,
        stop: anyio.Event,
        progress: Progress,
    ) -> None:
        self._parser = parser
        self._sources = sources
        self._fingerprints = fingerprints
        self._index = index
        self._scan = scan
        self._stop = stop
        self._progress = progress

    async def run(self) -> None:
        seen = changed = gone = 0
        for pack, source in self._sources.items():
            every = await self._index.run(files.known, pack)
            known = {path: every[path] for path in every if self._covers(path)}
            read_as = await self._index.run(files.fingerprint, pack)
            reread = read_as != self._fingerprints[pack]
            # In a thread: a hundred thousand files are soon compared, but not in the
            # time a caller should wait for an answer.
            number, events = await anyio.to_thread.run_sync(
                self._compare, pack, source, known, reread
            )
            seen += number
            for event in events:
                if self._stop.is_set():
                    return
                changed += isinstance(event, FileChanged)
                gone += isinstance(event, FileGone)
                self._progress.found += 1
                await self._parser.send(event)
        self._progress.seen = seen
        self._progress.scanned = True
        whole = self._scan.only is None
        fingerprints = self._fingerprints if whole else {}
        await self._parser.send(ScanFinished(seen, changed, gone, fingerprints))

    def close(self) -> None:
        self._parser.close()

    def _compare(
        self, pack: str, source: Source, known: dict[str, Known], reread: bool
    ) -> tuple[int, list[FileEvent]]:
        """How many files there are, and the events for those that differ."""
        everything = walk(source.folder, source.include, source.exclude, source.suffix)
        # Sorted, so that the same files always give the same index.
        covered = (each for each in everything if self._covers(each.path))
        found = sorted(covered, key=lambda each: each.path)
        force = self._scan.force
        events = differences(pack, found, known, force=force, reread=reread)
        return len(found), list(events)

    def _covers(self, path: str) -> bool:
        return self._scan.only is None or path == self._scan.only

"""The watcher actor: compares disk with index, and says what differs.

It compares everything when it starts, and then wherever something stirs. What a notice
says is only a hint where to look: what differs is found by comparing, always in the
same way, so that a notice that is late, doubled or lost can do no harm. What a file's
stamp says is enough to tell whether it must be read.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec.structs import replace

from ubp.actors.notices import Notice, watch_folder
from ubp.actors.places import is_at, outermost
from ubp.actors.ports import Inbox, Outbox, channel
from ubp.actors.progress import Progress
from ubp.actors.quiet import MOST, PATIENCE, Due, Stirred
from ubp.config import WatchMode
from ubp.messages import (
    ChangesComing,
    FileChanged,
    FileEvent,
    FileGone,
    FileStamp,
    Known,
    ParseFailed,
    ScanFinished,
)
from ubp.reading.changes import differences
from ubp.reading.walk import walk, wanted
from ubp.store import files
from ubp.store.session import Session
from ubp.telemetry import get_logger
from ubp.toolkit import Source

__all__ = ("Scan", "Watcher")

log = get_logger("watcher")

Difference = FileChanged | FileGone | ParseFailed

_NOTICES = 16
"""Waiting notices; when full, whoever gives notice collects."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What the first comparison covers, and whether it goes on from there."""

    force: bool = False
    """Read every file again, whatever the index says."""
    only: Path | None = None
    """Look at this file alone, whichever packs read it."""
    watch: WatchMode = "off"
    """How to hear of changes from then on."""


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
        self._on_their_way: dict[str, dict[str, FileStamp]] = {p: {} for p in sources}
        """Paths that were sent and may not be in the index yet."""
        self._links: dict[str, set[str]] = {pack: set() for pack in sources}
        """Paths of symbolic links: they change when other files do."""
        self._wanted: dict[str, Callable[[str], bool]] = {}
        """By pack, whether a path could be a page's."""
        self._held_back: dict[str, dict[str, float]] = {pack: {} for pack in sources}
        """Paths that seem gone, and since when."""
        self._surprises: list[threading.Event] = []
        """To be set if there is something where nothing has stirred."""

    async def run(self) -> None:
        notices, heard = channel[Notice](_NOTICES)
        async with notices, heard, anyio.create_task_group() as group:
            if self._scan.watch != "off":
                group.start_soon(self._end_when_stopped, group.cancel_scope)
                # First, so that what changes during the comparison is heard of.
                for source in _watched(self._sources.values()):
                    await group.start(
                        partial(watch_folder, source, self._scan.watch, notices)
                    )
            await self._compare_everything()
            if self._scan.watch != "off":
                await self._follow(heard)
            group.cancel_scope.cancel()

    def close(self) -> None:
        self._parser.close()

    async def _end_when_stopped(self, scope: anyio.CancelScope) -> None:
        await self._stop.wait()
        scope.cancel()

    # -- everything --------------------------------------------------------------------

    async def _compare_everything(self, stirred: Stirred | None = None) -> None:
        """Compare all files; with *stirred*, not for the first time."""
        changed = gone = 0
        seen: set[str] = set()  # once, however many packs read it
        for pack in self._sources:
            every = await self._index.run(files.known, pack)
            known = {path: every[path] for path in every if self._covers(pack, path)}
            read_as = await self._index.run(files.fingerprint, pack)
            reread = stirred is None and read_as != self._fingerprints[pack]
            here, events = await self._compare(pack, [""], known, reread=reread)
            if stirred is not None:
                events = await self._without_what_may_have_moved(
                    pack, [""], events, stirred
                )
            seen |= here
            changed += sum(isinstance(event, FileChanged) for event in events)
            gone += sum(isinstance(event, FileGone) for event in events)
            if not await self._send(pack, events):
                return
        self._progress.seen = len(seen)
        self._progress.scanned = True
        if stirred is None:
            whole = self._scan.only is None
            fingerprints = self._fingerprints if whole else {}
            await self._parser.send(
                ScanFinished(len(seen), changed, gone, fingerprints)
            )
        elif changed or gone:
            for surprise in self._surprises:
                surprise.set()
            await self._parser.send(ScanFinished(len(seen), changed, gone))
        self._surprises.clear()

    def _covers(self, pack: str, path: str) -> bool:
        only = self._scan.only
        return only is None or self._sources[pack].folder / path == only

    # -- what stirs --------------------------------------------------------------------

    async def _follow(self, heard: Inbox[Notice]) -> None:
        """Look wherever something has stirred, once it has come to rest."""
        self._scan = Scan(watch=self._scan.watch)  # what was forced has been done
        self._wanted = {pack: wanted(each) for pack, each in self._sources.items()}
        stirred = Stirred()
        while True:
            due = stirred.next_due
            wait = None if due is None else max(0.0, due - anyio.current_time())
            with anyio.move_on_after(wait):
                notice = await heard.receive()
                await self._take_note(notice, stirred)
                continue
            await self._look(stirred.take(anyio.current_time()), stirred)

    async def _take_note(self, notice: Notice, stirred: Stirred) -> None:
        now = anyio.current_time()
        if notice.everything:
            stirred.note_everything(now)
            if notice.surprise is not None:
                self._surprises.append(notice.surprise)
            return
        idle = stirred.next_due is None
        stirred.note(notice.paths, now)
        if idle and stirred.next_due is not None:
            await self._parser.send(ChangesComing())

    async def _look(self, due: Due, stirred: Stirred) -> None:
        if due.everything:
            log.debug("watch.comparing_everything")
            await self._compare_everything(stirred)
            return
        changed = gone = 0
        for pack, source in self._sources.items():
            places = _places(due.paths, source.folder)
            if not places:
                continue
            # What one leads to may be what has changed.
            places = outermost([*places, *self._links[pack]])
            known = await self._index.run(files.known_below, pack, places)
            _, events = await self._compare(pack, places, known)
            events = await self._without_what_may_have_moved(
                pack, places, events, stirred
            )
            changed += sum(isinstance(event, FileChanged) for event in events)
            gone += sum(isinstance(event, FileGone) for event in events)
            if not await self._send(pack, events):
                return
        if changed or gone:
            seen = self._progress.seen
            await self._parser.send(ScanFinished(seen, changed, gone))

    async def _without_what_may_have_moved(
        self,
        pack: str,
        places: Collection[str],
        events: list[Difference],
        stirred: Stirred,
    ) -> list[Difference]:
        """*events* without what is gone, if that may yet turn out to have moved.

        Who moves a file makes two places stir, and one is at rest before the other.
        A move keeps what is known of a page, so the new place is to come first.
        """
        now = anyio.current_time()
        held = self._held_back[pack]
        gone = {
            event.path: held.get(event.path, now)
            for event in events
            if isinstance(event, FileGone)
        }
        young = {path: at for path, at in gone.items() if now - at < PATIENCE}
        held = {path: at for path, at in held.items() if not is_at(path, places)}
        self._held_back[pack] = held
        if not young or not await self._may_have_moved(young, places, stirred):
            return events
        held |= young
        folder = self._sources[pack].folder
        stirred.note((str(folder / path) for path in young), now)
        return [
            event
            for event in events
            if not isinstance(event, FileGone) or event.path not in young
        ]

    async def _may_have_moved(
        self, gone: Collection[str], places: Collection[str], stirred: Stirred
    ) -> bool:
        if "" in places:
            # All were looked at, one after the other: a file may have gone from one
            # that was still to come to one that had been seen. Once more, unless that
            # would be all again.
            return len(gone) <= MOST
        return await anyio.to_thread.run_sync(stirred.includes, self._may_hold_a_page)

    def _may_hold_a_page(self, path: str) -> bool:
        """Whether a page may have been moved to *path*, or into it."""
        there = Path(path)
        for pack, source in self._sources.items():
            if there.is_relative_to(source.folder):
                place = there.relative_to(source.folder).as_posix()
                if there.is_dir() or (self._wanted[pack](place) and there.exists()):
                    return True
        return False

    # -- comparing ---------------------------------------------------------------------

    async def _compare(
        self,
        pack: str,
        places: Collection[str],
        known: dict[str, Known],
        *,
        reread: bool = False,
    ) -> tuple[set[str], list[Difference]]:
        """The files there are at or below *places*, and what of them differs."""
        self._forget_what_arrived(pack, known)
        # In a thread: a hundred thousand files are soon compared, but not in the time
        # a caller should wait for an answer.
        return await anyio.to_thread.run_sync(
            self._compared, pack, places, known, reread
        )

    def _compared(
        self, pack: str, places: Collection[str], known: dict[str, Known], reread: bool
    ) -> tuple[set[str], list[Difference]]:
        source = self._sources[pack]
        found = [
            each
            for place in places
            for each in walk(source, place)
            if self._covers(pack, each.path)
        ]
        # Sorted, so that the same files always give the same index.
        found.sort(key=lambda each: each.path)
        links = {path for path in self._links[pack] if not is_at(path, places)}
        self._links[pack] = links | {each.path for each in found if each.linked}
        # Deleted since they were sent: the index will have them in a moment, and
        # nothing more is heard of them.
        late = self._on_their_way[pack].keys() - known.keys()
        late -= {each.path for each in found}
        known |= {path: Known(None, None) for path in late if is_at(path, places)}
        force = self._scan.force
        events = differences(pack, found, known, force=force, reread=reread)
        top = f"{source.folder}/"
        return {top + each.path for each in found}, list(events)

    def _forget_what_arrived(self, pack: str, known: dict[str, Known]) -> None:
        sent = self._on_their_way[pack]
        if self._progress.done >= self._progress.found:
            sent.clear()
        for path in known.keys() & sent.keys():
            # What was lost on its way, with a parser that crashed, is sent again.
            if known[path].stamp == sent[path]:
                del sent[path]

    async def _send(self, pack: str, events: Iterable[Difference]) -> bool:
        """Pass *events* on; whether all of them were, for we may have to stop."""
        sent = self._on_their_way[pack]
        for event in events:
            if self._stop.is_set():
                return False
            self._progress.found += 1
            if isinstance(event, FileChanged):
                if event.path in sent:
                    # The index is about to have other content than the one we know.
                    event = replace(event, digest=None)  # noqa: PLW2901
                sent[event.path] = event.stamp
            else:
                sent.pop(event.path, None)  # this comes after it, and is what counts
            await self._parser.send(event)
        return True


def _watched(sources: Iterable[Source]) -> list[Source]:
    """The folders to watch; one that several packs read is watched once."""
    found: dict[tuple[Path, Path | None], Source] = {}
    for source in sources:
        for _, part in source.parts():
            found.setdefault((part.folder, part.gitignore_from), part)
    return list(found.values())


def _places(paths: Iterable[str], folder: Path) -> list[str]:
    """Those of *paths* that are in *folder*, relative to it and none within another."""
    return outermost(
        "" if path == folder else path.relative_to(folder).as_posix()
        for path in map(Path, paths)
        if path.is_relative_to(folder)
    )

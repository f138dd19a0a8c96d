"""A watch of a folder and all in it by the operating system; for a thread of its own.

On Linux a watch is of one folder, so those that may hold documents are listed here and
each is given to the library. It could go down by itself, but then it also watches what
nobody reads, stops at the first folder that it may not read, and keeps to itself that
the system's limit is reached. Other systems watch all below a folder at no more cost.

What is heard is a hint, and some of it gets lost: where more happens than the system
can hold, the rest is dropped, and the library does not tell. So once in a while, all
there is to look at is everything.
"""

import os
import stat
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from ubp.actors.places import is_at, outermost
from ubp.actors.quiet import MOST
from ubp.actors.routine import Routine
from ubp.reading import ignoring
from ubp.reading.source import Source
from ubp.reading.walk import NEVER_READ, folders

__all__ = ("EVERYTHING", "CannotWatch", "FolderWatch", "Gone", "Misheard", "Notice")

_WATCHES_TREES = sys.platform in {"darwin", "win32"}

_GROUP_MS = 1_600
_STEP_MS = 100
"""How long notices that come together are collected, and the pause that ends it."""

_IDLE_STEP_MS = 150
"""The same while nothing happens: the thread wakes at each step, for nothing."""

_LOOK_MS = 2_000
"""How often it is made sure that the folder is still the one being watched, and that
nobody outside has decided differently on what is ignored."""

_ATTEMPTS = 5
_PAUSE = 0.05
"""How often it is tried to watch folders that go while they are listed, or while the
system still counts those watched before."""


class Notice(NamedTuple):
    """Paths, absolute, below which something may have changed."""

    paths: frozenset[str]
    everything: bool = False
    """It may be anywhere."""
    surprise: threading.Event | None = None
    """To be set if there is something after all: it is only to be sure."""
    polled: bool = False
    """Whether nobody gives notice here, and this is a look at regular times."""


EVERYTHING = Notice(frozenset(), everything=True)


class Gone(Exception):
    """The folder is not there, or cannot be looked into."""


class Misheard(Exception):
    """The system said something that nobody understands."""


class CannotWatch(Exception):
    """The system cannot watch the folder; that may change."""


class FolderWatch:
    """Watches from the beginning; waits, lists and watches anew in ``wait``."""

    def __init__(self, source: Source, stop: threading.Event) -> None:
        """Begin, with *stop* to end it.

        Raises:
            Gone, CannotWatch: See there.
        """
        self._source = source
        self._stop = stop
        self._outside = self._look_outside()
        self._top = ""
        self._folders: set[str] = set()
        begun = time.thread_time()
        self._list_all()
        self._system = self._begin()
        self._left = self._list([""]) - self._folders
        """Places of which was heard, or is to be, since they were last listed."""
        self._routine = Routine(time.monotonic(), time.thread_time() - begun)
        self._surprise = threading.Event()
        self._step = _IDLE_STEP_MS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._system.close()

    def wait(self) -> Notice | None:
        """What stirs next; None when told to stop.

        Raises:
            Gone, Misheard, CannotWatch: See there. It has to be made anew.
        """
        while (heard := self._heard(_STEP_MS if self._left else _LOOK_MS)) is not None:
            heard |= self._left
            self._left = set()
            now = time.monotonic()
            if heard:
                self._routine.heard(now)
            if self._surprise.is_set():
                self._surprise.clear()
                self._routine.found_something()
            # Watched before anything is said: what happens from now on in what is new
            # is heard of, and what happened before is found by whoever looks there.
            if self._is_about_everything(heard):
                self._watch_anew()
                return EVERYTHING
            if self._routine.is_due(now):
                self._watch_anew()
                return EVERYTHING._replace(surprise=self._surprise)
            if places := [place for place in outermost(heard) if _may_matter(place)]:
                if not self._watch_new(places):
                    return EVERYTHING
                folder = self._source.folder
                return Notice(frozenset(str(folder / place) for place in places))
        return None

    def _is_about_everything(self, heard: set[str]) -> bool:
        before, self._outside = self._outside, self._look_outside()
        return (
            self._outside != before
            or len(heard) > MOST  # before any is left out: others may be lost
            or any(map(_changes_everything, heard))
        )

    def _heard(self, patience: int) -> set[str] | None:
        """Where something stirred, relative; None when told to stop.

        Raises:
            Misheard: See there.
        """
        try:
            found = self._system.watch(_GROUP_MS, self._step, patience, self._stop)
        except WatchfilesRustInternalError as error:  # a name that is not UTF-8
            raise Misheard(str(error)) from None
        # Where something stirs more is to come; whoever waits for it to rest has to be
        # told before he stops waiting.
        self._step = _STEP_MS if isinstance(found, set) else _IDLE_STEP_MS
        if isinstance(found, set):
            return {self._relative(path) for _, path in found}
        return set() if found == "timeout" else None

    def _relative(self, path: str) -> str:
        within = os.path.join(self._top, "")  # noqa: PTH118 - there may be many
        if not path.startswith(within):
            return ""
        return path.removeprefix(within).replace(os.sep, "/")

    def _look_outside(self) -> object:
        """Something that differs when what is around the folder does.

        It may be another one, or other files in it count.
        """
        top = _look(self._source.folder, follow=True)
        where = None if top is None else (top.st_dev, top.st_ino)
        above = [_look(file) for file in ignoring.files_above(self._source)]
        return where, [
            each and (each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns)
            for each in above
        ]

    # -- the watches of the system -----------------------------------------------------

    def _watch_anew(self) -> None:
        """Watch all folders, whatever is watched.

        Raises:
            Gone, Misheard, CannotWatch: See there.
        """
        begun = time.thread_time()
        self._list_all()
        self._exchange()
        self._left |= self._list([""]) - self._folders
        self._routine.looked(time.monotonic(), time.thread_time() - begun)

    def _watch_new(self, places: Iterable[str]) -> bool:
        """Watch the folders at or below *places* too; whether nothing was missed.

        Also those that seem watched: the system watches folders, and not paths.
        """
        inside = {place for place in places if self._is_folder(place)}
        if not inside:
            return True
        others = {path for path in self._folders if not is_at(path, inside)}
        self._folders = others | self._list(inside)
        seamless = self._exchange()
        # Those made after they were listed and before their parents were watched.
        self._left |= self._list(inside) - self._folders
        return seamless

    def _exchange(self) -> bool:
        """Watch what is listed; whether somebody always watched meanwhile."""
        try:
            new = self._begin()
        except CannotWatch:
            # Both at once may be too much.
            self._system.close()
            self._system = self._begin_after_another()
            return False
        self._left |= self._heard(_STEP_MS) or set()
        self._system.close()
        self._system = new
        return True

    def _begin_after_another(self) -> RustNotify:
        """A watch, though the system may still count those of the one just closed."""
        for _ in range(_ATTEMPTS):
            try:
                return self._begin()
            except CannotWatch:  # it gives them back from a thread of its own
                time.sleep(_PAUSE)
        return self._begin()

    def _begin(self) -> RustNotify:
        """A watch of what is listed."""
        attempts = 0
        while True:
            if "" not in self._folders:
                raise Gone("It is not there, or cannot be looked into.")
            attempts += 1
            try:
                return RustNotify(
                    [os.path.join(self._top, path) for path in self._folders],  # noqa: PTH118 - there are many
                    debug=False,
                    force_polling=False,
                    poll_delay_ms=0,
                    recursive=_WATCHES_TREES,
                    ignore_permission_denied=False,
                )
            except UnicodeEncodeError:
                raise CannotWatch("The folder's name is not valid UTF-8.") from None
            except (OSError, WatchfilesRustInternalError) as error:
                passing = isinstance(error, FileNotFoundError | PermissionError)
                if not passing or attempts == _ATTEMPTS:
                    raise CannotWatch(str(error)) from None
                # One of the folders is not as it was listed any more.
                time.sleep(_PAUSE)
                self._list_all()

    def _list_all(self) -> None:
        self._top = os.path.realpath(self._source.folder)
        self._folders = self._list([""])

    def _list(self, places: Iterable[str]) -> set[str]:
        """The folders at or below *places* that the system is to watch."""
        if _WATCHES_TREES:
            # Its place is the only one that is ever listed.
            return {""} if os.access(self._top, os.R_OK) else set()
        return {path for place in places for path in folders(self._source, place)}

    def _is_folder(self, place: str) -> bool:
        """Whether *place* is one, and of those that the system watches one by one."""
        if _WATCHES_TREES:
            return False
        info = _look(Path(self._top, place))
        return info is not None and stat.S_ISDIR(info.st_mode)


def _changes_everything(place: str) -> bool:
    """Whether it is the folder itself, or a file that decides which others are read."""
    return not place or place.rpartition("/")[2] == ignoring.FILE_NAME


def _may_matter(place: str) -> bool:
    return NEVER_READ.isdisjoint(place.split("/"))


def _look(path: Path, *, follow: bool = False) -> os.stat_result | None:
    try:
        return path.stat(follow_symlinks=follow)
    except OSError:
        return None

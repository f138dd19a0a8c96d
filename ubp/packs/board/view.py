"""What is on a board: its files, as they are now, in memory.

The files are the only truth, and anybody may change them at any time. So every look
compares. Folders have times that change whenever a file in them comes, goes or is
replaced; that is cheap. Who writes into a file without replacing it changes the file's
own times alone: all files are looked at every half second at the earliest, or, while
somebody listens to the system's notices for us, those of which something was heard.
What changed is read again.
"""

import errno
import os
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ubp.packs.board.board_lock import locked
from ubp.packs.board.cards import Card, read_card
from ubp.packs.board.committing import NOTE, Change, finish_what_was_begun
from ubp.packs.board.displaced import is_unsettled
from ubp.packs.board.failures import (
    BoardUnavailable,
    Conflict,
    Denied,
    NotFound,
    refused,
)
from ubp.packs.board.inside import read_inside
from ubp.packs.board.names import DONE, column_key, is_column_name, parsed
from ubp.packs.board.rules import FILE_NAME, Rules, parsed_rules, unreadable_rules

__all__ = ("KANBAN", "LARGEST_CARD", "Snapshot", "View")

KANBAN = ".kanban"

LOOK_AT_FILES_EVERY = 0.5
"""Seconds: whatever is done by hand is to be seen within one."""

_SETTLED = 30_000_000
"""Nanoseconds. What changed less long ago than a clock's tick may change once more and
look the same, so it is looked at again. A tick is ten milliseconds at most."""

_DEEPEST = 8
"""Folders within folders of a column."""

_MORE_LOOKS = 5
"""Until a card that was nowhere, or in two places, is taken to be so."""

LARGEST_CARD = 16 * 1024 * 1024


class _Stamp(NamedTuple):
    """What the file system says of a file or folder."""

    inode: int
    size: int
    mtime: int
    ctime: int


_NEVER = _Stamp(-1, -1, 0, 0)
"""Of something that has not been looked at."""


class _File(NamedTuple):
    stamp: _Stamp
    rests: bool
    """Whether it would look different by now, had it changed since it was read."""
    card: Card


class _Folder(NamedTuple):
    stamp: _Stamp
    rests: bool
    folders: tuple[str, ...]
    files: Mapping[str, _File] = {}
    inodes: Mapping[str, int] = {}
    """Of the files that rest: one that was replaced has another."""
    different: frozenset[str] = frozenset()
    """The names of files that came, went or changed since the last look."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A board at one moment. Nothing in it changes."""

    cards: Mapping[str, Card] = field(default_factory=dict)
    """By id, in their order."""
    duplicates: Mapping[str, tuple[Card, ...]] = field(default_factory=dict)
    """All files of an id that has several."""
    folders: tuple[str, ...] = ()
    """Columns that are there, done included, as they are written."""
    rules: Rules = field(default_factory=Rules)
    rules_text: str | None = None
    latest: int = 0
    """When the latest file or folder changed, in nanoseconds."""

    def card(self, ident: str) -> Card:
        """The card of this id.

        Raises:
            NotFound: There is none.
        """
        try:
            return self.cards[ident]
        except KeyError:
            raise NotFound(f"There is no card {ident}.") from None

    @cached_property
    def identity(self) -> int:
        """Another one for every other board."""
        return hash(tuple((card.path, card.hash) for card in self.cards.values()))

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """By parent, the ids of those it has, in order."""
        found: dict[str, list[str]] = {}
        for card in self.cards.values():
            if card.parent is not None:
                found.setdefault(card.parent, []).append(card.id)
        return {parent: tuple(children) for parent, children in found.items()}

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many cards are in a column, by its key."""
        return Counter([card.column_key for card in self.cards.values()])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column but done: those of the rules, then others that are there."""
        found = {column_key(each.key): each.key for each in self.rules.columns}
        for name in self.folders:
            found.setdefault(column_key(name), name)
        found.pop(DONE, None)
        # On disk it may be written otherwise; that is what it is called then.
        there = {column_key(name): name for name in self.folders}
        return tuple(there.get(key, name) for key, name in found.items())


class View:
    """A board on disk; from any thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kanban = root / KANBAN
        self._turn = threading.Lock()
        self._folders: dict[str, _Folder] = {}
        self._by_id: dict[str, dict[str, _File]] = {}
        """The files of each card, by path: one, unless somebody made a copy."""
        self._touched: set[str] = set()
        self._cards: dict[str, Card] = {}
        self._duplicates: dict[str, tuple[Card, ...]] = {}
        self._latest = 0
        self._rules: tuple[_Stamp | None, bool] = (None, False)
        self._looked_at_files = float("-inf")
        self._listeners = 0
        self._trusts = True
        """Whether those who listen are told by the system."""
        self._heard: set[str] = set()
        """Places of which something was heard since the last look; empty is all."""
        self._snapshot = Snapshot()
        self._is_known = False

    def exists(self) -> bool:
        try:
            return stat.S_ISDIR(self.kanban.lstat().st_mode)
        except OSError:
            return False

    def snapshot(self, *, every_file: bool = False) -> Snapshot:
        """The board as it is now; a board that is not there is empty.

        What somebody began to change is finished first; where that is not allowed, on a
        board that can only be read, it is shown as it is.

        Raises:
            Denied: Its folder is a symbolic link.
            BoardUnavailable: It cannot be read.
        """
        with suppress(Denied, BoardUnavailable):
            self._finish_what_was_begun()
        return self.as_found(every_file=every_file)

    def as_found(self, *, every_file: bool = False) -> Snapshot:
        """The same for whoever holds the lock."""
        with self._turn:
            heard, self._heard = self._heard, set()
            now = time.monotonic()
            due = now >= self._looked_at_files + LOOK_AT_FILES_EVERY
            everything = (
                every_file
                or "" in heard
                or (due and not (self._listeners and self._trusts))
            )
            try:
                changed = self._look_until_settled(heard, every_file=everything)
            except OSError as error:
                self._heard |= {""}
                raise refused("The board cannot be read.", error) from None
            if everything:
                self._looked_at_files = time.monotonic()
            if changed or not self._is_known:
                self._snapshot = self._made()
                self._is_known = True
            return self._snapshot

    def after(self, changes: Iterable[Change]) -> Snapshot:
        """The board after *changes* of our own, without another look at it.

        For whoever holds the lock, and only until the next look.
        """
        with self._turn:
            for change in changes:
                if change.source not in (None, change.target):
                    self._put(str(change.source), None)
                self._put(change.target, change.after)
            self._snapshot = self._made()
            return self._snapshot

    def _put(self, path: str, content: bytes | None) -> None:
        """Let a file hold *content*, or be gone."""
        place, _, name = path.rpartition("/")
        known = self._folders.get(place)
        if known is None:
            # A new folder: the next look finds it, for that of its parent is another.
            known = _Folder(_NEVER, rests=False, folders=())
        files = dict(known.files)
        files.pop(name, None)
        parts = parsed(name)
        if content is not None and parts is not None:
            column = _column_of(place)
            card = read_card(f"{KANBAN}/{path}", column, parts, content)
            stamp = _NEVER._replace(mtime=time.time_ns())
            files[name] = _File(stamp, rests=False, card=card)
        inodes = {**known.inodes}
        inodes.pop(name, None)
        now = known._replace(
            files=files, inodes=inodes, rests=False, different=frozenset({name})
        )
        self._take_over(place, self._folders.get(place), now)
        self._folders[place] = now

    def look_again(self) -> None:
        """Trust nothing: the next look is at every file."""
        with self._turn:
            self._heard.add("")

    @contextmanager
    def listening(self) -> Iterator[Callable[[Iterable[str], bool], None]]:
        """From now on somebody tells of every path that stirs, until he leaves.

        What he is given takes absolute paths, none of which stand for all; and whether
        he only says so regularly, because nobody tells him.
        """

        def tell(paths: Iterable[str], regularly: bool) -> None:
            within = f"{os.path.realpath(self.kanban)}{os.sep}"
            places = {
                path.removeprefix(within).replace(os.sep, "/")
                for path in paths
                if path.startswith(within)
            }
            with self._turn:
                self._trusts = not regularly
                self._heard |= places or {""}

        with self._turn:
            self._listeners += 1
            self._heard.add("")  # what happened before he came
        try:
            yield tell
        finally:
            with self._turn:
                self._listeners -= 1
                self._heard.add("")

    def _finish_what_was_begun(self) -> None:
        try:
            names = os.listdir(self.kanban)  # noqa: PTH208 - names are all we need
        except OSError:
            return
        if NOTE in names:
            with locked(self.kanban):
                finish_what_was_begun(self.kanban)
        elif any(map(is_unsettled, names)):
            # Somebody who is at it right now settles it himself: nobody waits for him.
            with suppress(Conflict), locked(self.kanban, patience=0):
                finish_what_was_begun(self.kanban)

    # -- looking -----------------------------------------------------------------------

    def _look_until_settled(self, heard: Collection[str], *, every_file: bool) -> bool:
        """Look, and once more if a card may have gone past us from folder to folder."""
        changed = more = self._look(heard, every_file=every_file)
        for _ in range(_MORE_LOOKS):
            if not more or not self._is_in_doubt():
                break
            more = self._look((), every_file=False)
        return changed

    def _is_in_doubt(self) -> bool:
        """Whether a card of which something is different is nowhere, or twice."""
        return any(len(self._by_id.get(ident, ())) != 1 for ident in self._touched)

    def _look(self, heard: Collection[str], *, every_file: bool) -> bool:
        """Bring what is known in line with the disk; whether anything was different."""
        try:
            info = self.kanban.lstat()
        except FileNotFoundError:
            changed = bool(self._folders)
            for place, folder in self._folders.items():
                self._take_over(place, folder, None)
            self._folders = {}
            return self._look_at_rules() or changed
        if not stat.S_ISDIR(info.st_mode):
            raise Denied(
                "The board's folder .kanban is not a folder.",
                cause="It is a symbolic link or a file.",
                hint="Move the board itself here, or name its place with --board.",
            )
        changed = self._look_at_rules()
        seen: dict[str, _Folder] = {}
        waiting = [("", 0)]
        while waiting:
            place, depth = waiting.pop()
            known = self._folders.get(place)
            found = self._look_into(place, known, heard, every_file=every_file)
            if found is None:
                continue
            seen[place] = found
            if found is not known:
                changed |= self._take_over(place, known, found)
            if depth < _DEEPEST:
                waiting += [(_below(place, name), depth + 1) for name in found.folders]
        for place in self._folders.keys() - seen.keys():
            changed |= self._take_over(place, self._folders[place], None)
        self._folders = seen
        return changed

    def _take_over(
        self, place: str, known: _Folder | None, found: _Folder | None
    ) -> bool:
        """Note what of a folder is different; whether anything is."""
        before = known.files if known is not None else {}
        now = found.files if found is not None else {}
        names = found.different if found is not None else before.keys()
        for name in names:
            if (file := before.get(name)) is not None:
                del self._by_id[file.card.id][file.card.path]
                self._touched.add(file.card.id)
            if (file := now.get(name)) is not None:
                self._by_id.setdefault(file.card.id, {})[file.card.path] = file
                self._touched.add(file.card.id)
                self._latest = max(self._latest, file.stamp.mtime)
        if found is not None and place:
            self._latest = max(self._latest, found.stamp.mtime)
        return bool(names) or (found and found.folders) != (known and known.folders)

    def _look_into(
        self,
        place: str,
        known: _Folder | None,
        heard: Collection[str],
        *,
        every_file: bool,
    ) -> _Folder | None:
        path = self.kanban / place if place else self.kanban
        looked = time.time_ns()
        if place in heard:
            every_file = True
        try:
            info = path.lstat()
            if not stat.S_ISDIR(info.st_mode):
                return None
            stamp = _stamp(info)
            is_same = known is not None and known.rests and known.stamp == stamp
            if is_same and not (every_file or _names_in(place, heard)):
                return known
            with os.scandir(path) as listing:
                names = None if every_file else _names_in(place, heard)
                return self._listed(place, listing, stamp, looked, known, names)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _listed(
        self,
        place: str,
        listing: Iterator[os.DirEntry[str]],
        stamp: _Stamp,
        looked: int,
        known: _Folder | None,
        heard: set[str] | None,
    ) -> _Folder:
        """What is in a folder.

        Of files that are where they were, only those of which was *heard* are looked
        at; None is all of them.
        """
        entries = {entry.name: entry for entry in listing}
        before = known.files if known is not None else {}
        there = {name: entry.inode() for name, entry in entries.items()}
        resting = known.inodes if known is not None and heard is not None else {}
        to_look_at = {name for name, _ in there.items() - resting.items()}
        if heard:
            to_look_at |= heard & there.keys()
        files = {
            name: before[name] for name in before.keys() - to_look_at if name in there
        }
        folders: list[str] = []
        for name in to_look_at:
            entry = entries[name]
            if name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if place or is_column_name(name):
                    folders.append(name)
            elif place and name.endswith(".md"):
                file = self._file(place, entry, before.get(name))
                if file is not None:
                    files[name] = file
        different = {
            name
            for name in to_look_at | (before.keys() - files.keys())
            if files.get(name) is not before.get(name)
        }
        return _Folder(
            stamp,
            _rests(stamp, looked),
            tuple(sorted(folders)),
            files,
            self._resting(files, resting, to_look_at),
            frozenset(different),
        )

    def _resting(
        self,
        files: Mapping[str, _File],
        before: Mapping[str, int],
        looked_at: Iterable[str],
    ) -> dict[str, int]:
        inodes = {name: before[name] for name in before.keys() & files.keys()}
        for name in looked_at:
            file = files.get(name)
            if file is not None and file.rests:
                inodes[name] = file.stamp.inode
            else:
                inodes.pop(name, None)
        return inodes

    def _file(
        self, place: str, entry: os.DirEntry[str], known: _File | None
    ) -> _File | None:
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        stamp = _stamp(info)
        if known is not None and known.stamp == stamp and known.rests:
            return known
        name = parsed(entry.name)
        if name is None or not stat.S_ISREG(info.st_mode):
            return None
        looked = time.time_ns()
        column = _column_of(place)
        path = f"{KANBAN}/{place}/{entry.name}"
        try:
            content = _read(entry.path, info.st_size)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = f"The file cannot be read: {error.strerror}."
            card = replace(read_card(path, column, name, b""), problem=reason)
            return _File(stamp, _rests(stamp, looked), card)
        card = read_card(path, column, name, content)
        if known is not None and known.card == card:
            card = known.card
        return _File(stamp, _rests(stamp, looked), card)

    def _look_at_rules(self) -> bool:
        path = self.kanban / FILE_NAME
        looked = time.time_ns()
        try:
            stamp = _stamp(path.lstat())
        except OSError:
            stamp = None
        known, last = self._rules
        if self._is_known and stamp == known and (not stamp or last):
            return False
        text, rules = self._read_rules() if stamp else (None, Rules())
        self._rules = (stamp, stamp is not None and _rests(stamp, looked))
        last_known = self._snapshot.rules_text, self._snapshot.rules
        if self._is_known and (text, rules) == last_known:
            return False
        self._snapshot = replace(self._snapshot, rules=rules, rules_text=text)
        return True

    def _read_rules(self) -> tuple[str | None, Rules]:
        try:
            text = read_inside(self.kanban, FILE_NAME).decode("utf-8-sig")
        except FileNotFoundError:
            return None, Rules()
        except UnicodeDecodeError:
            return "", unreadable_rules("it is not UTF-8")
        except OSError as error:
            return "", unreadable_rules(error.strerror or "input/output error")
        return text, parsed_rules(text)

    def _made(self) -> Snapshot:
        last = next(reversed(self._cards), "")
        is_sorted = True
        for ident in sorted(self._touched):
            files = self._by_id.get(ident)
            self._duplicates.pop(ident, None)
            if not files:
                self._by_id.pop(ident, None)
                self._cards.pop(ident, None)
                continue
            # Of several, the one that was written last is most likely the one meant.
            copies = sorted(
                files.values(), key=lambda file: (-file.stamp.mtime, file.card.path)
            )
            if len(copies) > 1:
                self._duplicates[ident] = tuple(file.card for file in copies)
            is_sorted &= ident in self._cards or ident > last
            self._cards[ident] = copies[0].card
        self._touched.clear()
        if not is_sorted:
            self._cards = dict(sorted(self._cards.items()))
        top = self._folders.get("")
        rules = self._rules[0]
        return replace(
            self._snapshot,
            cards=dict(self._cards),
            duplicates=dict(self._duplicates),
            folders=top.folders if top is not None else (),
            latest=max(self._latest, rules.mtime if rules is not None else 0),
        )


def _read(path: str, size: int) -> bytes:
    if size > LARGEST_CARD:
        raise OSError(errno.EFBIG, "it is too large for a card")
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - there are many
        return file.readall()


def _stamp(info: os.stat_result) -> _Stamp:
    return _Stamp(info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _rests(stamp: _Stamp, looked: int) -> bool:
    return max(stamp.mtime, stamp.ctime) + _SETTLED < looked


def _names_in(place: str, heard: Collection[str]) -> set[str]:
    """The names right in *place* of which was heard."""
    within = f"{place}/" if place else ""
    return {
        name
        for path in heard
        if path.startswith(within) and "/" not in (name := path.removeprefix(within))
    }


def _column_of(place: str) -> str:
    column = place.partition("/")[0]
    return DONE if column_key(column) == DONE else column


def _below(place: str, name: str) -> str:
    return f"{place}/{name}" if place else name

"""Carry out changes of several files so that all of them hold, or none.

What a single system call can do is done by one. Everything else is written down first,
in ``.kanban/.change``: what each file was, and what it is to be. Whoever takes the
board's lock and finds such a note finishes what somebody was killed over. In between
every card is in exactly one place and well-formed, for whoever looks at the files.

All paths are relative to ``.kanban``. The caller holds the lock.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ubp import atomic_files
from ubp.packs.board import steps
from ubp.packs.board.cards import digest_of
from ubp.packs.board.displaced import Replacement, put_back, settled_later
from ubp.packs.board.failures import Denied, refused
from ubp.packs.board.inside import is_place_of_a_card
from ubp.packs.board.ulids import new_ulid, ulid_or_none

__all__ = (
    "NOTE",
    "Change",
    "ChangedMeanwhile",
    "commit",
    "finish_what_was_begun",
    "folder_for",
    "refuse_links",
    "refuse_read_only",
    "replace_derived",
)

NOTE = ".change"
"""Names in ``.kanban`` with a leading dot are ours."""

_UNCHANGED = "A file of the board cannot be changed."

_TEMPORARY = ".tmp"


class Change(Struct, frozen=True, kw_only=True):
    """A file that is to hold something else, or to be elsewhere, or both."""

    source: str | None
    """Where it is; None if it is new."""
    target: str
    before: bytes | None
    after: bytes

    @property
    def is_one_step(self) -> bool:
        return self.before == self.after or self.source in (None, self.target)


class ChangedMeanwhile(Exception):
    """Somebody has changed a file since it was read. Nothing was changed by us."""


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(list[Change])


def commit(kanban: Path, changes: Sequence[Change]) -> None:
    """Carry out *changes*.

    Raises:
        ChangedMeanwhile: One of the files is not what it was when it was read.
        Denied: A file or folder is read-only.
        BoardUnavailable: The disk refuses.
    """
    changes = [
        each
        for each in changes
        if each.source != each.target or each.before != each.after
    ]
    if not changes:
        return
    try:
        for each in changes:
            _refuse_read_only(kanban, each)
        for each in changes:
            _folder_of(kanban, each.target)
        if len(changes) == 1 and changes[0].is_one_step:
            _carry_out(kanban, changes[0])
            return
        steps.step("note")
        _write_note(kanban, changes)
        try:
            for each in changes:
                _carry_out(kanban, each)
        except (ChangedMeanwhile, OSError):
            _take_back(kanban, changes)  # if that fails the note stays, for later
            (kanban / NOTE).unlink(missing_ok=True)
            raise
        steps.step("forget")
        (kanban / NOTE).unlink(missing_ok=True)
    except OSError as error:
        raise refused(_UNCHANGED, error) from None


def finish_what_was_begun(kanban: Path) -> bool:
    """Carry out, or take back, what a killed process left; whether there was any.

    Raises:
        BoardUnavailable: The disk refuses.
    """
    found = False
    try:
        with os.scandir(kanban) as listing:
            left = {
                entry.name: entry.is_file(follow_symlinks=False)
                for entry in listing
                if entry.name.startswith(".")
            }
        for name, is_file in left.items():
            if is_file and _is_temporary(name):
                (kanban / name).unlink(missing_ok=True)
            elif is_file and settled_later(kanban, name):
                found = True
        if NOTE in left:
            found = True
            _finish(kanban)
    except OSError as error:
        raise refused(_UNCHANGED, error) from None
    return found


def _is_temporary(name: str) -> bool:
    """Whether it is one that has held nothing but ours.

    Other programs save by way of such files, too.
    """
    ident = name.removeprefix(".").removesuffix(_TEMPORARY)
    return name.endswith(_TEMPORARY) and ulid_or_none(ident) == ident


def _finish(kanban: Path) -> None:
    note = kanban / NOTE
    changes = _noted(kanban, note)
    if all(_can_go_on(kanban, each) for each in changes):
        for each in changes:
            _carry_on(kanban, each)
    else:
        _take_back(kanban, changes)
    note.unlink(missing_ok=True)


def _noted(kanban: Path, note: Path) -> list[Change]:
    """What *note* says; nothing if it is not one of ours.

    It may have come with a board that somebody else has made. Ours are whole, and name
    nothing but files of cards.
    """
    try:
        changes = _decoder.decode(note.read_bytes())
    except msgspec.MsgspecError:
        return []
    places = {place for each in changes for place in (each.source, each.target)}
    places.discard(None)
    are_ours = all(is_place_of_a_card(kanban, str(place)) for place in places)
    return changes if are_ours else []


def _can_go_on(kanban: Path, change: Change) -> bool:
    """Whether nobody has edited the file since, nor put another where it is to go."""
    state = _state(kanban, change)
    if state is None:
        return False
    if state == "after" or change.source == change.target:
        return True
    try:
        _folder_of(kanban, change.target)
    except Denied:
        return False
    return not os.path.lexists(kanban / change.target)


def _folder_of(kanban: Path, place: str) -> None:
    """Make sure of the folder of *place*: empty ones get lost, in git for one."""
    folder_for(kanban, place.rpartition("/")[0])


# -- one change ------------------------------------------------------------------------


def _carry_out(kanban: Path, change: Change) -> None:
    target = kanban / change.target
    if change.source is None:
        steps.step("create")
        _create(kanban, target, change.after)
        return
    source = kanban / change.source
    if change.before != change.after:
        steps.step("replace")
        _replace(kanban, source, change.before or b"", change.after)
    if source != target:
        steps.step("rename")
        _rename(source, target)


def _carry_on(kanban: Path, change: Change) -> None:
    state = _state(kanban, change)
    with suppress(ChangedMeanwhile):
        if state == "before":
            _carry_out(kanban, change)
        elif state == "between":
            _rename(kanban / str(change.source), kanban / change.target)


def _take_back(kanban: Path, changes: Sequence[Change]) -> None:
    for change in reversed(changes):
        state = _state(kanban, change)
        if state not in ("between", "after"):
            continue
        target = kanban / change.target
        if change.source is None:
            target.unlink(missing_ok=True)
            continue
        source = kanban / change.source
        with suppress(ChangedMeanwhile):
            if state == "after" and source != target:
                _folder_of(kanban, change.source)
                _rename(target, source)
            if change.before is not None and change.before != change.after:
                _replace(kanban, source, change.after, change.before)


def _state(kanban: Path, change: Change) -> str | None:
    """How far it has come; None if somebody else had a hand in it."""
    at_target = _content(kanban / change.target)
    if change.source is None:
        if at_target is None:
            return "before"
        return "after" if at_target == change.after else None
    at_source = _content(kanban / change.source)
    if change.source == change.target:
        if at_source == change.after:
            return "after"
        return "before" if at_source == change.before else None
    if at_source is None:
        return "after" if at_target == change.after else None
    if at_source == change.before:
        return "before"
    return "between" if at_source == change.after else None


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


# -- steps -----------------------------------------------------------------------------


def _temporary(kanban: Path, content: bytes, mode: int) -> Path:
    path = kanban / f".{new_ulid()}{_TEMPORARY}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


def _create(kanban: Path, target: Path, content: bytes) -> None:
    temporary = _temporary(kanban, content, 0o666)
    try:
        steps.step("appear")
        if target.exists():
            raise ChangedMeanwhile
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)


def _replace(kanban: Path, path: Path, before: bytes, after: bytes) -> None:
    """Let *path* hold *after*, if it holds *before*.

    Raises:
        ChangedMeanwhile: It does not; and it is as somebody else left it.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.read_bytes() != before:
            raise ChangedMeanwhile
    except FileNotFoundError:
        raise ChangedMeanwhile from None
    what = Replacement(
        path.name.partition("__")[0], digest_of(before), digest_of(after)
    )
    temporary = _temporary(kanban, after, mode)
    try:
        temporary.chmod(mode)
        temporary = temporary.rename(kanban / what.temporary_name)
        steps.step("exchange")
        if not atomic_files.exchange(temporary, path):
            temporary.replace(path)
            return
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, FileNotFoundError):
            raise ChangedMeanwhile from None
        raise
    # What was there at the last moment is in our hands: if it is not what we have
    # read, somebody saved meanwhile, and his file goes back to its place.
    steps.step("tidy")
    if temporary.read_bytes() != before:
        put_back(temporary, path, what)
        raise ChangedMeanwhile
    temporary.unlink()


def _rename(source: Path, target: Path) -> None:
    if target.exists():
        raise ChangedMeanwhile
    try:
        source.rename(target)
    except FileNotFoundError:
        raise ChangedMeanwhile from None


def _write_note(kanban: Path, changes: Sequence[Change]) -> None:
    temporary = _temporary(kanban, _encode(changes), 0o666)
    try:
        steps.step("write down")
        temporary.rename(kanban / NOTE)
    finally:
        temporary.unlink(missing_ok=True)


def replace_derived(kanban: Path, path: Path, content: bytes) -> None:
    """Let a file that can be made again hold *content*; it need not survive a crash.

    The caller holds the lock: whoever else has it takes what lies about for left over.

    Raises:
        OSError: The disk refuses.
    """
    temporary = kanban / f".{new_ulid()}{_TEMPORARY}"
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


# -- folders and permissions -----------------------------------------------------------


def folder_for(kanban: Path, place: str) -> Path:
    """The folder *place*, made if it is not there; no part of it may be a link.

    Raises:
        Denied: One of them is, or is no folder, or may not be written to.
        BoardUnavailable: The disk refuses.
    """
    refuse_links(kanban, place)
    folder = kanban
    for name in place.split("/"):
        folder /= name
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise refused(_UNCHANGED, error) from None
    return folder


def refuse_links(kanban: Path, place: str) -> None:
    """Let *place* be a folder, or one that can be made.

    Raises:
        Denied: A part of it is a link, or no folder.
    """
    folder = kanban
    for name in place.split("/"):
        folder /= name
        try:
            mode = folder.lstat().st_mode
        except FileNotFoundError:
            return
        if stat.S_ISLNK(mode) or not stat.S_ISDIR(mode):
            raise Denied(
                f"{name!r} is not a folder of the board.",
                cause="It is a symbolic link, or a file; a column is a folder.",
                hint="Make it a folder, or use another column.",
            )


def _refuse_read_only(kanban: Path, change: Change) -> None:
    folder = (kanban / change.target).parent
    while folder != kanban and not folder.exists():
        folder = folder.parent  # in it the others are going to be made
    paths = [kanban, folder]
    if change.source is not None:
        source = kanban / change.source
        paths += [source, source.parent]
    for path in paths:
        try:
            refuse_read_only(path)
        except FileNotFoundError:
            raise ChangedMeanwhile from None  # moved or deleted by somebody


def refuse_read_only(path: Path) -> None:
    """Let *path* be something that is there to be written to.

    Raises:
        Denied: It is not, or it is a link.
        FileNotFoundError: It is not there.
    """
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise Denied(f"{path.name} is a symbolic link, which is never written to.")
    # Whoever may do everything is still told by the mode what is not wanted.
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise Denied(
            f"{path.name} is read-only.",
            cause="Its permissions say that it is not to be changed.",
            hint="Change its permissions, or leave it as it is.",
        )

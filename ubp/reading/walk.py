"""List the files under a folder that match a pack's globs.

Files that git ignores are left out like those that do not match. Symbolic links are
followed only to files inside the folder; everything else that is left out although its
name matches is reported with the reason.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from wcmatch import glob
from wcmatch._wcparse import PatternLimitException

from ubp.messages import FileStamp
from ubp.reading import ignoring
from ubp.reading.ignoring import Rules, rules_above
from ubp.reading.source import Source

__all__ = (
    "NEVER_READ",
    "Found",
    "Refused",
    "folders",
    "matcher",
    "open_file",
    "stamp_of",
    "walk",
    "wanted",
)

NEVER_READ = frozenset({".git", ".kanban", ".ubp", ".venv", "node_modules"})
"""Folders that are never part of anybody's documents, at any depth."""

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX


class Found(NamedTuple):
    """A file to read; *path* is relative to the folder, with forward slashes."""

    path: str
    stamp: FileStamp
    linked: bool = False
    """Whether it is a symbolic link, so that it changes when another file does."""


class Refused(NamedTuple):
    """Something that must not, or cannot, be read although it would be wanted."""

    path: str
    reason: str
    folder: bool = False
    """Whether it is a folder, so that nobody knows what is in it."""
    linked: bool = False
    """Whether it is a symbolic link; another file may make it readable."""


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading; anything else is an ``OSError``.

    Without waiting: opening a pipe would, until somebody writes to it.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")


def stamp_of(info: os.stat_result) -> FileStamp:
    return FileStamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def matcher(
    include: Sequence[str], exclude: Sequence[str], suffix: str = ""
) -> Callable[[str], bool]:
    """Whether a relative path is wanted: no *exclude* and some *include* matches.

    Raises:
        ValueError: A glob stands for more patterns than anybody means.
    """
    try:
        wanted = glob.compile(list(include), flags=_FLAGS)
        unwanted = glob.compile(list(exclude), flags=_FLAGS) if exclude else None
    except PatternLimitException as error:
        raise ValueError(str(error)) from None

    def is_wanted(path: str) -> bool:
        if not path.endswith(suffix):
            return False
        if unwanted is not None and unwanted.match(path):
            return False
        return bool(wanted.match(path))

    return is_wanted


def wanted(source: Source) -> Callable[[str], bool]:
    """Whether a path, relative to the folder of *source*, could be one of its files.

    Raises:
        ValueError: A glob stands for more patterns than anybody means.
    """
    is_wanted = matcher(source.include, source.exclude, source.suffix)

    def is_one(path: str) -> bool:
        return any(
            is_wanted(path.removeprefix(f"{top}/"))
            for top in source.tops
            if not top or path.startswith(f"{top}/")
        )

    return is_one


def walk(source: Source, below: str = "") -> Iterator[Found | Refused]:
    """Every file of *source*, in no particular order.

    With *below*, a relative path, only what is at it or below it; and, where nobody can
    tell what is there, the folder around it that cannot be looked into.
    """
    for top, part in source.parts():
        for place in _within(top, below):
            for each in _walk(part, place):
                yield each._replace(path=_joined(top, each.path))


def _within(top: str, below: str) -> list[str]:
    """Where in the folder *top* to look for what is at or below *below*."""
    if not top or below == top:
        return [below.removeprefix(top)]
    if not below or top.startswith(f"{below}/"):
        return [""]
    return [below.removeprefix(f"{top}/")] if below.startswith(f"{top}/") else []


def _joined(top: str, path: str) -> str:
    return f"{top}/{path}" if top and path else top or path


def _walk(source: Source, below: str) -> Iterator[Found | Refused]:
    is_wanted = matcher(source.include, source.exclude, source.suffix)
    root = source.real_folder
    for visit in _visited(source, root, below):
        if visit.error is not None:
            yield from _unlisted(visit.prefix, visit.error)
        for entry in visit.files:
            path = visit.prefix + entry.name
            yield from _look_at(entry, path, root, is_wanted, visit.rules)


def folders(source: Source, below: str = "") -> Iterator[str]:
    """Every folder that can hold files of *source*, relative to its own, itself empty.

    Of a source that reads all of its folder.

    With *below*, only the folder at it and those in there. One that cannot be looked
    into is left out.
    """
    for visit in _visited(source, source.real_folder, below):
        if visit.whole and visit.error is None:
            yield visit.prefix.removesuffix("/")


class _Visit(NamedTuple):
    """A folder that was looked into, or was to be."""

    prefix: str
    rules: Rules
    """Those that count in it."""
    files: Sequence["_Entry"] = ()
    """What is in it and no folder."""
    whole: bool = True
    """Otherwise it is only on the way to what is asked for."""
    error: OSError | None = None


def _visited(source: Source, root: Path, below: str) -> Iterator[_Visit]:
    """The folders on the way to *below*, then the one at it and all in there."""
    way = [name for name in reversed(below.split("/")) if name]
    waiting = [("", rules_above(source))]
    while waiting:
        prefix, rules = waiting.pop()
        only = way.pop() if way else None
        try:
            if _sound(prefix) != prefix:
                # No page can be in there; and whoever looks after the system's notices
                # would be told that we opened something, in words he cannot read.
                raise OSError(errno.EILSEQ, "its name is not valid UTF-8")  # noqa: TRY301
            entries = _listed(root / prefix, only)
        except OSError as error:
            yield _Visit(prefix, rules, error=error)
            continue
        if source.gitignore_from is not None and _may_have_rules(entries, only):
            rules = rules.within(root / prefix, prefix)
        files: list[_Entry] = []
        for entry in entries:
            path = prefix + entry.name
            if entry.name in NEVER_READ:
                continue
            if not entry.is_dir(follow_symlinks=False):
                files.append(entry)
            elif not rules.ignore(path, folder=True):
                waiting.append((f"{path}/", rules))
        yield _Visit(prefix, rules, () if way else files, whole=only is None)


def _listed(folder: Path, only: str | None) -> Sequence["_Entry"]:
    """What is in *folder*; with *only*, that entry if there is one."""
    with os.scandir(folder) as listing:
        if only is None:
            return list(listing)
        try:
            # Without listing the others: they may be many, and this be asked often.
            return [] if only in {".", ".."} else [_NamedEntry(folder, only)]
        except FileNotFoundError:
            return []
        except (OSError, ValueError):  # it may be there, and cannot be asked for
            return [entry for entry in listing if entry.name == only]


def _unlisted(prefix: str, error: OSError) -> Iterator[Refused]:
    if not isinstance(error, FileNotFoundError):
        yield Refused(_sound(prefix.rstrip("/")), _why(error), folder=True)
    elif not prefix:  # the whole folder: unmounted, perhaps
        yield Refused("", "The folder is not there.", folder=True)


def _may_have_rules(entries: Sequence["_Entry"], only: str | None) -> bool:
    if only is not None:
        return True  # the others were not listed
    return any(entry.name == ignoring.FILE_NAME for entry in entries)


def _look_at(
    entry: "_Entry",
    path: str,
    root: Path,
    is_wanted: Callable[[str], bool],
    rules: Rules,
) -> Iterator[Found | Refused]:
    linked = entry.is_symlink()
    to_folder = linked and _is_folder(entry)
    if not (to_folder or is_wanted(path)) or rules.ignore(path, folder=False):
        return
    if _sound(path) != path and not to_folder:
        yield Refused(_sound(path), "The file name is not valid UTF-8.", linked=linked)
    elif linked and not _is_inside(entry, root):
        reason = "A symbolic link that leaves the folder."
        yield Refused(_sound(path), reason, linked=True)
    elif not to_folder:  # inside, its pages are read under their own names
        yield from _stamped(entry, path, linked=linked)


def _stamped(entry: "_Entry", path: str, *, linked: bool) -> Iterator[Found | Refused]:
    try:
        info = entry.stat()
    except FileNotFoundError:
        if linked:
            yield Refused(path, "A symbolic link to nothing.", linked=True)
    except OSError as error:
        yield Refused(path, _why(error), linked=linked)
    else:
        if stat.S_ISREG(info.st_mode):
            yield Found(path, stamp_of(info), linked)
        else:
            yield Refused(path, "Not a regular file.", linked=linked)


class _NamedEntry:
    """What ``scandir`` would list for one name, without listing all the others."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.path = os.path.join(folder, name)  # noqa: PTH118
        self._mode = os.lstat(self.path).st_mode

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        mode = self.stat().st_mode if follow_symlinks else self._mode
        return stat.S_ISDIR(mode)

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self._mode)

    def stat(self) -> os.stat_result:
        return os.stat(self.path)  # noqa: PTH116 - a text, as an entry has it


_Entry = os.DirEntry[str] | _NamedEntry


def _sound(path: str) -> str:
    """*path* as it can be stored and shown, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "replace")


def _is_folder(entry: _Entry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _is_inside(entry: _Entry, root: Path) -> bool:
    return Path(os.path.realpath(entry.path)).is_relative_to(root)


def _why(error: OSError) -> str:
    return f"Cannot be read: {error.strerror or 'input/output error'}."

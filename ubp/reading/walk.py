"""List the files under a folder that match a pack's globs.

Symbolic links are followed only to files inside the folder; everything that is left
out although its name matches is reported with the reason.
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

__all__ = ("NEVER_READ", "Found", "Refused", "matcher", "open_file", "stamp_of", "walk")

NEVER_READ = frozenset({".git", ".kanban", ".ubp", ".venv", "node_modules"})
"""Folders that are never part of anybody's documents, at any depth."""

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX


class Found(NamedTuple):
    """A file to read; *path* is relative to the folder, with forward slashes."""

    path: str
    stamp: FileStamp


class Refused(NamedTuple):
    """Something that must not, or cannot, be read although it would be wanted."""

    path: str
    reason: str
    folder: bool = False
    """Whether it is a folder, so that nobody knows what is in it."""


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


def walk(
    folder: Path, include: Sequence[str], exclude: Sequence[str], suffix: str = ""
) -> Iterator[Found | Refused]:
    """Every matching file below *folder*, in no particular order."""
    is_wanted = matcher(include, exclude, suffix)
    root = folder.resolve()
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            entries = list(os.scandir(root / prefix))
        except FileNotFoundError:
            if not prefix:  # the whole folder: unmounted, perhaps
                yield Refused("", "The folder is not there.", folder=True)
            continue
        except OSError as error:
            yield Refused(_sound(prefix.rstrip("/")), _why(error), folder=True)
            continue
        for entry in entries:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in NEVER_READ:
                    waiting.append(f"{path}/")
            elif entry.name not in NEVER_READ:
                yield from _look_at(entry, path, root, is_wanted)


def _look_at(
    entry: os.DirEntry[str], path: str, root: Path, is_wanted: Callable[[str], bool]
) -> Iterator[Found | Refused]:
    linked = entry.is_symlink()
    if linked and _is_folder(entry):
        # Inside, its pages are read under their own names; outside, never.
        if not _is_inside(entry, root):
            yield Refused(_sound(path), "A symbolic link that leaves the folder.")
        return
    if not is_wanted(path):
        return
    if _sound(path) != path:
        yield Refused(_sound(path), "The file name is not valid UTF-8.")
        return
    if linked and not _is_inside(entry, root):
        yield Refused(path, "A symbolic link that leaves the folder.")
        return
    try:
        info = entry.stat()
    except FileNotFoundError:
        if linked:
            yield Refused(path, "A symbolic link to nothing.")
        return
    except OSError as error:
        yield Refused(path, _why(error))
        return
    if stat.S_ISREG(info.st_mode):
        yield Found(path, stamp_of(info))
    else:
        yield Refused(path, "Not a regular file.")


def _sound(path: str) -> str:
    """*path* as it can be stored and shown, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "replace")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _is_inside(entry: os.DirEntry[str], root: Path) -> bool:
    try:
        return Path(entry.path).resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a loop of links
        return False


def _why(error: OSError) -> str:
    return f"Cannot be read: {error.strerror or 'input/output error'}."

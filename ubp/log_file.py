"""The log's file: lines that several processes append, bounded in size.

A line is one write to a file opened for appending, so lines of different processes
never mix. A file that has grown to its limit becomes ``NAME.1``, in place of the one
before, and a new one is begun.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from ubp.file_lock import try_lock

__all__ = ("MOST_BYTES", "LogFile", "older")

MOST_BYTES = 5_000_000
"""At which a file is moved aside: some 25,000 events, weeks of ordinary use."""

_BINARY = getattr(os, "O_BINARY", 0)


def older(path: Path) -> Path:
    """Where the lines before those in *path* are."""
    return path.with_name(f"{path.name}.1")


class LogFile:
    """Where one process appends its lines."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self._path = path
        self._most_bytes = most_bytes

    def append(self, line: str) -> None:
        """Write *line*, whole.

        Raises:
            OSError: It cannot be written: its folder is gone, the disk is full.
        """
        # Opened each time: another process may have moved it, or a person deleted it.
        # Nobody else's business: at level debug it has what was searched for.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY
        descriptor = os.open(self._path, flags, 0o600)
        try:
            if os.fstat(descriptor).st_size >= self._most_bytes:
                with suppress(OSError):  # then it grows until somebody can
                    self._move(descriptor)
                os.close(descriptor)
                descriptor = os.open(self._path, flags, 0o600)
            start = "" if _ends_whole(descriptor) else "\n"
            os.write(descriptor, f"{start}{line}\n".encode(errors="replace"))
        finally:
            os.close(descriptor)

    def _move(self, descriptor: int) -> None:
        """Move the file aside, unless another process does or has."""
        if not try_lock(descriptor):
            return
        # Who locked it before us has moved it by now, and begun a new one.
        if not os.path.samestat(os.fstat(descriptor), self._path.stat()):
            return
        if sys.platform == "win32":  # pragma: no cover - open files cannot be moved
            import shutil

            shutil.copyfile(self._path, older(self._path))
            os.truncate(descriptor, 0)
        else:
            self._path.replace(older(self._path))


def _ends_whole(descriptor: int) -> bool:
    """Whether the last line is complete: a full disk may have cut it.

    One that crosses a page of the file is seen by others in two steps. Who looks in
    between begins with an empty line, which is no event to anybody.
    """
    if not os.fstat(descriptor).st_size:
        return True
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"

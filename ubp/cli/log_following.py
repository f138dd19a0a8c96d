"""The lines of a log that others append to, and move aside when it is large."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ubp.log_file import older

__all__ = ("Follower",)

_LONGEST = 1_000_000
"""Bytes of a line. What is longer is no line of ours, and shown in pieces."""


class Follower:
    """Reads a log from its oldest line on, wherever its file goes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: list[_Lines] = []
        """The log, and before it one that was moved: a line may yet come to it."""

        self.exists = False
        """Whether there was a file to read."""

    def so_far(self) -> Iterator[str]:
        """The complete lines that are there now, the oldest first."""
        # The newer one first: it may become the older one before that is opened.
        newer, before = _opened(self._path), _opened(older(self._path))
        self.exists = newer is not None or before is not None
        if before is not None:
            if newer is None or not newer.is_at(older(self._path)):
                yield from before.complete()
                yield from before.rest()
            before.close()
        if newer is not None:
            self._files = [newer]
            yield from newer.complete()

    def unfinished(self) -> Iterator[str]:
        """The last line, if it is not complete: it is being written, or was cut."""
        for lines in self._files:
            yield from lines.rest()

    def more(self) -> Iterator[str]:
        """What has been appended since."""
        if not self._files or not self._files[-1].is_at(self._path):
            fresh = _opened(self._path)  # the log was moved, deleted or emptied
            if fresh is not None:
                self._files.append(fresh)
        else:
            while len(self._files) > 1:  # it has had a round to be completed
                moved = self._files.pop(0)
                yield from moved.complete()
                yield from moved.rest()
                moved.close()
        for lines in list(self._files):
            yield from lines.complete()

    def close(self) -> None:
        for lines in self._files:
            lines.close()


def _opened(path: Path) -> "_Lines | None":
    try:
        return _Lines(path.open("rb"))
    except FileNotFoundError:
        return None


class _Lines:
    """The lines of one open file, and the beginning of one that is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._begun = b""

    def complete(self) -> Iterator[str]:
        while read := self._file.readline(_LONGEST):
            self._begun += read
            if self._begun.endswith(b"\n") or len(self._begun) >= _LONGEST:
                yield from self.rest()

    def rest(self) -> Iterator[str]:
        whole, self._begun = self._begun, b""
        text = whole.decode(errors="replace").strip("\r\n")
        if text:
            yield text

    def is_at(self, path: Path) -> bool:
        """Whether *path* is this file still, with all that was read of it."""
        try:
            there = path.stat()
        except OSError:
            return False
        ours = os.fstat(self._file.fileno())
        return os.path.samestat(there, ours) and there.st_size >= self._file.tell()

    def close(self) -> None:
        self._file.close()

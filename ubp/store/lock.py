"""The lock of a project: whoever holds it watches and writes.

It is a lock of the operating system on an open file, so it ends with its process,
however that ends. The file says who holds it; it is never deleted, because another
process may be about to lock it.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ubp.errors import ProjectBusy
from ubp.file_lock import try_lock
from ubp.store.ids import now

__all__ = ("Claim", "claiming", "holder", "holding", "trying")

_TRIES = 5
_PAUSE = 0.05


class Claim:
    """A place in the queue for the lock, which whoever is quickest gets."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = _opened(path)
        self.held = False

    def take(self) -> bool:
        """Take the lock if nobody has it; whether it is ours. Never waits."""
        if self._descriptor is None:
            return False
        if not self.held and try_lock(self._descriptor):
            self.held = True
            about = f"{os.getpid()}\n{now()}\n{Path(sys.argv[0]).name}\n"
            with suppress(OSError):  # a full disk; it is locked all the same
                os.truncate(self._descriptor, 0)
                os.pwrite(self._descriptor, about.encode(), 0)
        return self.held

    @property
    def is_refused(self) -> bool:
        """Whether there can be no lock, because the project cannot be written to."""
        return self._descriptor is None

    @property
    def is_lost(self) -> bool:
        """Whether somebody has deleted the file, so that others may lock a new one."""
        if self._descriptor is None:
            return True
        try:
            there = self._path.stat()
        except OSError:
            return True
        ours = os.fstat(self._descriptor)
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)

    def renew(self) -> None:
        """Stand in line again, at the file that is there now."""
        fresh = _opened(self._path)
        self.close()
        self._descriptor = fresh

    def release(self) -> None:
        """Say that we leave in order. The lock itself goes with the descriptor."""
        if self.held and self._descriptor is not None:
            with suppress(OSError):  # read-only by now; who comes next looks twice
                os.truncate(self._descriptor, 0)

    def close(self) -> None:
        self.held = False
        if self._descriptor is not None:
            os.close(self._descriptor)

    def take_soon(self) -> None:
        """The same, with a little patience: who only looks holds it for an instant.

        Raises:
            ProjectBusy: Another process holds it; the error names its pid.
        """
        for _ in range(_TRIES):
            if self.take():
                return
            time.sleep(_PAUSE)
        raise ProjectBusy(_pid_in(self._path) or "unknown")


@contextmanager
def claiming(path: Path) -> Iterator[Claim]:
    """A claim on the lock; if it was taken, it is let go on leaving."""
    claim = Claim(path)
    try:
        yield claim
        claim.release()
    finally:
        claim.close()


@contextmanager
def holding(path: Path) -> Iterator[Claim]:
    """Hold the lock while inside.

    Raises:
        ProjectBusy: Another process holds it; the error names its pid.
    """
    with claiming(path) as claim:
        claim.take_soon()
        yield claim


@contextmanager
def trying(path: Path) -> Iterator[bool]:
    """Hold the lock while inside, if that is possible now; whether it is held.

    Never waits, so it may be asked for wherever nothing may wait.
    """
    descriptor = _opened(path)
    if descriptor is None:
        yield False
        return
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)


def holder(path: Path) -> int | None:
    """The process that holds the lock, if one does."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        if try_lock(descriptor):
            return None
        pid = _pid_in(path)
        return int(pid) if pid else None
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int | None:
    """None where there can be no such file: nobody can write what it protects either.

    The folder may be read-only, full, deleted, or something else than a folder by now.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        return None


def _pid_in(path: Path) -> str | None:
    try:
        first = path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    except OSError:
        return None
    return first if first.isdigit() else None

"""One change of a board at a time, whichever process makes it.

The lock is on the folder ``.kanban`` itself: nothing is added to what people see and
commit, and it ends with its process.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ubp.file_lock import try_lock
from ubp.packs.board.failures import Conflict

__all__ = ("locked",)

PATIENCE = 10.0
"""Seconds to wait for others. Each of them needs a few milliseconds."""

_STEP = 0.002
_LONGEST_STEP = 0.02


@contextmanager
def locked(kanban: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Nobody else changes the board meanwhile.

    Raises:
        Conflict: Somebody else does, for too long.
        OSError: The folder is not there.
    """
    deadline = time.monotonic() + patience
    while True:
        descriptor = _opened(kanban)
        try:
            _wait(descriptor, deadline)
            # Deleted and made anew while we waited: then this lock keeps nobody out.
            if _is_at(descriptor, kanban):
                yield
                return
        finally:
            os.close(descriptor)


def _wait(descriptor: int, deadline: float) -> None:
    step = _STEP
    while not try_lock(descriptor):
        if time.monotonic() > deadline:
            raise Conflict(
                "Others keep changing the board.",
                cause="Its lock was not free for ten seconds.",
                hint="Try again in a moment.",
            )
        time.sleep(step)
        step = min(2 * step, _LONGEST_STEP)


if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX

    def _opened(kanban: Path) -> int:
        return os.open(kanban / ".lock", os.O_RDWR | os.O_CREAT)

    def _is_at(descriptor: int, kanban: Path) -> bool:
        del descriptor, kanban
        return True

else:

    def _opened(kanban: Path) -> int:
        return os.open(kanban, os.O_RDONLY | os.O_DIRECTORY)

    def _is_at(descriptor: int, kanban: Path) -> bool:
        mine, there = os.fstat(descriptor), os.stat(kanban)  # noqa: PTH116
        return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)

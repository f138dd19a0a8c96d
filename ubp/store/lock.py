"""The lock of a project: whoever holds it watches and writes.

It is a lock of the operating system on an open file, so it ends with its process,
however that ends. The file says who holds it; it is never deleted, because another
process may be about to lock it.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ubp.errors import ProjectBusy
from ubp.file_lock import try_lock
from ubp.store.ids import now

__all__ = ("holder", "holding", "trying")

_TRIES = 5
_PAUSE = 0.05


@contextmanager
def holding(path: Path) -> Iterator[None]:
    """Hold the lock while inside.

    Raises:
        ProjectBusy: Another process holds it; the error names its pid.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        # Somebody who only looks holds it for an instant.
        for _ in range(_TRIES):
            if try_lock(descriptor):
                break
            time.sleep(_PAUSE)
        else:
            raise ProjectBusy(_pid_in(path) or "unknown")
        os.truncate(descriptor, 0)
        about = f"{os.getpid()}\n{now()}\n{Path(sys.argv[0]).name}\n"
        os.pwrite(descriptor, about.encode(), 0)
        yield
        os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


@contextmanager
def trying(path: Path) -> Iterator[bool]:
    """Hold the lock while inside, unless somebody else does; whether it is held.

    Never waits, so it may be asked for wherever nothing may wait.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
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


def _pid_in(path: Path) -> str | None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first if first.isdigit() else None

"""A file appears whole or not at all, however many processes make it."""

import ctypes
import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

__all__ = ("exchange", "replacing", "write_bytes")

_HERE = -100
"""AT_FDCWD: paths are as they would be for anybody."""

_SWAP = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""

_NOT_HERE = frozenset(
    {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
)
"""What systems say that cannot do it, or not on this disk."""


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[Path]:
    """A name of our own beside *path*; what is written there takes its place.

    Nobody else can read it before that; then *mode* says who can.

    Raises:
        OSError: The disk is full, or refuses.
    """
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        os.close(descriptor)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        if temporary is not None:  # nothing to do if it is in its place
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Let the file at *path* hold *content*.

    Raises:
        OSError: The disk is full, or refuses.
    """
    with replacing(path, mode) as temporary:
        temporary.write_bytes(content)


def exchange(one: Path, other: Path) -> bool:
    """Let two files change places in one step; whether the system can do that.

    Whoever replaces a file so has in his hands what it replaced, whatever somebody
    else put there at the last moment.

    Raises:
        OSError: One of them is not there, or the disk refuses.
    """
    swap = _swap()
    if swap is None:
        return False
    failed = swap(os.fsencode(one), os.fsencode(other))
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _NOT_HERE:
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))


@cache
def _swap() -> Callable[[bytes, bytes], int] | None:
    """The system's own function for it, if it has one."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":  # pragma: no cover - the tests run on Linux
            renamex = library.renamex_np
            return lambda one, other: int(renamex(one, other, _SWAP))
        rename = library.renameat2
    except (OSError, AttributeError, TypeError):
        return None
    return lambda one, other: int(rename(_HERE, one, _HERE, other, _SWAP))

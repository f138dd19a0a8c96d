"""A file appears whole or not at all, however many processes make it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ("replacing", "write_bytes")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name of our own beside *path*; what is written there takes its place.

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
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        if temporary is not None:  # nothing to do if it is in its place
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Let the file at *path* hold *content*.

    Raises:
        OSError: The disk is full, or refuses.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(content)

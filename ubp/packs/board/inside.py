"""Files of a board that are not cards: read only if they are on the board."""

import errno
import stat
from pathlib import Path

__all__ = ("read_inside",)


def read_inside(kanban: Path, place: str) -> bytes:
    """What the file at *place* in ``.kanban`` holds.

    A board may be somebody else's. A link on it could lead to anything its reader has,
    and a pipe would keep him waiting for ever.

    Raises:
        OSError: It is not there, cannot be read, or is not a file of the board.
    """
    path = kanban
    mode = 0
    for name in place.split("/"):
        path /= name
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, "it is a symbolic link")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file")
    return path.read_bytes()

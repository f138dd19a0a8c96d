"""What is on the board itself, and not behind a link that leads elsewhere."""

import errno
import stat
from pathlib import Path, PurePath

from ubp.packs.board.names import is_column_name, parsed

__all__ = ("is_place_of_a_card", "read_inside")


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


def is_place_of_a_card(kanban: Path, place: str) -> bool:
    """Whether a card can be at *place*: in a column, with no link on the way."""
    *folders, name = place.split("/")
    if not folders or not is_column_name(folders[0]) or parsed(name) is None:
        return False
    path = kanban
    for each in (*folders, name):
        is_plain = PurePath(each).parts == (each,) and not PurePath(each).drive
        if each.startswith(".") or "\x00" in each or not is_plain:
            return False
        path /= each
        if path.is_symlink():
            return False
    return True

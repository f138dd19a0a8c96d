"""A page's path -> its file, as it is on disk now.

The index says which paths are pages. What is at such a path may have become something
else since: a folder, a pipe, a link to somewhere else. That is never read.
"""

import os

from ubp.errors import ResourceTooLarge
from ubp.messages import FileStamp
from ubp.project import Project
from ubp.reading.walk import open_file, stamp_of

__all__ = ("LARGEST", "stamp_at", "text_at")

LARGEST = 4 * 1024 * 1024
"""Bytes. What is larger is a book, or no text."""


def text_at(project: Project, path: str) -> str | None:
    """The text of the page, decoded as for the index; None if there is none.

    Raises:
        ResourceTooLarge: It is not for reading in one piece.
    """
    try:
        with open_file(project.docs_dir / path) as file:
            info = os.fstat(file.fileno())
            # Of what was opened, whatever has been put in its place meanwhile.
            if not os.path.samestat(info, os.lstat(_inside(project, path))):
                return None
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise ResourceTooLarge(max(info.st_size, len(raw)), LARGEST)
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\x00" in text else text


def stamp_at(project: Project, path: str) -> FileStamp | None:
    """The size and times of the page's file; None if there is none."""
    try:
        return stamp_of(os.lstat(_inside(project, path)))
    except OSError:
        return None


def _inside(project: Project, path: str) -> str:
    """Where the file really is.

    Raises:
        OSError: Not in the docs folder of the project, or nowhere.
    """
    folder = project.docs_dir
    real = os.path.realpath(folder / path, strict=True)
    # The docs folder too may have become a link to somewhere else.
    for outer in (folder, project.root):
        if not real.startswith(str(outer).rstrip(os.sep) + os.sep):
            raise FileNotFoundError
    return real

"""Put the files of models in their place, and make room for them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ubp.atomic_files import replacing
from ubp.errors import DownloadFailed, ModelUnusable

__all__ = ("copy", "make_folder", "need_room", "placing")

_SPARE = 32_000_000
"""Bytes that stay free on the disk, for whatever else writes to it."""


@contextmanager
def placing(path: Path) -> Iterator[Path]:
    """A name of our own beside *path*; what is written there takes its place.

    Raises:
        ModelUnusable: The disk is full, or refuses.
    """
    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise ModelUnusable(
            f"{path.name} cannot be written.",
            cause=f"{error.strerror or type(error).__name__}.",
            hint="Make room, or set embedding.models_dir to a folder of yours.",
        ) from error


def copy(source: Path, path: Path) -> None:
    """Copy a file into its place."""
    with placing(path) as temporary:
        shutil.copyfile(source, temporary)


def make_folder(folder: Path) -> None:
    """Make *folder* for models.

    Raises:
        ModelUnusable: It cannot be made, or not be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
        reason = "Permission denied"
    except (OSError, ValueError) as error:  # the latter: no path at all
        reason = getattr(error, "strerror", None) or str(error)
        writable = False
    if not writable:
        raise ModelUnusable(
            "The folder for models cannot be written.",
            cause=f"{folder.name}: {reason}.",
            hint="Set embedding.models_dir in ubp.toml to a folder of yours.",
        )


def need_room(folder: Path, size: int) -> None:
    """Refuse what would fill the disk.

    Raises:
        DownloadFailed: There is less room than *size* bytes and some to spare.
    """
    free = shutil.disk_usage(folder).free
    if free < size + _SPARE:
        raise DownloadFailed(
            "There is not enough room on the disk.",
            cause=f"{size / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free.",
            hint="Make room, or set embedding.models_dir to a folder on another disk.",
        )

"""Trees of files on disk that nobody planned."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from vaults import write_files

__all__ = ("everything_in", "plant", "planted")


@contextmanager
def planted(
    files: Mapping[str, str], links: Mapping[str, str] | None = None
) -> Iterator[Path]:
    """A folder with *files* and *links*, for one example of a property test."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        plant(root, files, links)
        yield root


def plant(
    root: Path, files: Mapping[str, str], links: Mapping[str, str] | None = None
) -> None:
    """Write *files* and symbolic *links* below *root*; what is in the way stays."""
    for path, text in files.items():
        with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            write_files(root, {path: text})
    for path, target in (links or {}).items():
        link = root / path
        with suppress(FileExistsError, NotADirectoryError):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)


def everything_in(folder: Path) -> list[str]:
    """The relative path of every file, folder and link; links are not followed."""
    return sorted(
        Path(place, name).relative_to(folder).as_posix()
        for place, folders, files in os.walk(folder)
        for name in [*folders, *files]
    )

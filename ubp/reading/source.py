"""A source: a folder, and which of its files a pack reads."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ("Source",)


@dataclass(frozen=True, slots=True)
class Source:
    """A folder whose files a pack reads."""

    folder: Path
    include: Sequence[str]
    exclude: Sequence[str]
    suffix: str = ""
    """What every name must end with, whatever the globs say."""
    gitignore_from: Path | None = None
    """The project's root, from which on ``.gitignore`` files count; None if none do."""
    tops: Sequence[str] = ("",)
    """The folders in it that are read, none within another; empty is all of it. Globs
    are relative to these, paths to the one around them."""

    def parts(self) -> "list[tuple[str, Source]]":
        """Each of *tops* with a source of its own, whose folder it is."""
        return [
            (top, replace(self, folder=self.folder / top, tops=("",)))
            for top in self.tops
        ]

    @property
    def real_folder(self) -> Path:
        """Where the folder is now: it, or one around it, may be a symbolic link."""
        # Not resolve(): of a link that leads through itself that makes a RuntimeError.
        return Path(os.path.realpath(self.folder))

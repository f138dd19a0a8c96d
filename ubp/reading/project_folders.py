"""Folders that settings name: inside the project, each once."""

import os
from collections.abc import Iterable
from pathlib import Path

from ubp.errors import ConfigError, shortened
from ubp.reading.walk import NEVER_READ

__all__ = ("outermost", "path_in_project")


def path_in_project(root: Path, given: str, setting: str) -> str:
    """The path of a folder from the root. It need not be there; it may come.

    Raises:
        ConfigError: It is none that may be read.
    """
    real = Path(os.path.realpath(root / given.strip())) if "\x00" not in given else None
    if not given.strip() or real is None or not real.is_relative_to(root):
        raise _unusable(setting, given, "is not a folder inside the project")
    path = real.relative_to(root)
    if not NEVER_READ.isdisjoint(path.parts):
        raise _unusable(setting, given, "is never read")
    return "" if path == Path() else path.as_posix()


def outermost(tops: Iterable[str]) -> list[str]:
    """Each once, and none that is inside another."""
    unique = list(dict.fromkeys(tops))
    return [
        top
        for top in unique
        if not any(
            other != top and (not other or top.startswith(f"{other}/"))
            for other in unique
        )
    ]


def _unusable(setting: str, given: str, why: str) -> ConfigError:
    return ConfigError(
        f"ubp.toml: {setting} names a folder that cannot be used.",
        cause=f"{shortened(given)!r} {why}.",
        hint="Give paths of folders, relative to the project's root.",
    )

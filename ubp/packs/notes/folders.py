"""Where the notes of a project are."""

import os
from pathlib import Path

from ubp.errors import ConfigError, shortened
from ubp.project import Project
from ubp.reading.markdown_files import markdown_source
from ubp.reading.walk import NEVER_READ
from ubp.toolkit import Source

__all__ = ("source_of",)

_README = ("{README,Readme,readme}.md",)
"""At the project's root it is about the project: a cover, not a note."""


def source_of(project: Project) -> Source:
    """The docs folder, or the folders ``notes.dirs`` names. Paths are from the root.

    Raises:
        ConfigError: One of these is no folder notes can be in, or a glob in the
            settings cannot be used.
    """
    dirs = project.settings.notes.dirs
    if dirs is None:
        tops = [project.docs_dir.relative_to(project.root).as_posix()]
    else:
        tops = [_in_project(project.root, each) for each in dirs]
    tops = _outermost(["" if top == "." else top for top in tops])
    return markdown_source(
        project,
        project.root,
        tops=tops,
        # What is said of the docs folder need not hold for other ones.
        include=None if dirs is None else ["**/*.md"],
        besides=_README if "" in tops else (),
    )


def _in_project(root: Path, given: str) -> str:
    """The path of a folder from the root. It need not be there; it may come."""
    real = Path(os.path.realpath(root / given.strip())) if "\x00" not in given else None
    if not given.strip() or real is None or not real.is_relative_to(root):
        raise _unusable(given, "is not a folder inside the project")
    path = real.relative_to(root)
    if not NEVER_READ.isdisjoint(path.parts):
        raise _unusable(given, "is never read")
    return path.as_posix()


def _unusable(given: str, why: str) -> ConfigError:
    return ConfigError(
        "ubp.toml: notes.dirs names a folder that cannot be used.",
        cause=f"{shortened(given)!r} {why}.",
        hint="Give paths of folders, relative to the project's root.",
    )


def _outermost(tops: list[str]) -> list[str]:
    """Each once, and none that is inside another."""
    return [
        top
        for top in dict.fromkeys(tops)
        if not any(
            other != top and (not other or top.startswith(f"{other}/"))
            for other in tops
        )
    ]

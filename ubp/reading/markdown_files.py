"""Which Markdown files of a project are read, as its settings want it."""

from collections.abc import Sequence
from pathlib import Path

from ubp.errors import ConfigError
from ubp.project import Project
from ubp.reading.source import Source
from ubp.reading.walk import matcher

__all__ = ("markdown_source",)


def markdown_source(
    project: Project,
    folder: Path,
    *,
    tops: Sequence[str] = ("",),
    include: Sequence[str] | None = None,
    besides: Sequence[str] = (),
) -> Source:
    """The Markdown files in *folder*, or in *tops* of it, that ``[source]`` asks for.

    *include* replaces that of the settings; *besides* are globs to leave out as well.

    Raises:
        ConfigError: A glob in the settings cannot be used.
    """
    wanted = project.settings.source
    for key, globs in (("include", wanted.include), ("exclude", wanted.exclude)):
        try:
            matcher(globs, [])
        except ValueError as error:
            raise ConfigError(
                f"ubp.toml: source.{key} has a glob that cannot be used.",
                cause=f"{error}.",
            ) from None
    return Source(
        folder,
        wanted.include if include is None else include,
        [*wanted.exclude, *besides],
        suffix=".md",
        gitignore_from=project.root if wanted.gitignore else None,
        tops=tuple(tops),
    )

"""Settings: one struct, decoded from ``ubp.toml``, every key with a default.

Nothing else reads the settings file or the environment.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct, field

from ubp.errors import ConfigError

__all__ = (
    "FILE_NAME",
    "DocsSettings",
    "LogLevel",
    "LogSettings",
    "SearchSettings",
    "Settings",
    "SourceSettings",
    "StalenessSettings",
    "load",
    "log_level_from_environment",
)

FILE_NAME = "ubp.toml"

LogLevel = Literal["debug", "info", "warn", "error"]


class SourceSettings(Struct, frozen=True, kw_only=True):
    """Which files of the docs directory are pages."""

    include: Annotated[
        list[str],
        Meta(description="Globs of files to read, relative to the docs directory."),
    ] = field(default_factory=lambda: ["**/*.md"])
    exclude: Annotated[
        list[str],
        Meta(description="Globs of files to leave out; checked before `include`."),
    ] = field(
        default_factory=lambda: ["**/node_modules/**", "**/dist/**", "**/.git/**"]
    )


class DocsSettings(Struct, frozen=True, kw_only=True):
    """How the docs pack reads links."""

    site_prefix: Annotated[
        str,
        Meta(description="Stripped from links that start with it, such as `/docs/`."),
    ] = ""


class SearchSettings(Struct, frozen=True, kw_only=True):
    """What `ubp_search` does unless its caller says otherwise."""

    default_limit: Annotated[
        int, Meta(ge=1, le=20, description="Results of a search that names no limit.")
    ] = 10
    max_depth: Annotated[
        int, Meta(ge=1, le=3, description="Hops of a search that names no depth.")
    ] = 2


class StalenessSettings(Struct, frozen=True, kw_only=True):
    """When a page counts as out of date."""

    threshold_days: Annotated[
        float,
        Meta(
            ge=0,
            description="A source changed longer ago than this makes its page `stale`.",
        ),
    ] = 7


class LogSettings(Struct, frozen=True, kw_only=True):
    """Logging; always to standard error, and to a file on request."""

    level: Annotated[
        LogLevel, Meta(description="Least severe level that is logged.")
    ] = "info"
    file: Annotated[
        str | None, Meta(description="A file that gets the log as JSON lines too.")
    ] = None


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set in ``ubp.toml``."""

    docs_dir: Annotated[
        str | None,
        Meta(description="Folder of the pages; `docs` if it exists, else the root."),
    ] = None
    packs: Annotated[
        list[str] | None, Meta(description="The packs to enable; all unless given.")
    ] = None
    source: SourceSettings = field(default_factory=SourceSettings)
    docs: DocsSettings = field(default_factory=DocsSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    staleness: StalenessSettings = field(default_factory=StalenessSettings)
    log: LogSettings = field(default_factory=LogSettings)


def load(path: Path) -> tuple[Settings, list[str]]:
    """The settings in the file at *path*, and the unknown keys that were ignored.

    Raises:
        ConfigError: The file is not TOML, or a value does not fit its key.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Settings(), []
    except (OSError, ValueError, RecursionError) as error:  # not TOML, or not text
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"Cannot read {path.name}.", cause=f"{reason}.") from None
    try:
        settings = msgspec.convert(raw, Settings)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`")
        raise ConfigError(
            f"{path.name}: {key or 'the file'} has a value that cannot be used.",
            cause=f"{key}: {reason}." if key else f"{reason}.",
        ) from None
    return settings, sorted(_unknown(raw, Settings, ""))


def log_level_from_environment() -> LogLevel | None:
    """``LOG_LEVEL``, where it holds a level we know."""
    word = os.environ.get("LOG_LEVEL", "").lower().removesuffix("ing")
    levels: tuple[LogLevel, ...] = get_args(LogLevel)
    return next((level for level in levels if level == word), None)


def _unknown(raw: dict[str, Any], struct: type[Struct], prefix: str) -> list[str]:
    known = get_type_hints(struct)
    found: list[str] = []
    for key, value in raw.items():
        if key not in known:
            found.append(prefix + re.sub(r"\s+", " ", key))
        elif isinstance(value, dict) and issubclass(known[key], Struct):
            found += _unknown(value, known[key], f"{prefix}{key}.")
    return found

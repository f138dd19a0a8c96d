"""Which files git ignores: what ``.gitignore`` files say, as git understands them.

A rule counts for what is below the folder of its file. Of the rules that match a path
the last one in the deepest folder decides, and ``.git/info/exclude`` comes before them
all. A rule matches the path itself, never what is below it: whoever walks does not
enter an ignored folder, so nothing in there can be included again.

Nothing is remembered between two questions: the files are read each time.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from ubp.reading.source import Source
from ubp.telemetry import get_logger

__all__ = ("FILE_NAME", "Rules", "files_above", "rules_above")

log = get_logger("ignoring")

FILE_NAME = ".gitignore"

_EXCLUDE = Path(".git", "info", "exclude")
"""The same for one's own copy, in the project's root."""

_PARTS = re.compile(r"((?:\\.|[^\\])*?) *", re.DOTALL)
"""A line, and the spaces behind it; one behind a backslash is part of the line."""

_STARS = re.compile(r"(\\.)|\*{2,}", re.DOTALL)

_UNCLEAR_SET = re.compile(r"(?<!\\)\[[!^]?(?:\[|[^]]*(?:\\|--|&&|~~|\|\|))")
"""Sets of characters that Python and git read differently: classes such as
``[:alpha:]``, escapes, and what Python reserves for operators."""


class _Rule(NamedTuple):
    matches: Callable[[str], re.Match[str] | None]
    by_name: bool
    """Whether it is about the name alone, wherever below the file that is."""
    folders_only: bool
    ignores: bool
    """Otherwise what it matches is included again."""


class _Level(NamedTuple):
    """The rules of one file, the last one first."""

    cut: int
    """The length of what a path has before it, seen from the folder of the file."""
    rules: tuple[_Rule, ...]


class Rules(NamedTuple):
    """The rules that count in one folder, those of the deepest file first."""

    lead: str = ""
    """What leads from the topmost file to the folder that paths are relative to."""
    levels: tuple[_Level, ...] = ()

    def ignore(self, path: str, *, folder: bool) -> bool:
        """Whether the file or *folder* at *path* is ignored, if none around it is."""
        if not self.levels:
            return False
        whole = self.lead + path
        name = path.rpartition("/")[2]
        for level in self.levels:
            seen = whole[level.cut :]
            for matches, by_name, folders_only, ignores in level.rules:
                if folders_only and not folder:
                    continue
                if matches(name if by_name else seen):
                    return ignores
        return False

    def within(self, folder: Path, prefix: str) -> "Rules":
        """The rules that count in *folder*, which is at *prefix*: with its own file."""
        rules = _rules_of(folder / FILE_NAME)
        if not rules:
            return self
        level = _Level(len(self.lead) + len(prefix), rules)
        return self._replace(levels=(level, *self.levels))


def rules_above(source: Source) -> Rules:
    """What the files above the source's folder say of what is in it.

    Nothing, if they ignore the folder itself: then it was asked for all the same.
    """
    if source.gitignore_from is None:
        return Rules()
    place = Path(os.path.realpath(source.gitignore_from))
    outermost = _rules_of(place / _EXCLUDE)
    rules = Rules(levels=(_Level(0, outermost),) if outermost else ())
    prefix = ""
    for name in _between(place, source.real_folder):
        rules = rules.within(place, prefix)
        if rules.ignore(prefix + name, folder=True):
            return Rules()
        prefix += f"{name}/"
        place /= name
    return rules._replace(lead=prefix)


def files_above(source: Source) -> Iterator[Path]:
    """The files that decide of the source's folder from outside; few of them exist."""
    if source.gitignore_from is None:
        return
    place = Path(os.path.realpath(source.gitignore_from))
    yield place / _EXCLUDE
    for name in _between(place, source.real_folder):
        yield place / FILE_NAME
        place /= name


def _between(top: Path, folder: Path) -> tuple[str, ...]:
    return folder.relative_to(top).parts if folder.is_relative_to(top) else ()


def _rules_of(file: Path) -> tuple[_Rule, ...]:
    """The rules in *file*, the last one first; none if there is no such file."""
    try:
        # Git does not follow a link here either.
        regular = stat.S_ISREG(os.lstat(file).st_mode)
        text = os.fsdecode(file.read_bytes()) if regular else None
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        _tell(file, None, f"Cannot be read: {error.strerror or 'input/output error'}.")
        return ()
    if text is None:
        _tell(file, None, "Not a regular file.")
        return ()
    found, unusable = _understood(text)
    for number in unusable:
        _tell(file, number, "Not a pattern that can be used.")
    return found


@lru_cache(maxsize=256)
def _tell(file: Path, line: int | None, reason: str) -> None:
    """Log once what cannot be used, however often the file is read."""
    log.warning("index.gitignore_unusable", path=str(file), line=line, reason=reason)


@lru_cache(maxsize=64)
def _understood(text: str) -> tuple[tuple[_Rule, ...], tuple[int, ...]]:
    """The rules of a file, the last one first, and the lines that are none."""
    rules: list[_Rule] = []
    unusable: list[int] = []
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            continue
        try:
            rules += _rule(line.removesuffix("\r"))
        except (ValueError, re.error):
            unusable.append(number)
    return tuple(reversed(rules)), tuple(unusable)


def _rule(line: str) -> Iterator[_Rule]:
    """The rule on *line*, if there is one.

    Raises:
        ValueError: It is no pattern.
    """
    if bare := _PARTS.fullmatch(line):
        line = bare[1]
    ignores = not line.startswith("!")
    pattern = line.removeprefix("!")
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return
    if _UNCLEAR_SET.search(pattern):
        raise ValueError(pattern)
    by_name = "/" not in pattern
    translated = GitIgnoreSpecPattern(_spelled_out(pattern, by_name=by_name)).regex
    if translated is not None:
        # "Not this character" is never a slash.
        expression = re.compile(translated.pattern.replace("[^", "[^/"))
        yield _Rule(expression.fullmatch, by_name, folders_only, ignores)


def _spelled_out(pattern: str, *, by_name: bool) -> str:
    """*pattern* so that its expression has to match a path to its end.

    The library has short cuts for ``*`` and ``**`` that match any part of a path.
    """
    segments = [
        segment
        if segment == "**"
        else _STARS.sub(lambda found: found[1] or "*", segment)
        for segment in pattern.split("/")
    ]
    if by_name:
        segments = ["*" if segment == "**" else segment for segment in segments]
    elif segments[-1] == "**":
        segments.append("*")
    spelled = "/".join("?*" if segment == "*" else segment for segment in segments)
    # It has been told apart already what these mean at the beginning of a line.
    return f"\\{spelled}" if spelled.startswith(("!", "#")) else spelled

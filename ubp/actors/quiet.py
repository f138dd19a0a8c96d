"""What has stirred and is waiting to be looked at: a pure data structure.

An editor saves in several steps, and a branch switch touches thousands of files. A path
is looked at when nothing has been heard of it for a moment; one that never rests, after
a while all the same. Where too many stir, everything is looked at once instead.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

__all__ = ("Due", "Stirred")

QUIET = 0.4
"""Seconds without news after which a path is looked at. A notice is at least 0.1 old
when it comes, and if the path goes on stirring the next one follows within 0.2."""

PATIENCE = 5.0
"""Seconds after which a path that keeps stirring is looked at."""

MOST = 1_000
"""Paths beyond which looking at everything is quicker."""


class Due(NamedTuple):
    """What to look at now."""

    paths: frozenset[str]
    everything: bool

    def __bool__(self) -> bool:
        return self.everything or bool(self.paths)


class _Times(NamedTuple):
    first: float
    last: float

    @property
    def due(self) -> float:
        return min(self.last + QUIET, self.first + PATIENCE)


class Stirred:
    """Paths with when they were first and last heard of; times are the caller's."""

    def __init__(self) -> None:
        self._paths: dict[str, _Times] = {}
        self._everything: _Times | None = None

    def note(self, paths: Iterable[str], now: float) -> None:
        """Something was heard of *paths*."""
        for path in paths:
            first = self._paths[path].first if path in self._paths else now
            self._paths[path] = _Times(first, now)
        if self._everything is not None or len(self._paths) > MOST:
            self.note_everything(now)

    def note_everything(self, now: float) -> None:
        """Nobody knows what has changed."""
        begun = [times.first for times in self._paths.values()]
        if self._everything is not None:
            begun.append(self._everything.first)
        self._everything = _Times(min([*begun, now]), now)
        self._paths.clear()

    @property
    def next_due(self) -> float | None:
        """When there will be something to look at; None if nothing stirs."""
        if self._everything is not None:
            return self._everything.due
        return min((times.due for times in self._paths.values()), default=None)

    def includes(self, wanted: Callable[[str], bool]) -> bool:
        """Whether one that is *wanted* waits, or may."""
        return self._everything is not None or any(map(wanted, self._paths))

    def take(self, now: float) -> Due:
        """What has rested long enough; it is forgotten here."""
        if self._everything is not None:
            if self._everything.due > now:
                return Due(frozenset(), everything=False)
            self._everything = None
            return Due(frozenset(), everything=True)
        due = frozenset(path for path, times in self._paths.items() if times.due <= now)
        for path in due:
            del self._paths[path]
        return Due(due, everything=False)

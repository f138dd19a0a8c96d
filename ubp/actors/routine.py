"""When to look at everything to be sure: a pure data structure.

Notices get lost where much happens, and on file systems that tell nothing of what
others write. So everything is looked at a while after something was heard, soon after
it went on and on, and ever more rarely while nothing happens: who is told nothing has
most likely nothing to be told, unless it turns out that he has.
"""

__all__ = ("Routine",)

OFTEN = 120.0
RARELY = 960.0
"""Seconds between two looks, after something was heard and when nothing ever is."""

COSTS = 5_000
"""A look comes no sooner than after as many times what it costs to list the folders:
altogether that is a thousandth of a processor."""

STORM = 2.0
CALM = 1.0
"""Seconds over which notices come without a pause when some are likely to be lost, and
the pause after which it is over."""


class Routine:
    """Looks at everything and what was heard between them; times are the caller's."""

    def __init__(self, now: float, cost: float) -> None:
        self._pause = OFTEN
        self._looked = now
        self._next = now + OFTEN
        self._cost = cost
        self._heard_since = False
        self._begun = self._last = now
        self._stormy = False

    def is_due(self, now: float) -> bool:
        if now < self._looked + COSTS * self._cost:
            return False
        if self._stormy and now >= self._last + CALM:
            return True
        return now >= self._next

    def heard(self, now: float) -> None:
        """Something was heard: others may have been lost."""
        if now >= self._last + CALM:
            self._begun = now
        self._last = now
        self._stormy |= now >= self._begun + STORM
        if not self._heard_since:
            self._heard_since = True
            # Sooner than it would have been, never later.
            self._next = min(self._next, now + OFTEN)

    def looked(self, now: float, cost: float) -> None:
        """Everything is looked at, and it cost so much to list it."""
        self._pause = OFTEN if self._heard_since else min(2 * self._pause, RARELY)
        self._looked = self._begun = now
        self._next = now + self._pause
        self._cost = cost
        self._heard_since = self._stormy = False

    def found_something(self) -> None:
        """There was something of which nobody had told: one cannot rely on it here."""
        self._pause = OFTEN
        self._next = min(self._next, self._looked + OFTEN)

"""What has changed on a board and is to be told: a pure data structure.

Told at once when nothing was told for a while; what follows soon is collected until
there is quiet, or until there is enough of it.
"""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ("Pending", "Telling")

_TOO_MANY_TIMES = 3
"""Overflows one after the other after which nobody asks what exactly has changed."""


class Telling(NamedTuple):
    """What to tell: that the board is another, then which cards."""

    cards: tuple[str, ...]


class Pending:
    """Cards that changed; times are the caller's, in seconds."""

    def __init__(self) -> None:
        self._cards: set[str] = set()
        self._is_dirty = False
        self._told = float("-inf")
        self._last = float("-inf")
        self._overflows = 0
        self._is_due = False

    def note(
        self,
        cards: Iterable[str],
        now: float,
        *,
        debounce: float,
        max_batch: int,
        overflowed: bool = False,
    ) -> None:
        """The board has changed, and these cards of it.

        With *overflowed* more happened than anybody could follow.
        """
        self._is_dirty = True
        self._last = now
        if not overflowed:
            self._overflows = 0
            self._cards.update(cards)
        else:
            self._overflows += 1
            if self._overflows >= _TOO_MANY_TIMES:
                self._cards.clear()
                self._overflows = 0
                self._is_due = True
                return
            room = max(0, max_batch - len(self._cards))
            self._cards.update(list(cards)[:room])
        if now >= self._told + debounce or len(self._cards) >= max_batch:
            self._is_due = True

    def next_due(self, debounce: float) -> float | None:
        """When there will be something to tell; None if there is nothing."""
        if not self._is_dirty:
            return None
        return self._last if self._is_due else self._last + debounce

    def take(self, now: float, debounce: float) -> Telling | None:
        """What is to be told now; it is forgotten here."""
        due = self.next_due(debounce)
        if due is None or due > now:
            return None
        telling = Telling(tuple(sorted(self._cards)))
        self.forget()
        self._told = now
        return telling

    def forget(self) -> None:
        """Nobody wants to know."""
        self._cards.clear()
        self._is_dirty = self._is_due = False

"""Names of cards: ULIDs, which sort by when they were made."""

import re
import secrets
import threading
import time
from collections.abc import Callable

__all__ = ("ULID", "Ulids", "new_ulid", "ulid_or_none")

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")
"""26 characters; the first is small, or the number would have more than 128 bits."""


def ulid_or_none(text: str) -> str | None:
    """*text* as we write it, in upper case; None if it is no ULID."""
    upper = text.upper()
    return upper if text.isascii() and ULID.match(upper) else None


class Ulids:
    """Makes them, each greater than the one before, whatever the clock does."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._turn = threading.Lock()
        self._last = 0

    def __call__(self) -> str:
        with self._turn:
            made = (self._clock() // 10**6 << _RANDOM_BITS) | secrets.randbits(
                # One bit less, so that many more fit into the same millisecond.
                _RANDOM_BITS - 1
            )
            if made >> _RANDOM_BITS <= self._last >> _RANDOM_BITS:
                made = self._last + 1
            self._last = made
        return _written(made)


def _written(number: int) -> str:
    digits = ""
    for _ in range(26):
        number, digit = divmod(number, 32)
        digits = _CROCKFORD[digit] + digits
    return digits


new_ulid = Ulids()
"""The one of this process."""

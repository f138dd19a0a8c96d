"""Patterns that are compiled when they are first wanted.

Every command imports this pack, few look at what somebody contributed, and its patterns
take a twentieth of a short command's time.
"""

import re
from collections.abc import Callable
from functools import cache

__all__ = ("Later", "later")

Later = Callable[[], re.Pattern[str]]


def later(pattern: str, flags: int = 0) -> Later:
    """*pattern*, compiled at the first call and kept."""
    return cache(lambda: re.compile(pattern, flags))

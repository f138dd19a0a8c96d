"""How long a server on the network asks us to wait."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ("seconds_asked",)

_MOST_DIGITS = 9


def seconds_asked(header: str) -> float | None:
    """What a ``Retry-After`` says, as a number or as a date; None if it says nothing.

    A date that has passed asks for no wait at all.
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:_MOST_DIGITS])
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())

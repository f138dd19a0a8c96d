"""Identifiers that sort by when they were made."""

import secrets
import time
from datetime import UTC, datetime
from uuid import UUID

__all__ = ("iso", "new_id", "now")


def new_id() -> str:
    """A UUID of version 7 (RFC 9562): 48 bits of milliseconds, then chance."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (2**48 - 1)) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76  # version 7
    value = value & ~(0x3 << 62) | 0x2 << 62  # the variant of RFC 9562
    return str(UUID(int=value))


def now() -> str:
    """The time, in ISO 8601, in UTC, to the microsecond so that it sorts."""
    return iso(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """A time in UTC, written in the same way."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

"""What votes make of an item: its quality, and whether it may be shown."""

from typing import Literal, NamedTuple

__all__ = ("Standing", "Status", "standing")

Status = Literal["active", "flagged", "quarantined"]

_PER_VOTE = 0.05
_FURTHEST = 0.25

_TO_FLAG = 2
QUARANTINE_AT = 3
"""Negative votes of different agents."""


class Standing(NamedTuple):
    """What a reader is told of an item."""

    quality: float
    status: Status


def standing(computed: float, positive: int, negative: int) -> Standing:
    """Of an item with this computed quality and these votes."""
    moved = max(-_FURTHEST, min(_FURTHEST, _PER_VOTE * (positive - negative)))
    quality = round(max(0.0, min(1.0, computed + moved)), 6)
    return Standing(quality, _status(positive, negative))


def _status(positive: int, negative: int) -> Status:
    if negative <= positive or negative < _TO_FLAG:
        return "active"
    return "quarantined" if negative >= QUARANTINE_AT else "flagged"

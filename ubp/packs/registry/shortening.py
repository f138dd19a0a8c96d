"""Contributions in few bytes, for lists of what was found."""

from typing import Any

__all__ = ("LEVELS", "shortened_text", "shortened_unit")

LEVELS = ((2_000, 20), (800, 10), (400, 6), (200, 4), (100, 3), (40, 2), (20, 1))
"""Characters of a text and entries of a list that are shown, from much to little."""

_DOTS = "…"


def shortened_text(text: str, most: int) -> str:
    """The first *most* characters of *text*, with dots for the rest."""
    return text if len(text) <= most else text[:most].rstrip() + _DOTS


def shortened_unit(value: Any, most: int, entries: int) -> Any:
    """*value* with long texts cut and long lists ended; what it is made of stays."""
    if isinstance(value, str):
        return shortened_text(value, most)
    if isinstance(value, list):
        return [shortened_unit(each, most, entries) for each in value[:entries]]
    if isinstance(value, dict):
        return {key: shortened_unit(each, most, entries) for key, each in value.items()}
    return value

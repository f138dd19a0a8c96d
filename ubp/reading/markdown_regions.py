"""Where in Markdown the code and the tables are, in characters.

For whoever has to treat them differently from prose, without taking the text apart.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyromark

__all__ = ("Region", "Regions", "is_inside", "regions")

_PARSER = pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES)


class Region(NamedTuple):
    """A stretch of text, from its first character to the one after its last."""

    start: int
    end: int


class Regions(NamedTuple):
    """What of a text is not prose; each kind in the order of the text."""

    fences: tuple[Region, ...]
    """Fenced code, with its fences."""
    code: tuple[Region, ...]
    """All code: fenced, indented and inline."""
    tables: tuple[Region, ...]


def regions(text: str) -> Regions:
    """The code and the tables of *text*, in lines of Unix style."""
    place = _Places(text)
    fences: list[Region] = []
    code: list[Region] = []
    tables: list[Region] = []
    for kind, fenced, start, end in _stretches(text):
        region = Region(place.of(start), place.of(end))
        if kind == "Table":
            tables.append(region)
        else:
            code.append(region)
        if fenced:
            fences.append(region)
    return Regions(tuple(fences), tuple(code), tuple(tables))


def is_inside(place: int, found: Sequence[Region]) -> bool:
    """Whether the character at *place* belongs to one of the regions of a kind."""
    before = bisect_right(found, place, key=lambda region: region.start)
    return before > 0 and place < found[before - 1].end


def _stretches(text: str) -> Iterator[tuple[str, bool, int, int]]:
    """Kind, whether it is fenced, and the bytes of everything that is not prose."""
    for event, span in _PARSER.events_with_range(text, merge_text=True):
        if not isinstance(event, dict):
            continue
        [(kind, payload)] = event.items()
        if kind == "Code":
            yield "Code", False, span["start"], span["end"]
        elif kind == "Start" and isinstance(payload, dict):
            [(tag, details)] = payload.items()
            if tag in {"CodeBlock", "Table"}:
                yield tag, _is_fenced(details), span["start"], span["end"]


def _is_fenced(details: Any) -> bool:
    return isinstance(details, dict) and "Fenced" in details


class _Places:
    """Offsets in bytes as offsets in characters."""

    def __init__(self, text: str) -> None:
        self._raw = text.encode("utf-8", "surrogatepass")
        self._is_ascii = len(self._raw) == len(text)
        self._known_bytes = [0]
        self._known_characters = [0]

    def of(self, offset: int) -> int:
        if self._is_ascii:
            return offset
        # Offsets come almost in order, so what is counted again is short.
        nearest = bisect_right(self._known_bytes, offset) - 1
        start = self._known_bytes[nearest]
        between = self._raw[start:offset].decode("utf-8", "ignore")
        place = self._known_characters[nearest] + len(between)
        if nearest == len(self._known_bytes) - 1 and offset > start:
            self._known_bytes.append(offset)
            self._known_characters.append(place)
        return place

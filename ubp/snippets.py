"""The few words around a match, with the match marked."""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from ubp import lexicon

__all__ = ("snippet",)

WINDOW = 64
"""Characters of context shown, beside the match itself, unless more are asked for."""

_LONGEST_SEARCHED = 1_000_000
"""Characters of a section that are searched for the place of a match."""

_MOST_WORDS = 64
_MOST_PLACES = 1_000


_CLUSTER = re.compile(r"(?s:.)[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*")
"""A character with its accents, which fold together."""


class _Place(NamedTuple):
    """A match: where it is, and of which word."""

    start: int
    end: int
    word: str


def snippet(content: str, words: Sequence[str], window: int = WINDOW) -> str:
    """The part of *content* where most of the folded *words* stand, all of them marked.

    Where none does - the heading matched - it is the unmarked start.
    """
    places = _places(content, words[:_MOST_WORDS])
    first, last = _densest(places, window) if places else (0, window // 2)
    start = max(0, first - window // 2)
    end = min(len(content), last + window // 2, first + 4 * window)
    start, end = _at_words(content, start, end)
    shown: list[str] = []
    at = start
    for place in places:
        if at <= place.start and place.end <= end:
            shown += [content[at : place.start], "<mark>"]
            shown += [content[place.start : place.end], "</mark>"]
            at = place.end
    shown.append(content[at:end])
    before = "..." if content[:start].strip() else ""
    after = "..." if content[end:].strip() else ""
    return f"{before}{''.join(shown).strip()}{after}"


def _densest(places: Sequence[_Place], window: int) -> tuple[int, int]:
    """Where the first and last match of the best window begin and end."""
    best, most = (places[0], places[0]), 0
    left = 0
    for right, place in enumerate(places):
        while place.end - places[left].start > window and left < right:
            left += 1
        distinct = len({each.word for each in places[left : right + 1]})
        if distinct > most:
            best, most = (places[left], place), distinct
    return best[0].start, best[1].end


def _places(content: str, words: Sequence[str]) -> list[_Place]:
    """Where the words stand in *content*, in order; longer words win."""
    if not words:
        return []
    wanted = sorted(words, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(word) for word in wanted))
    searched = content[:_LONGEST_SEARCHED]
    folded = lexicon.fold(searched)
    origin: Sequence[int] = range(len(searched) + 1)
    if not _keeps_places(searched, folded):
        # Each folded character must know where it came from.
        clusters = list(_CLUSTER.finditer(searched))
        parts = [lexicon.fold(cluster.group()) for cluster in clusters]
        origin = [
            c.start() for c, part in zip(clusters, parts, strict=True) for _ in part
        ]
        origin.append(len(searched))
        folded = "".join(parts)
    return [
        _Place(
            origin[found.start()],
            max(origin[found.end()], origin[found.start()] + 1),
            found.group(),
        )
        for found in itertools.islice(pattern.finditer(folded), _MOST_PLACES)
    ]


def _keeps_places(text: str, folded: str) -> bool:
    """Whether every character of *text* is one of *folded*, at the same place."""
    return len(text) == len(folded) and all(
        len(lexicon.fold(character)) == 1 for character in set(text)
    )


def _at_words(content: str, start: int, end: int) -> tuple[int, int]:
    """The same stretch, widened a little rather than cut inside a word."""
    for _ in range(WINDOW // 4):
        if start > 0 and _inside_word(content, start):
            start -= 1
        if end < len(content) and _inside_word(content, end):
            end += 1
    return start, end


def _inside_word(content: str, at: int) -> bool:
    both = content[at - 1 : at + 1]
    return both.isascii() and both.isalnum()

"""What a search knows of a page, by its words and by its meaning."""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ("PageMeaning", "PageWords", "Row", "share_of", "total_of")

_NEXT = 0.2
_COUNTED = 5
"""A page's second to fifth section count a fifth of what they would as its best."""


class Row(NamedTuple):
    """A section with words of a question."""

    row: int
    score: float
    coverage: float


class PageWords(NamedTuple):
    """A page's signal, and the shares of its sections, best first."""

    signal: float
    sections: tuple[tuple[int, float], ...]
    translated: bool = False
    """It has the words in another language than the question."""


class PageMeaning(NamedTuple):
    """A page's similarity, and those of its sections, closest first."""

    similarity: float
    sections: tuple[tuple[int, float], ...]
    foreign: frozenset[int] = frozenset()
    """Those of the sections that are in another language than the question."""

    @property
    def is_foreign(self) -> bool:
        """Whether its closest section is."""
        return self.sections[0][0] in self.foreign


def total_of(scores: Iterable[float]) -> float:
    """The score of a page, of those of its sections."""
    best, *more = sorted(scores, reverse=True)
    return best + _NEXT * sum(more[: _COUNTED - 1])


def share_of(score: float, best: float) -> float:
    """A score in the best one; where nothing has any, all are the best."""
    return score / best if best > 0 else 1.0

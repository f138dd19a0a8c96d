"""What a search knows of a page, by its words and by its meaning."""

from typing import NamedTuple

__all__ = ("PageMeaning", "PageWords")


class PageWords(NamedTuple):
    """A page's signal, and the shares of its sections, best first."""

    signal: float
    sections: tuple[tuple[int, float], ...]


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

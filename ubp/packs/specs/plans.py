"""A learning plan: every section once, in weeks of about the same size."""

import math
from collections.abc import Sequence
from itertools import accumulate, groupby

from msgspec import Struct

from ubp.packs.specs.queries import PlacedSection
from ubp.packs.specs.sections import SEPARATOR

__all__ = ("Week", "planned")

_CHARACTERS_A_MINUTE = 800

_DEEPEST = 8
"""Headings of a path by which a topic is parted; below, section by section."""

_PREREQUISITES = {
    "go": (
        "introduction",
        "notation",
        "source code representation",
        "lexical elements",
    ),
    "java": ("introduction", "grammars", "lexical structure"),
    "rust": ("introduction", "notation", "lexical structure", "input format"),
    "typescript": ("the typescript handbook", "the basics", "everyday types"),
    "csharp": ("scope", "general description", "conformance", "lexical structure"),
    "python": ("introduction", "lexical analysis"),
    "ecmascript": ("introduction", "scope", "overview", "notational conventions"),
}
"""What comes first whatever one is after, by language; those of Go for any other."""


class Week(Struct, frozen=True, kw_only=True):
    """What to read in one week."""

    sections: list[PlacedSection]

    @property
    def theme(self) -> str:
        return ", ".join(dict.fromkeys(topic(each) for each in self.sections))

    @property
    def minutes(self) -> int:
        return math.ceil(_size(self.sections) / _CHARACTERS_A_MINUTE)


def topic(section: PlacedSection) -> str:
    """The first heading of its path."""
    return section.path.partition(SEPARATOR)[0]


def planned(
    sections: Sequence[PlacedSection], weeks: int, focus: Sequence[str], language: str
) -> list[Week]:
    """*sections* in so many weeks, or as many as there are sections.

    Topics stay together where they fit into a week, and in order; what is in *focus*
    comes before the rest.
    """
    groups: dict[str, list[PlacedSection]] = {}
    for section in sections:
        groups.setdefault(topic(section), []).append(section)
    names = _ordered(list(groups), focus, language) if focus else list(groups)
    share = _size(sections) / weeks
    units = [unit for name in names for unit in _fitting(groups[name], share)]
    made = _shared_out(units, weeks)
    while len(made) < weeks:
        largest = max((each for each in made if len(each) > 1), key=_size, default=None)
        if largest is None:
            break
        at = made.index(largest)
        made[at : at + 1] = _halved(largest)
    return [Week(sections=each) for each in made]


def _ordered(names: list[str], focus: Sequence[str], language: str) -> list[str]:
    """Prerequisites, what is in focus, then the rest; each in the given order."""
    first = _PREREQUISITES.get(language, _PREREQUISITES["go"])
    wanted = [word.lower().strip() for word in focus if word.strip()]

    def place(name: str) -> int:
        plain = name.lower()
        if plain.lstrip("0123456789. ") in first:
            return 0
        return 1 if any(word in plain or plain in word for word in wanted) else 2

    return sorted(names, key=place)


def _fitting(
    sections: list[PlacedSection], share: float, depth: int = 1
) -> list[list[PlacedSection]]:
    """*sections* as one, or by their subtopics if they are more than *share*."""
    if _size(sections) <= share or len(sections) == 1:
        return [sections]
    if depth == _DEEPEST or all(
        each.path.count(SEPARATOR) < depth for each in sections
    ):
        return [[each] for each in sections]
    return [
        unit
        for _, run in groupby(
            sections, lambda each: each.path.split(SEPARATOR)[: depth + 1]
        )
        for unit in _fitting(list(run), share, depth + 1)
    ]


def _shared_out(
    groups: Sequence[list[PlacedSection]], weeks: int
) -> list[list[PlacedSection]]:
    """Whole groups, week by week, each as near to its share as they allow."""
    made: list[list[PlacedSection]] = []
    current: list[PlacedSection] = []
    left = sum(_size(group) for group in groups)
    for number, group in enumerate(groups):
        share = left / (weeks - len(made))
        with_it = _size(current) + _size(group)
        # Full, or nearer to its share without the group than with it.
        over = with_it - share > share - _size(current)
        if current and len(made) < weeks - 1 and over:
            made.append(current)
            left -= _size(current)
            current = []
        current = [*current, *group]
        if number == len(groups) - 1:
            made.append(current)
    return made


def _halved(
    sections: list[PlacedSection],
) -> tuple[list[PlacedSection], list[PlacedSection]]:
    """The two parts, of at least one section each, that differ least in size."""
    half = _size(sections) / 2
    so_far = list(accumulate(section.length for section in sections))
    places = range(1, len(sections))
    cut = min(places, key=lambda place: abs(so_far[place - 1] - half))
    return sections[:cut], sections[cut:]


def _size(sections: Sequence[PlacedSection]) -> int:
    return sum(section.length for section in sections)

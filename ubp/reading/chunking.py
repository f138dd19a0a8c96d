"""Measure text and cut it into pieces, without losing any."""

import re
import sys
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from ubp.reading.markdown import Block

__all__ = ("Group", "Measure", "estimate", "measure", "packed", "paragraphs")

_CJK = re.compile("[\u3000-\u9fff\uf900-\ufaff]+")
_NO_FENCE = (sys.maxsize, sys.maxsize)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


class Measure(NamedTuple):
    """How much a text holds; measures add up where their texts are joined."""

    cjk: int = 0
    words: int = 0

    def plus(self, other: "Measure") -> "Measure":
        return Measure(self.cjk + other.cjk, self.words + other.words)

    @property
    def tokens(self) -> int:
        """The estimate ``ceil(1.5 x CJK characters + 1.3 x words)``."""
        # In tenths, because 1.3 is not a number a float can hold.
        return ceil((15 * self.cjk + 13 * self.words) / 10)


def measure(text: str) -> Measure:
    if text.isascii():
        return Measure(0, len(text.split()))
    spaced, runs = _CJK.subn(" ", text)
    return Measure(len(text) - len(spaced) + runs, len(spaced.split()))


def estimate(text: str) -> int:
    """About how many tokens *text* is for a language model."""
    return measure(text).tokens


def paragraphs(block: Block) -> list[str]:
    """*block* cut at its blank lines, except inside code."""
    if block.whole:
        return [block.source]
    parts: list[str] = []
    start = 0
    fences = iter(sorted(block.fences))
    begin, end = next(fences, _NO_FENCE)
    for gap in _BLANK_LINES.finditer(block.source):
        while end <= gap.start():
            begin, end = next(fences, _NO_FENCE)
        if begin < gap.end():
            continue  # inside code
        parts.append(block.source[start : gap.start()])
        start = gap.end()
    parts.append(block.source[start:])
    return [part for part in parts if part.strip()]


class Group(NamedTuple):
    """Parts that belong together: their indexes, and how much they hold."""

    indexes: list[int]
    measure: Measure


def packed(parts: Sequence[str], limit: int) -> list[Group]:
    """*parts*, in order, grouped so that no group of several passes *limit* tokens.

    A part that alone exceeds the limit is a group of its own.
    """
    groups: list[Group] = []
    for index, part in enumerate(parts):
        size = measure(part)
        together = groups[-1].measure.plus(size) if groups else size
        if groups and together.tokens <= limit:
            groups[-1].indexes.append(index)
            groups[-1] = groups[-1]._replace(measure=together)
        else:
            groups.append(Group([index], size))
    return groups

"""Two versions of a document, block by block: which block translates which.

Blocks are matched in order. A match needs the same kind of block and is worth more if
the lengths fit and if Latin words and numbers of one side are on the other as well, so
a paragraph added to one side costs that paragraph only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from training.cleaning import words_of

__all__ = ("Block", "align")

_BAND = 60
"""How far from the diagonal a match may lie, beside the difference of lengths."""

_EXPECTED = math.log(0.5)
"""Japanese characters for an English one, as a logarithm."""

_LARGEST = 30_000_000
"""Cells of the table of matches; what is larger is a whole book in one page."""

_LONGEST = 2_000_000
"""Cells of it that are looked at."""

_ENOUGH = 0.5
"""A document is believed if this share of its shorter side found a partner."""


@dataclass(frozen=True)
class Block:
    """A piece of a document: its kind (heading, text, item, code …) and its text."""

    kind: str
    text: str
    source: str = ""
    """The same in Markdown, with code, where a page has that or can be written so."""

    @cached_property
    def words(self) -> frozenset[str]:
        return words_of(self.text)


def align(
    english: Sequence[Block], japanese: Sequence[Block]
) -> list[tuple[Block, Block]]:
    """Pairs of blocks in the order of the document; none if the two do not fit."""
    if not 0 < len(english) * len(japanese) <= _LARGEST:
        return []
    if [block.kind for block in english] == [block.kind for block in japanese]:
        return list(zip(english, japanese, strict=True))
    if len(english) * (_BAND + abs(len(english) - len(japanese))) > _LONGEST:
        return []
    pairs = _best_path(english, japanese)
    if len(pairs) < _ENOUGH * min(len(english), len(japanese)):
        return []
    return pairs


def _best_path(
    english: Sequence[Block], japanese: Sequence[Block]
) -> list[tuple[Block, Block]]:
    rows, columns = len(english), len(japanese)
    width = _BAND + abs(rows - columns)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    matched = [bytearray(columns + 1) for _ in range(rows + 1)]
    for row in range(1, rows + 1):
        above, here = best[row - 1], best[row]
        low, high = max(1, row - width), min(columns, row + width)
        for column in range(low, high + 1):
            value = max(above[column], here[column - 1])
            fit = _fit(english[row - 1], japanese[column - 1])
            if fit > 0 and above[column - 1] + fit > value:
                value = above[column - 1] + fit
                matched[row][column] = 1
            here[column] = value
    return _walk_back(best, matched, english, japanese)


def _walk_back(
    best: list[list[float]],
    matched: list[bytearray],
    english: Sequence[Block],
    japanese: Sequence[Block],
) -> list[tuple[Block, Block]]:
    row, column = len(english), len(japanese)
    pairs = []
    while row and column:
        if matched[row][column]:
            row, column = row - 1, column - 1
            pairs.append((english[row], japanese[column]))
        elif best[row - 1][column] >= best[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return pairs[::-1]


def _fit_of_code(english: str, japanese: str) -> float:
    """Code is the same on both sides but for its comments."""
    if english == japanese:
        return 3.0
    ours, theirs = frozenset(english.split()), frozenset(japanese.split())
    return 3.0 * len(ours & theirs) / len(ours | theirs)


def _fit(english: Block, japanese: Block) -> float:
    if english.kind != japanese.kind:
        return 0.0
    if english.kind == "code":
        return _fit_of_code(english.source, japanese.source)
    if english.text == japanese.text:
        return 3.0
    ratio = math.log((len(japanese.text) + 4) / (len(english.text) + 4))
    score = 1.0 - abs(ratio - _EXPECTED)
    both = english.words & japanese.words
    if japanese.words:
        score += 2.0 * len(both) / len(japanese.words) - 0.5
    return score

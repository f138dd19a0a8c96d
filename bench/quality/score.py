"""How good one ranking is: pure functions of a ranking and of what is relevant.

Relevance is binary. All numbers lie between 0 and 1 and look at the first ten results:

* nDCG: the gain of each relevant result, less the further down it is, in that of a
  ranking with all of them on top;
* recall: how many of the relevant results are there;
* MRR: one divided by the rank of the first of them;
* hit1 and hit3: whether the first of them is the first, or among the first three.
"""

import math
import unicodedata
from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import astuple

__all__ = ("CUT", "Scores", "mean", "normal_heading", "normal_path", "score", "unique")

CUT = 10
"""Results looked at."""

_TOP = 3

Item = TypeVar("Item", bound=Hashable)


class Scores(Struct, frozen=True):
    """The numbers of one ranking, or the means of many."""

    ndcg: float = 0.0
    recall: float = 0.0
    mrr: float = 0.0
    hit1: float = 0.0
    hit3: float = 0.0


def score(ranking: Sequence[Item], relevant: Collection[Item]) -> Scores:
    """The numbers of *ranking*; what is in it twice counts where it is first."""
    wanted = set(relevant)
    if not wanted:
        raise ValueError("nothing is relevant, so no ranking is better than another")
    found = [rank for rank, item in enumerate(unique(ranking)[:CUT]) if item in wanted]
    if not found:
        return Scores()
    ideal = range(min(CUT, len(wanted)))
    return Scores(
        ndcg=sum(map(_gain, found)) / sum(map(_gain, ideal)),
        recall=len(found) / len(wanted),
        mrr=1 / (found[0] + 1),
        hit1=float(found[0] == 0),
        hit3=float(found[0] < _TOP),
    )


def mean(scores: Sequence[Scores]) -> Scores:
    """The means of each number; all 0 for no scores."""
    if not scores:
        return Scores()
    columns = zip(*map(astuple, scores), strict=True)
    # fsum: a hundred perfect scores are perfect, not 0.9999.
    return Scores(*(math.fsum(column) / len(scores) for column in columns))


def unique(items: Sequence[Item]) -> list[Item]:
    """*items* without what was there before, in the same order."""
    return list(dict.fromkeys(items))


def normal_heading(heading: str) -> str:
    """A heading as it is read: without the signs that make code and emphasis of it."""
    return heading.replace("`", "").replace("*", "").strip()


def normal_path(path: str) -> str:
    """The same for all ways to write the path of one file below a folder."""
    return unicodedata.normalize("NFC", path).replace("\\", "/").lstrip("./")


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 2)

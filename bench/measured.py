"""A line of results, and the loops that make one."""

import sys
import time
from collections.abc import Callable, Sequence
from statistics import median

import msgspec
from msgspec import Struct

__all__ = ("Measured", "best_of", "quantile", "report", "typical_ms")


class Measured(Struct, frozen=True, omit_defaults=True):
    """One thing measured; *ratio* is to *against*, taken in the same run."""

    name: str
    value: float
    unit: str
    ratio: float | None = None
    against: str = ""
    note: str = ""
    chart: str = ""
    series: str = ""
    at: float | None = None
    """Where it stands in a chart, if in one: a point of a curve."""


def report(*lines: Measured) -> None:
    """One JSON object per line on standard output."""
    for line in lines:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.flush()


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest of several runs: the one least disturbed."""
    taken: list[float] = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def typical_ms(times: int, work: Callable[[], object]) -> float:
    """Milliseconds of a run in the middle of several."""
    taken: list[float] = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begin) * 1_000)
    return median(taken)


def quantile(taken: Sequence[float], share: float) -> float:
    """The one of *taken* that *share* of them are no greater than."""
    ordered = sorted(taken)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

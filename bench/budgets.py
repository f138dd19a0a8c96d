"""Budgets: which ratios may not be exceeded, and which lines they are about."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from bench.measured import Measured

__all__ = ("Budget", "Judged", "budgets", "judged")

_FILE = Path(__file__).with_name("budgets.toml")
_SIZE = re.compile(r", (?:[\d,]+ sections|empty)")


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """The most that the ratio of a line may be; *short* in a short run, if another."""

    line: str
    at_most: float
    why: str
    short: float | None = None

    def most(self, *, short: bool) -> float:
        return self.at_most if self.short is None or not short else self.short


class _Budgets(Struct, frozen=True, forbid_unknown_fields=True):
    budget: list[Budget]


class Judged(NamedTuple):
    """A budget, and the line it is about; none if nothing was measured."""

    budget: Budget
    most: float
    line: Measured | None

    @property
    def kept(self) -> bool:
        """What was not measured was not kept: a gate nobody passes guards nothing."""
        ratio = None if self.line is None else self.line.ratio
        return ratio is not None and ratio <= self.most


def budgets() -> list[Budget]:
    """All of them, from ``budgets.toml``."""
    return msgspec.toml.decode(_FILE.read_bytes(), type=_Budgets).budget


def judged(lines: Iterable[Measured], *, short: bool = False) -> Iterator[Judged]:
    """Each budget with its line: of several sizes the last, which is the largest."""
    # Each line replaces those of smaller sizes before it.
    compared = [line for line in lines if line.ratio is not None]
    named = {_SIZE.sub("", line.name): line for line in compared}
    for budget in budgets():
        yield Judged(budget, budget.most(short=short), named.get(budget.line))

"""What ``ubp doctor`` reports: one thing that was looked at."""

from typing import Literal

from msgspec import Struct

__all__ = ("Check",)


class Check(Struct, frozen=True):
    """One thing looked at, and what a person can do about it."""

    name: str
    verdict: Literal["ok", "warn", "fail"]
    finding: str
    hint: str = ""

"""Numbers of other systems on the same sets, to hold ours against.

The file is JSON: ``{"sets": {SET: {"doc": {SYSTEM: {"ndcg10": 0.5}}, "section": …}}}``.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from bench.quality.sets import Broken

__all__ = ("TOLERATED", "Baseline", "read_baselines")

TOLERATED = 0.015
"""How far below the best of them is not yet worth a mark."""


class _Numbers(Struct, frozen=True):
    ndcg10: float


class Baseline(Struct, frozen=True):
    """The systems measured on one set."""

    doc: dict[str, _Numbers] = {}
    section: dict[str, _Numbers] = {}

    @property
    def best_document(self) -> float | None:
        return _best(self.doc)

    @property
    def best_section(self) -> float | None:
        return _best(self.section)


class _File(Struct, frozen=True):
    sets: dict[str, Baseline]


def read_baselines(file: Path) -> dict[str, Baseline]:
    """By the name of the set.

    Raises:
        Broken: The file is missing, or not as it should be.
    """
    try:
        return msgspec.json.decode(file.read_bytes(), type=_File).sets
    except OSError as error:
        raise Broken(f"{file}: cannot be read: {error.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Broken(f"{file}: {error}.") from None


def _best(systems: dict[str, _Numbers]) -> float | None:
    return max((each.ndcg10 for each in systems.values()), default=None)

"""What must not be learnt: the text that search quality is measured with.

Two checks. Names: a folder that is in one named like a measured corpus is refused.
Content: given the folder of the relevance sets, every line of their pages and every
query is known here, and a pair that has one of them is dropped; a source with more than
a few such pairs is refused as a whole.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from training.cleaning import clean
from training.refusing import Refused
from training.sources import is_forbidden

__all__ = ("Excluded", "Measured")

_MIN_CHARACTERS = 24
"""Shorter lines (headings, words) are common to all documentation."""

_MAX_SHARE = 0.02
_MIN_PAIRS = 200


class Excluded(Refused):
    """A source holds text that search quality is measured with."""


class Measured:
    """Every line of the relevance sets."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = [folder.resolve() for folder in folders]
        self._lines: set[int] = set()
        for folder in self._folders:
            for path in sorted(folder.rglob("*.md")):
                self._learn(path.read_text(encoding="utf-8", errors="replace"))
            for path in sorted(folder.rglob("queries.jsonl")):
                for line in path.read_text(encoding="utf-8").splitlines():
                    self._learn(str(json.loads(line)["query"]))

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, text: str) -> bool:
        return any(key in self._lines for key in _keys(text))

    def check_folder(self, folder: Path) -> None:
        """Refuse a folder that is, or is in one named like, a measured corpus."""
        place = folder.resolve()
        if is_forbidden(str(place)) or any(
            place.is_relative_to(measured) for measured in self._folders
        ):
            raise Excluded(f"{folder}: search quality is measured with this text")

    def check_share(self, source: str, pairs: int, dropped: int) -> None:
        """Refuse a source of which too much is measured."""
        if pairs >= _MIN_PAIRS and dropped > _MAX_SHARE * pairs:
            raise Excluded(
                f"{source}: {dropped} of {pairs} pairs are in relevance sets"
            )

    def _learn(self, text: str) -> None:
        for line in text.splitlines():
            self._lines.update(_keys(line))


def _keys(text: str) -> list[int]:
    """Hashes of a line and of its sentences, without marks and case."""
    parts = [text, *re.split(r"(?<=[.!?])\s+|(?<=[。！？])", text)]
    plain = (re.sub(r"[\W_]+", "", clean(part)).lower() for part in parts)
    return [hash(part) for part in plain if len(part) >= _MIN_CHARACTERS]

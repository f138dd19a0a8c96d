"""Real documents, multiplied: as large a vault as is wanted, the same on every machine.

A page of it is a real page in which some words are others of the same kind, drawn as
often as they occur. So lengths, headings, code, links, the share of Japanese and how
often words occur stay those of real documents, and still no two pages are the same.

The real documents are those of this repository, in English and Japanese, or the ones
below the folder that ``UBP_BENCH_DOCUMENTS`` names.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

__all__ = ("Vault", "write_multiplied")

_REPOSITORY = Path(__file__).parents[1]
_WORD = re.compile(r"[A-Za-z]{4,}|[一-龠々]{2,}|[ァ-ヶー]{2,}")
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_TITLE = re.compile(r"^# .*$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_CHANGED = 0.2
"""Share of words that become others: pages differ, and phrases still occur."""
_SHORTEST = 400
"""Bytes: shorter pages would make many files of few sections."""


class Vault(NamedTuple):
    """What was written."""

    files: int
    sections: int
    size: int
    words: dict[str, list[str]]
    """Words that occur in it, by kind, from common to rare."""


class _Words:
    """Words of one kind, drawn as often as they occur."""

    def __init__(self, counted: Counter[str]) -> None:
        self.all = [word for word, _ in counted.most_common()]
        self._summed = list(accumulate(counted[word] for word in self.all))

    def some(self, chance: random.Random, count: int) -> list[str]:
        return chance.choices(self.all, cum_weights=self._summed, k=count)


def write_multiplied(folder: Path, sections: int, *, seed: int = 1) -> Vault:
    """Write pages below *folder* until they have *sections* sections together."""
    chance = random.Random(seed)
    pages = list(_real_pages())
    kinds = _kinds(pages)
    files = size = have = 0
    while have < sections:
        real = pages[files % len(pages)]
        text = _another(chance, real, kinds, files)
        path = folder / f"{files % 97:02}" / f"page-{files:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_bytes(text.encode())
        have += len(_HEADING.findall(text))
        files += 1
    return Vault(files, have, size, {kind: of.all for kind, of in kinds.items()})


def _real_pages() -> Iterator[str]:
    named = os.environ.get("UBP_BENCH_DOCUMENTS")
    folders = (
        [Path(named)]
        if named
        else [_REPOSITORY / "docs", _REPOSITORY / "examples/vault/docs"]
    )
    for folder in folders:
        for path in sorted(folder.rglob("*.md")):
            text = path.read_text(encoding="utf-8", errors="replace")
            text = _FRONT_MATTER.sub("", text)
            if len(text.encode()) >= _SHORTEST and _TITLE.search(text):
                yield text


def _kinds(pages: list[str]) -> dict[str, _Words]:
    counted: dict[str, Counter[str]] = {}
    for text in pages:
        for word in _WORD.findall(text):
            counted.setdefault(_kind(word), Counter())[word] += 1
    return {kind: _Words(words) for kind, words in counted.items()}


def _kind(word: str) -> str:
    if word[0].isascii():
        return "latin"
    return "katakana" if "ァ" <= word[0] <= "ー" else "kanji"


def _another(
    chance: random.Random, real: str, kinds: dict[str, _Words], number: int
) -> str:
    drawn = {kind: iter(of.some(chance, 2_000)) for kind, of in kinds.items()}

    def exchanged(match: re.Match[str]) -> str:
        word = match[0]
        if chance.random() >= _CHANGED:
            return word
        return next(drawn[_kind(word)], word)

    text = _WORD.sub(exchanged, real)
    text = _TITLE.sub(lambda title: f"{title[0]} {number}", text, count=1)
    other = chance.randrange(number + 1)
    return f"{text}\nSee [[page-{other:06}|depends_on]].\n"

"""Pairs: aligned English-Japanese text of all sources, cleaned, in order of worth.

``pairs.jsonl`` has one pair a line: ``en``, ``ja``, ``source`` and ``kind``, which is

- ``text``: a paragraph, a sentence, a heading of a document;
- ``passage``: a heading with the paragraphs below it, so that long input is trained;
- ``message``: a sentence of a program's catalogue;
- ``label``: a few words of a program's catalogue;
- ``word``: an entry of a dictionary.

Documents come first and words last, so a teacher that is interrupted has seen the best.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.aligning import Block, align
from training.archive import Archive, read_compressed
from training.catalogues import catalogue_pairs, description_pairs, dictionary_entries
from training.cleaning import clean, skeleton, suits
from training.documents import (
    help_blocks,
    html_blocks,
    manual_blocks,
    markdown_blocks,
)
from training.exclusion import Measured
from training.fetching import packages_folder
from training.progress import console, meter
from training.sources import MANUALS, is_forbidden

__all__ = ("KINDS", "Pair", "collect", "read_pairs")

KINDS = ("passage", "text", "message", "label", "common", "word")

_PASSAGE_CHARACTERS = 800
"""English characters of a passage: about 200 tokens."""

_SHORTEST_PASSAGE = 160
"""English characters; below, it is a heading with a few links, or little more."""

_LABEL_WORDS = 4
"""English words up to which a message is a label."""

_BOUNDS = {"passage": 9000, "message": 6000, "label": 150, "word": 120_000}
"""Pairs of a kind that one source may give: programs repeat each other's labels."""

_SAME_TEXT = 3
"""How often one English text may come with different translations, and the reverse."""

_SENTENCES = range(2, 9)
_MIN_SENTENCE = 12


@dataclass(frozen=True)
class Pair:
    """An English text and its Japanese translation."""

    en: str
    ja: str
    source: str
    kind: str


class Collection:
    """The pairs so far: no duplicates, bounds kept, measured text left out."""

    def __init__(self, measured: Measured) -> None:
        self.pairs: dict[str, list[Pair]] = {kind: [] for kind in KINDS}
        self.dropped: Counter[str] = Counter()
        self.counts: Counter[tuple[str, str]] = Counter()
        self._measured = measured
        self._seen: set[tuple[str, str]] = set()
        self._english: Counter[str] = Counter()
        self._japanese: Counter[str] = Counter()
        self._offered: Counter[str] = Counter()

    def add(self, english: str, japanese: str, source: str, kind: str) -> bool:
        """Take a pair if it is good and new; whether it looked right."""
        if not suits(english, japanese):
            return False
        key = skeleton(english), skeleton(japanese)
        if key in self._seen:
            return True
        self._seen.add(key)
        self._offered[source] += 1
        if english in self._measured or japanese in self._measured:
            self.dropped[source] += 1
            return True
        if (
            self._english[key[0]] >= _SAME_TEXT
            or self._japanese[key[1]] >= _SAME_TEXT
            or self._is_full(source, kind)
        ):
            return True
        self._english[key[0]] += 1
        self._japanese[key[1]] += 1
        self.counts[source, kind] += 1
        self.pairs[kind].append(Pair(english, japanese, source, kind))
        return True

    def add_document(self, pairs: Sequence[tuple[Block, Block]], source: str) -> None:
        """Take the blocks of a document, its sentences, and its passages."""
        good = [
            (english.kind, english.text, japanese.text)
            for english, japanese in pairs
            if english.kind != "code"
            and self.add(english.text, japanese.text, source, "text")
        ]
        for _, english, japanese in good:
            for sentence in sentences(english, japanese):
                self.add(*sentence, source, "text")
        for passage in passages(good):
            self.add(*passage, source, "passage")

    def add_message(self, english: str, japanese: str, source: str) -> None:
        """Take a message of a catalogue."""
        few = len(english.split()) <= _LABEL_WORDS
        self.add(english, japanese, source, "label" if few else "message")

    def check(self) -> None:
        """Refuse sources that turned out to hold measured text."""
        for source, offered in self._offered.items():
            self._measured.check_share(source, offered, self.dropped[source])

    def _is_full(self, source: str, kind: str) -> bool:
        return kind in _BOUNDS and self.counts[source, kind] >= _BOUNDS[kind]


def sentences(english: str, japanese: str) -> list[tuple[str, str]]:
    """The sentences of a paragraph, if both languages have as many."""
    ours = re.split(r"(?<=[.!?])\s+(?=[A-Z])", english)
    theirs = [part for part in re.split(r"(?<=[。！？])\s*", japanese) if part]
    if len(ours) != len(theirs) or len(ours) not in _SENTENCES:
        return []
    return [
        pair for pair in zip(ours, theirs, strict=True) if len(pair[0]) >= _MIN_SENTENCE
    ]


def passages(blocks: Sequence[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """Headings joined with what follows, up to the length of a passage."""
    english: list[str] = []
    japanese: list[str] = []
    size = 0
    for kind, ours, theirs in blocks:
        if english and (kind == "heading" or size + len(ours) > _PASSAGE_CHARACTERS):
            if len(english) > 1 and size >= _SHORTEST_PASSAGE:
                yield "\n".join(english), "\n".join(japanese)
            english, japanese, size = [], [], 0
        english.append(ours)
        japanese.append(theirs)
        size += len(ours)
    if len(english) > 1 and size >= _SHORTEST_PASSAGE:
        yield "\n".join(english), "\n".join(japanese)


def collect(
    work: Path,
    *,
    bilingual: Sequence[tuple[Path, Path]],
    pages: Sequence[tuple[Path, Path]],
    relevance: Sequence[Path],
    seed: int,
) -> None:
    """Read all sources and write ``pairs.jsonl``."""
    measured = Measured(relevance)
    console.print(f"{len(measured):,} lines of measured text are left out")
    for pair in (*bilingual, *pages):
        for folder in pair:
            measured.check_folder(folder)
    found = Collection(measured)
    for label, trees, read, suffix in (
        *(("Markdown", pair, markdown_blocks, ".md") for pair in bilingual),
        *(("HTML", pair, html_blocks, ".html") for pair in pages),
    ):
        english, japanese = trees
        files = sorted(japanese.rglob(f"*{suffix}"))
        with meter(f"{label} in {japanese.name}", len(files)) as shown:
            for path in files:
                original = english / path.relative_to(japanese)
                if original.exists():
                    found.add_document(align(read(original), read(path)), english.name)
                shown.advance()
    _packages(work, found)
    found.check()
    _write(work, found, seed)


def read_pairs(work: Path) -> Iterator[Pair]:
    """The pairs of an earlier run."""
    with (work / "pairs.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield Pair(**json.loads(line))


def _packages(work: Path, found: Collection) -> None:
    root = packages_folder(work)
    named = {package for manual in MANUALS for package in manual.packages}
    with meter("manuals", len(MANUALS)) as shown:
        for manual in MANUALS:
            _manual(found, manual.name, [root / name for name in manual.packages])
            shown.advance(note=manual.name)
    _descriptions(work, found)
    others = sorted(
        path for path in root.iterdir() if path.name not in named and path.is_dir()
    )
    allowed = [path for path in others if not is_forbidden(path.name)]
    _manual_pages(found, allowed)
    with meter("catalogues and help", len(allowed)) as shown:
        for folder in allowed:
            _found_package(found, folder)
            shown.advance(note=folder.name)


def _manual(found: Collection, name: str, folders: Sequence[Path]) -> None:
    """A manual: HTML of both languages side by side, catalogues, a dictionary."""
    files = {
        str(path.relative_to(folder)): path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    }
    for relative, path in sorted(files.items()):
        if relative.endswith(".mo"):
            for pair in catalogue_pairs(path):
                found.add_message(*pair, name)
        elif relative.endswith("/edict"):
            for entry in dictionary_entries(path):
                kind = "common" if entry.common else "word"
                found.add(entry.meaning, entry.word, name, kind)
        elif ".htm" in relative:
            original = next(
                (files[other] for other in _english_paths(relative) if other in files),
                None,
            )
            if original is not None:
                found.add_document(
                    align(html_blocks(original), html_blocks(path)), name
                )
        elif "/help/ja/" in relative:
            original = files.get(relative.replace("/help/ja/", "/help/C/"))
            if original is not None:
                found.add_document(
                    align(help_blocks(original), help_blocks(path)), name
                )


_RENAMES = (
    ("/ja/", ("/en/", "/en-US/", "/C/", "/")),
    ("/ja-JP/", ("/en-US/", "/en/")),
    ("/ja_JP.UTF-8/", ("/en/", "/")),
    (".ja.html", (".en.html", ".html")),
    ("_ja.html", (".html", "_en.html")),
    ("-ja.html", ("-en.html", ".html")),
    ("-ja/", ("-en/", "-C/", "/")),
)
"""How a Japanese page is named, and how its English original may be named then."""


def _english_paths(path: str) -> list[str]:
    """Names the English original may have; a path can be marked more than once."""
    found = [path]
    for mark, originals in _RENAMES:
        found += [
            known.replace(mark, original)
            for known in found
            if mark in known
            for original in originals
        ]
    return found[1:]


def _descriptions(work: Path, found: Collection) -> None:
    archive = Archive(work / "apt")
    sides = [
        [
            line
            for path in archive.descriptions(language)
            for line in read_compressed(path)
        ]
        for language in ("en", "ja")
    ]
    with meter("package descriptions", 1) as shown:
        for paragraphs in description_pairs(*sides):
            blocks = [
                (Block("text", clean(english)), Block("text", clean(japanese)))
                for english, japanese in paragraphs
            ]
            found.add_document(blocks, "descriptions")
        shown.advance()


def _manual_pages(found: Collection, folders: Sequence[Path]) -> None:
    english: dict[str, Path] = {}
    japanese: dict[str, Path] = {}
    for folder in folders:
        for path in (folder / "usr/share/man").rglob("*.gz"):
            section = f"{path.parent.name}/{path.name}"
            is_ours = path.parent.parent.name == "man"
            (english if is_ours else japanese)[section] = path
    both = sorted(english.keys() & japanese.keys())
    with meter("manual pages", len(both)) as shown:
        for name in both:
            pair = manual_blocks(english[name]), manual_blocks(japanese[name])
            found.add_document(align(*pair), "manual-pages")
            shown.advance()


def _found_package(found: Collection, folder: Path) -> None:
    for path in sorted(folder.rglob("*.mo")):
        for pair in catalogue_pairs(path):
            found.add_message(*pair, f"mo/{folder.name}")
    ours = folder / "usr/share/help/C"
    theirs = folder / "usr/share/help/ja"
    for path in sorted(theirs.rglob("*")):
        original = ours / path.relative_to(theirs)
        if path.is_file() and original.is_file():
            found.add_document(align(help_blocks(original), help_blocks(path)), "help")


def _write(work: Path, found: Collection, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - an order, not a secret
    partial = work / "pairs.jsonl.part"
    with partial.open("w", encoding="utf-8") as out:
        for pair in _ordered(found, chance):
            fields = {
                "en": pair.en,
                "ja": pair.ja,
                "source": pair.source,
                "kind": pair.kind,
            }
            out.write(json.dumps(fields, ensure_ascii=False) + "\n")
    partial.rename(work / "pairs.jsonl")
    table: dict[str, dict[str, int]] = defaultdict(dict)
    for (source, kind), count in sorted(found.counts.items()):
        table[source][kind] = count
    counts = {
        "kinds": {kind: len(pairs) for kind, pairs in found.pairs.items()},
        "left_out_because_measured": dict(found.dropped),
        "sources": table,
    }
    (work / "pairs.json").write_text(json.dumps(counts, indent=1, ensure_ascii=False))
    console.print(counts["kinds"])


def _ordered(found: Collection, chance: random.Random) -> Iterable[Pair]:
    """Text and passages mixed, then messages and labels, then words."""
    mixed = ("text", "passage")
    for kinds in (mixed, ("message",), ("label",), ("common",), ("word",)):
        part = [pair for kind in kinds for pair in found.pairs[kind]]
        chance.shuffle(part)
        yield from part

"""Pairs: aligned English-Japanese text of all sources, cleaned, in order of worth.

``pairs.jsonl`` has one pair a line: ``en``, ``ja``, ``source`` and ``kind``, which is

- ``text``: a paragraph, a sentence, a heading of a document;
- ``passage``: a heading with the paragraphs below it, so that long input is trained;
- ``section``: a part of a page as the product cuts it, with markup and code;
- ``message``: a sentence of a program's catalogue;
- ``label``: a few words of a program's catalogue;
- ``word``: an entry of a dictionary.

Passages and sections have ``asks`` too: pairs of first sentences of their paragraphs,
which stand for questions that are answered there.

Documents come first and words last, so a teacher that is interrupted has seen the best.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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

__all__ = ("KINDS", "PAIRS", "PARTS", "Pair", "collect", "read_pairs")

PAIRS = "pairs.jsonl"

KINDS = ("section", "passage", "text", "message", "label", "common", "word")

PARTS = ("section", "passage")
"""Kinds that repeat texts which are pairs themselves: who counts leaves them out."""

_PASSAGE_CHARACTERS = 800
"""English characters of a passage: about 200 tokens."""

_SHORTEST_PASSAGE = 160
"""English characters; below, it is a heading with a few links, or little more."""

_LABEL_WORDS = 4
"""English words up to which a message is a label."""

_SECTION = 256
"""Size of a section, about as the product measures where to cut pages."""

_SMALLEST_SECTION = 32

_LARGEST_SECTION = 700
"""A block can be larger than a section; a table of hundreds of rows says little."""

_LEAST_TEXT = 20
"""Japanese characters a section needs beside its code."""

_ASKS = 3
"""Questions of a section: the first sentences of so many paragraphs."""

_ASKED = range(20, 240)
"""English characters of a question."""

_BOUNDS = {
    "section": 30_000,
    "passage": 9000,
    "message": 6000,
    "label": 150,
    "word": 120_000,
}
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
    asks: tuple[tuple[str, str], ...] = ()
    """Questions that are answered here, in both languages."""


class Part(NamedTuple):
    """A part of a page in both languages, and the questions it answers."""

    english: str
    japanese: str
    asks: tuple[tuple[str, str], ...]


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

    def add(
        self,
        english: str,
        japanese: str,
        source: str,
        kind: str,
        asks: tuple[tuple[str, str], ...] = (),
    ) -> bool:
        """Take a pair if it is good and new; whether it looked right."""
        if not suits(english, japanese):
            return False
        self._take(Pair(english, japanese, source, kind, asks))
        return True

    def _take(self, pair: Pair) -> None:
        source = pair.source
        key = skeleton(pair.en), skeleton(pair.ja)
        if key in self._seen:
            return
        self._seen.add(key)
        self._offered[source] += 1
        if self._is_measured(pair.en, pair.ja):
            self.dropped[source] += 1
            return
        if (
            self._english[key[0]] >= _SAME_TEXT
            or self._japanese[key[1]] >= _SAME_TEXT
            or self._is_full(source, pair.kind)
        ):
            return
        self._english[key[0]] += 1
        self._japanese[key[1]] += 1
        self.counts[source, pair.kind] += 1
        self.pairs[pair.kind].append(pair)

    def _is_measured(self, english: str, japanese: str) -> bool:
        return english in self._measured or japanese in self._measured

    def _askable(self, asks: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple(
            (english, japanese)
            for english, japanese in asks
            if len(english) in _ASKED
            and suits(english, japanese)
            and not self._is_measured(english, japanese)
        )

    def add_document(self, pairs: Sequence[tuple[Block, Block]], source: str) -> None:
        """Take the blocks of a document, its sentences, and its parts."""
        good = [
            (english, japanese)
            for english, japanese in pairs
            if english.kind != "code"
            and self.add(english.text, japanese.text, source, "text")
        ]
        for english, japanese in good:
            for sentence in sentences(english.text, japanese.text):
                self.add(*sentence, source, "text")
        # Parts are of what is not measured, line by line; whatever a page has in common
        # with a measured one is missing in them.
        good = [pair for pair in good if not self._is_measured(*_texts(pair))]
        for part in passages(good):
            self.add(*part[:2], source, "passage", self._askable(part.asks))
        fine = {id(english) for english, _ in good}
        whole = [
            pair
            for pair in pairs
            if id(pair[0]) in fine
            or pair[0].kind == "code"
            or (_begins(pair[0]) and not self._is_measured(*_texts(pair)))
        ]
        for part in sections(whole):
            lines = f"{part.english}\n{part.japanese}".splitlines()
            if any(line in self._measured for line in lines):  # in its code, or a table
                continue
            # With all its code it would not look like text; its paragraphs do.
            self._take(Pair(*part[:2], source, "section", self._askable(part.asks)))

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


def passages(blocks: Sequence[tuple[Block, Block]]) -> Iterator[Part]:
    """Headings joined with what follows, up to the length of a passage."""
    some: list[tuple[Block, Block]] = []
    size = 0
    for english, japanese in blocks:
        if some and (
            english.kind == "heading" or size + len(english.text) > _PASSAGE_CHARACTERS
        ):
            if len(some) > 1 and size >= _SHORTEST_PASSAGE:
                yield _passage(some)
            some, size = [], 0
        some.append((english, japanese))
        size += len(english.text)
    if len(some) > 1 and size >= _SHORTEST_PASSAGE:
        yield _passage(some)


def _passage(blocks: Sequence[tuple[Block, Block]]) -> Part:
    return Part(
        "\n".join(english.text for english, _ in blocks),
        "\n".join(japanese.text for _, japanese in blocks),
        questions(blocks),
    )


def sections(blocks: Sequence[tuple[Block, Block]]) -> Iterator[Part]:
    """Parts of a page as it was written, each below its title and its headings."""
    title = "", ""
    headings: list[tuple[str, str]] = []
    some: list[tuple[Block, Block]] = []
    size = 0.0
    for english, japanese in blocks:
        begins = _begins(english)
        own = _size(japanese.source)
        if some and (begins or size + own > _SECTION):
            if _is_section(some, size):
                yield _section(title, headings, some)
            some, size = [], 0.0
        if not begins:
            some.append((english, japanese))
            size += own
        elif english.kind == "title" or not title[0]:
            title = english.text, japanese.text
        else:
            # Of the headings above, the one of the second level is named as well.
            is_lower = english.source.startswith("###") and headings
            above = headings[:1] if is_lower else []
            headings = [*above, (english.text, japanese.text)]
    if _is_section(some, size):
        yield _section(title, headings, some)


def _begins(block: Block) -> bool:
    return block.kind in {"title", "heading"}


def _texts(pair: tuple[Block, Block]) -> tuple[str, str]:
    return pair[0].text, pair[1].text


def _is_section(blocks: Sequence[tuple[Block, Block]], size: float) -> bool:
    """Whether it is long enough, written with markup, and not code alone."""
    return (
        _SMALLEST_SECTION <= size <= _LARGEST_SECTION
        and all(english.source for english, _ in blocks)
        and sum(len(japanese.text) for _, japanese in blocks) >= _LEAST_TEXT
    )


def _section(
    title: tuple[str, str],
    headings: Sequence[tuple[str, str]],
    blocks: Sequence[tuple[Block, Block]],
) -> Part:
    """What the product embeds of a section: title, headings, text."""
    english, japanese = (
        "\n".join(
            [
                title[side],
                " › ".join(heading[side] for heading in headings),
                "\n\n".join(pair[side].source for pair in blocks),
            ]
        ).strip()
        for side in (0, 1)
    )
    return Part(english, japanese, questions(blocks))


def _size(text: str) -> float:
    letters = sum(not character.isascii() for character in text)
    return 1.5 * letters + 1.3 * len(text.split())


def questions(
    blocks: Sequence[tuple[Block, Block]],
) -> tuple[tuple[str, str], ...]:
    """What may be asked of a part: how its first paragraphs begin."""
    found = []
    for english, japanese in blocks:
        if english.kind == "text":
            ours = re.split(r"(?<=[.!?])\s+(?=[A-Z])", english.text, maxsplit=1)
            theirs = re.split(r"(?<=[。！？])\s*", japanese.text, maxsplit=1)
            found.append((ours[0], theirs[0]))
    return tuple(found[:_ASKS])


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
    with (work / PAIRS).open(encoding="utf-8") as lines:
        for line in lines:
            fields = json.loads(line)
            asks = tuple((ours, theirs) for ours, theirs in fields.pop("asks", ()))
            yield Pair(**fields, asks=asks)


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
    partial = work / f"{PAIRS}.part"
    with partial.open("w", encoding="utf-8") as out:
        for pair in _ordered(found, chance):
            fields = {
                "en": pair.en,
                "ja": pair.ja,
                "source": pair.source,
                "kind": pair.kind,
                **({"asks": pair.asks} if pair.asks else {}),
            }
            out.write(json.dumps(fields, ensure_ascii=False) + "\n")
    partial.rename(work / PAIRS)
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
    mixed = ("text", "passage", "section")
    for kinds in (mixed, ("message",), ("label",), ("common",), ("word",)):
        part = [pair for kind in kinds for pair in found.pairs[kind]]
        chance.shuffle(part)
        yield from part

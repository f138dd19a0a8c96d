"""The dictionary: what words are called in the other language, counted from the pairs.

Which word of a sentence translates which is told by how often they come together, by
expectation maximisation in both directions (the first of IBM's models). What both find
likely is an entry. ``words.tsv`` has a line for each word, sorted by its bytes: the
word, a tab, and what it may be called there, the likeliest first.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.digests import digest_of
from training.pairing import Pair, read_pairs
from training.progress import console
from training.terms import (
    Compounds,
    english_words,
    japanese_stem,
    japanese_terms,
    stem,
)

__all__ = ("FILE", "make_dictionary")

FILE = "words.tsv"

_LONGEST: Mapping[str, int] = {
    "text": 260,
    "message": 140,
    "label": 80,
    "common": 80,
    "word": 80,
}
"""English characters of what is counted: in a long text everything comes together."""

_ROUNDS = 6

_LEAST = 0.05
"""What an entry must have: the geometric mean of its two probabilities."""

_LEAST_SEEN = 2.0
"""How often each direction must have seen it, as far as it believes that it has."""

_MOST = 4
"""What a word may be called, at most."""

_FORMS = 5
"""Forms of a word that are named, at most."""

_LEAST_FORM = 3
"""How often a form must stand in the pairs."""


@dataclass(frozen=True)
class _Counted:
    """Which terms come together in which pair: one line each."""

    english: list[str]
    japanese: list[str]
    left: np.ndarray
    right: np.ndarray
    pair: np.ndarray


def make_dictionary(work: Path, folder: Path) -> None:
    """Write the dictionary of a folder's pairs into *folder*."""
    english: Counter[str] = Counter()
    japanese: Counter[str] = Counter()
    counted = _counted(_terms(work, english, japanese))
    console.print(f"{len(counted.left):,} times two terms in one pair")
    entries = _entries(counted)
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{FILE}.part"
    forms = _of_stems(english, stem), _of_stems(japanese, japanese_stem)
    lines = sorted(_lines(entries, *forms), key=str.encode)
    partial.write_text("".join(lines), encoding="utf-8")
    partial.rename(folder / FILE)
    sums = f"{digest_of(folder / FILE)}  {FILE}\n"
    (folder / "SHA256SUMS").write_text(sums, encoding="ascii")
    console.print(f"{len(lines):,} words")


def _terms(
    work: Path, english: Counter[str], japanese: Counter[str]
) -> list[tuple[list[str], list[str]]]:
    """The stems of each pair; how often there is which form is added to the counts."""
    pairs = list(_short(read_pairs(work)))
    compounds = Compounds.of(set(japanese_terms(pair.ja)) for pair in pairs)
    found = []
    for pair in pairs:
        words = set(english_words(pair.en))
        terms = {part for it in japanese_terms(pair.ja) for part in compounds.parts(it)}
        english.update(words)
        japanese.update(terms)
        both = set(map(stem, words)), set(map(japanese_stem, terms))
        found.append((sorted(both[0]), sorted(both[1])))
    return found


def _short(pairs: Iterable[Pair]) -> Iterator[Pair]:
    return (pair for pair in pairs if len(pair.en) <= _LONGEST.get(pair.kind, 0))


def _counted(pairs: list[tuple[list[str], list[str]]]) -> _Counted:
    english = _numbered(words for words, _ in pairs)
    japanese = _numbered(terms for _, terms in pairs)
    left, right, numbers = [], [], []
    for number, (words, terms) in enumerate(pairs):
        # Nobody, who translates what has no partner.
        ours = [0, *(english[word] for word in words if word in english)]
        theirs = [0, *(japanese[term] for term in terms if term in japanese)]
        left.append(np.repeat(np.array(ours, np.int32), len(theirs)))
        right.append(np.tile(np.array(theirs, np.int32), len(ours)))
        numbers.append(np.full(len(ours) * len(theirs), number, np.int32))
    return _Counted(
        ["", *english],
        ["", *japanese],
        np.concatenate(left),
        np.concatenate(right),
        np.concatenate(numbers),
    )


def _numbered(texts: Iterable[list[str]]) -> dict[str, int]:
    """Terms that are seen more than once, numbered from 1."""
    counts = Counter(term for text in texts for term in text)
    seen = sorted(term for term, count in counts.items() if count > 1)
    return {term: number for number, term in enumerate(seen, 1)}


def _entries(counted: _Counted) -> list[tuple[float, str, str]]:
    """What translates what, and how likely."""
    width = len(counted.japanese)
    together, which = np.unique(
        counted.left.astype(np.int64) * width + counted.right, return_inverse=True
    )
    left, right = together // width, together % width
    there, seen_there = _likely(counted.pair, counted.right, left, which)
    back, seen_back = _likely(counted.pair, counted.left, right, which)
    both = np.sqrt(there * back)
    enough = np.minimum(seen_there, seen_back) >= _LEAST_SEEN
    good = np.flatnonzero((left > 0) & (right > 0) & enough & (both >= _LEAST))
    return [
        (float(both[at]), counted.english[left[at]], counted.japanese[right[at]])
        for at in good
    ]


def _likely(
    pair: np.ndarray, target: np.ndarray, source: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How likely each source is translated by each target, and how often it was.

    *pair* and *target* are of every time two came together, *which* names the two,
    *source* is theirs.
    """
    places = pair.astype(np.int64) * (int(target.max()) + 1) + target
    _, place = np.unique(places, return_inverse=True)
    likely = np.ones(len(source))
    seen = likely
    for _ in range(_ROUNDS):
        share = likely[which]
        share /= np.bincount(place, weights=share)[place]
        seen = np.bincount(which, weights=share, minlength=len(source))
        likely = seen / np.bincount(source, weights=seen)[source]
    return likely, seen


def _of_stems(
    forms: Counter[str], stemmed: Callable[[str], str]
) -> dict[str, list[str]]:
    """The forms of each stem that are not rare, the most frequent first."""
    found: dict[str, list[str]] = defaultdict(list)
    for form, count in forms.most_common():
        if count >= _LEAST_FORM:
            found[stemmed(form)].append(form)
    return found


def _lines(
    entries: list[tuple[float, str, str]],
    english: Mapping[str, list[str]],
    japanese: Mapping[str, list[str]],
) -> Iterator[str]:
    there: dict[str, list[str]] = defaultdict(list)
    back: dict[str, list[str]] = defaultdict(list)
    for _, word, term in sorted(entries, reverse=True):
        there[word].append(term)
        back[term].append(word)
    for found, own, others in ((there, english, japanese), (back, japanese, english)):
        for word, named in found.items():
            names = [
                form for it in named[:_MOST] for form in others.get(it, ())[:_FORMS]
            ]
            if names:
                yield from (_line(form, names) for form in own.get(word, ()))


def _line(word: str, others: list[str]) -> str:
    return f"{word}\t{' '.join(others)}\n"

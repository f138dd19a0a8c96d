"""Widening: further pieces for words that a vocabulary cuts into single kanji.

Pieces are learnt from technical text, where many everyday words are rare. Those that a
dictionary calls common become pieces of their own, the most frequent first. A new row
begins between what its parts meant so far and what the dictionary says; training does
the rest. Rows that are there keep their numbers.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from training.catalogues import dictionary_entries
from training.exporting import PIECES, read_learnt, write_learnt
from training.minilm import JA, WORDS, load_weights
from training.pairing import read_pairs
from training.progress import console, meter
from training.tokens import Encoder, runs

__all__ = ("widen",)

_WORD = re.compile(r"[\u4e00-\u9fff々]{2,4}")
_ADVANTAGE = 1.0
"""What a word's score is above that of its parts, at least: it is to be taken."""

_GENEROUS = 3.0
"""The same while it is counted how often each would be taken."""

_OF_DICTIONARY = 0.5
"""Share of the dictionary's meaning in a new row; the rest is what its parts meant."""

_ORDINARY = 1000
"""Rows of the English table before this one are control signs and single letters."""


def widen(work: Path, *, start: Path, target: Path, model: Path, size: int) -> None:
    """Write what was learnt in *start* with *size* pieces into *target*."""
    described = json.loads((start / PIECES).read_text(encoding="utf-8"))
    pieces = dict(described["model"]["vocab"])
    cut = Tokenizer.from_file(str(start / PIECES))
    words = {
        entry.word: entry.meaning
        for entry in dictionary_entries(_dictionary(work))
        if entry.common and entry.word not in pieces and _WORD.fullmatch(entry.word)
    }
    parts = {word: list(cut.encode(word).ids) for word in words}
    below = {word: sum(_scores(described, parts[word])) for word in words}
    generous = {word: score + _GENEROUS for word, score in below.items()}
    counts = _counts(work, described, generous)
    chosen = sorted(words, key=lambda word: -counts[word])[: size - len(pieces)]
    total = sum(counts.values())
    scores = {
        word: max(math.log((counts[word] + 1) / total), below[word] + _ADVANTAGE)
        for word in chosen
    }
    target.mkdir(parents=True, exist_ok=True)
    _widened(described, scores).save(str(target / PIECES), pretty=False)
    learnt = read_learnt(start)
    learnt[JA] = np.concatenate(
        [learnt[JA], _rows(model, learnt[JA], [(parts[w], words[w]) for w in chosen])]
    )
    write_learnt(target, learnt)
    console.print(f"{len(chosen):,} words more, such as {' '.join(chosen[:10])}")


def _dictionary(work: Path) -> Path:
    return next((work / "packages" / "edict").rglob("edict/edict"))


def _scores(described: Mapping[str, dict[str, Any]], ids: Iterable[int]) -> list[float]:
    return [described["model"]["vocab"][number][1] for number in ids]


def _widened(
    described: Mapping[str, dict[str, Any]], scores: Mapping[str, float]
) -> Tokenizer:
    """The tokenizer with further pieces after those it has."""
    model = described["model"]
    vocab = [*model["vocab"], *(list(each) for each in scores.items())]
    return Tokenizer.from_str(
        json.dumps({**described, "model": {**model, "vocab": vocab}})
    )


def _counts(
    work: Path, described: Mapping[str, dict[str, Any]], scores: Mapping[str, float]
) -> Counter[str]:
    """How often each piece is taken in the pairs, were all of the words there."""
    tokenizer = _widened(described, scores)
    found: Counter[str] = Counter()
    for pair in read_pairs(work):
        if pair.kind != "passage":
            found.update(runs(pair.ja))
    counts: Counter[str] = Counter()
    with meter("runs", len(found)) as shown:
        for run, count in found.items():
            for piece in tokenizer.encode(run).tokens:
                counts[piece] += count
            shown.advance()
    return counts


def _rows(
    model: Path, known: np.ndarray, words: Sequence[tuple[list[int], str]]
) -> np.ndarray:
    encoder = Encoder(model, None)
    table = np.asarray(load_weights(model)[WORDS])
    centre = table[_ORDINARY:].mean(0)
    usual = np.linalg.norm(known - centre, axis=1).mean()
    rows = []
    for parts, meaning in words:
        before = known[parts].mean(0) - centre
        said = table[encoder.english(meaning)].mean(0) - centre
        row = (1 - _OF_DICTIONARY) * _unit(before) + _OF_DICTIONARY * _unit(said)
        rows.append(centre + usual * _unit(row))
    return np.array(rows, np.float32)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-6)

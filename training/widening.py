"""Widening: further pieces for words that a vocabulary cuts into single kanji.

Pieces are learnt from technical text, where many everyday words are rare. Those that a
dictionary calls common become pieces of their own, the most frequent first. A new row
begins between what its parts meant so far and what the dictionary says; training does
the rest. Rows that are there keep their numbers.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceProcessor
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from training.catalogues import dictionary_entries
from training.digests import digest_of
from training.exporting import PIECES, read_learnt, write_learnt
from training.minilm import JA, WORDS, load_weights
from training.pairing import PARTS, read_pairs
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
    known = (start / PIECES).read_bytes()
    cut = SentencePieceProcessor(model_proto=known)
    pieces = {cut.id_to_piece(number) for number in range(cut.vocab_size())}
    words = {
        entry.word: entry.meaning
        for entry in dictionary_entries(_dictionary(work))
        if entry.common and entry.word not in pieces and _WORD.fullmatch(entry.word)
    }
    parts = {word: cut.encode(word) for word in words}
    below = {word: sum(map(cut.get_score, parts[word])) for word in words}
    generous = {word: score + _GENEROUS for word, score in below.items()}
    counts = _counts(work, _widened(known, generous))
    chosen = sorted(words, key=lambda word: -counts[word])[: size - len(pieces)]
    total = sum(counts.values())
    scores = {
        word: max(math.log((counts[word] + 1) / total), below[word] + _ADVANTAGE)
        for word in chosen
    }
    target.mkdir(parents=True, exist_ok=True)
    (target / PIECES).write_bytes(_widened(known, scores))
    learnt = read_learnt(start)
    learnt[JA] = np.concatenate(
        [learnt[JA], _rows(model, learnt[JA], [(parts[w], words[w]) for w in chosen])]
    )
    write_learnt(target, learnt, digest_of(target / PIECES))
    console.print(f"{len(chosen):,} words more, such as {' '.join(chosen[:10])}")


def _dictionary(work: Path) -> Path:
    return next((work / "packages" / "edict").rglob("edict/edict"))


def _widened(pieces: bytes, scores: Mapping[str, float]) -> bytes:
    """The same pieces, and further ones after them."""
    wider = ModelProto.FromString(pieces)
    for piece, score in scores.items():
        wider.pieces.add(piece=piece, score=score)
    wider.trainer_spec.vocab_size = len(wider.pieces)
    whole: bytes = wider.SerializeToString()
    return whole


def _counts(work: Path, pieces: bytes) -> Counter[str]:
    """How often each piece is taken in the pairs."""
    tokenizer = SentencePieceProcessor(model_proto=pieces)
    found: Counter[str] = Counter()
    for pair in read_pairs(work):
        if pair.kind not in PARTS:
            found.update(runs(pair.ja))
    counts: Counter[str] = Counter()
    with meter("runs", len(found)) as shown:
        for run, count in found.items():
            for piece in tokenizer.encode(run, out_type=str):
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

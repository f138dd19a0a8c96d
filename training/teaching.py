"""Teacher: the vectors of the English texts, by the untouched model.

Texts are taken in the order of ``pairs.jsonl``, so the best come first. Vectors are
written in shards, each beside the list of its texts; a text that is in a shard is not
done again, even if the pairs have changed since. Learning begins with this step too.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from training.minilm import WIDTH, embed, load_weights
from training.pairing import Pair, read_pairs
from training.progress import console, meter
from training.tokens import Encoder

__all__ = ("LENGTH", "mixture", "taught", "teach")

LENGTH = 256
"""Tokens of an English text that are read: as many as the model reads."""

_SHARD = 4000

_MIXTURE = {
    "text": 1.0,
    "section": 0.3,
    "passage": 0.1,
    "message": 0.3,
    "label": 0.1,
    "common": 1.0,
    "word": 0.1,
}
"""What is taken of each kind where not all is: passages are long, words are easy."""


def teach(work: Path, model: Path, most: int | None = None) -> None:
    """Write vectors for the texts that have none; of few, a mixture of all kinds."""
    folder = work / "teacher"
    folder.mkdir(exist_ok=True)
    known = {text for _, texts in _shards(folder) for text in texts}
    wanted = dict.fromkeys(
        text
        for pair in mixture(work, most)
        for text in (pair.en, *(asked for asked, _ in pair.asks))
    )
    todo = [text for text in wanted if text not in known]
    console.print(f"{len(wanted):,} English texts, {len(todo):,} without a vector")
    weights, encoder = load_weights(model), Encoder(model, None)
    number = len(list(folder.glob("*.json")))
    with meter("texts", len(todo)) as shown:
        for start in range(0, len(todo), _SHARD):
            texts = todo[start : start + _SHARD]
            ids = [encoder.encode(text, LENGTH) for text in texts]
            vectors = embed(weights, None, ids, shown.advance)
            path = folder / f"{number:05d}.npy"
            np.save(path, vectors.astype(np.float16))
            _write_list(path.with_suffix(".json"), texts)
            number += 1


def mixture(work: Path, most: int | None) -> Iterator[Pair]:
    """The pairs; if there are to be few, a mixture with at most so many sentences."""
    counts: Counter[str] = Counter()
    for pair in read_pairs(work):
        counts[pair.kind] += 1
        if most is None or counts[pair.kind] <= most * _MIXTURE[pair.kind]:
            yield pair


def taught(work: Path) -> tuple[dict[str, int], np.ndarray]:
    """The texts that have a vector, with their places, and the vectors."""
    places: dict[str, int] = {}
    parts = [np.zeros((0, WIDTH), np.float16)]
    for vectors, texts in _shards(work / "teacher"):
        for text in texts:
            places[text] = len(places)
        parts.append(np.load(vectors))
    return places, np.concatenate(parts)


def _shards(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Complete shards: the list of texts is written last."""
    for path in sorted(folder.glob("*.json")):
        yield path.with_suffix(".npy"), json.loads(path.read_text(encoding="utf-8"))


def _write_list(path: Path, texts: list[str]) -> None:
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    partial.rename(path)

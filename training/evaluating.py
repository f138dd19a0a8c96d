"""Evaluate: how well vectors alone rank documents, before and after.

A page is cut at its headings and at about 900 characters; the nearest section stands
for its document. The figure is nDCG at ten, by the relevant documents of the sets.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from rich.table import Table

from training.exporting import read_learnt
from training.minilm import ROWS, WIDTH, Weights, embed, load_weights
from training.progress import console, meter
from training.tokens import Encoder

__all__ = ("Model", "RelevanceSet", "evaluate", "read_set", "sections")

_SECTION_CHARACTERS = 900
_TOKENS = 192
_DEPTH = 10


@dataclass(frozen=True)
class Query:
    """A question and the documents that answer it."""

    text: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class RelevanceSet:
    """Queries, and the folder of the documents."""

    name: str
    corpus: Path
    queries: list[Query]


class Model:
    """The English model, with what was learnt or without.

    As in the product, the adapter takes part where there is a Japanese piece.
    """

    def __init__(self, weights: Weights, encoder: Encoder, learnt: Path | None) -> None:
        self._weights = weights
        self._encoder = encoder
        self._learnt = (
            {key: jnp.asarray(value) for key, value in read_learnt(learnt).items()}
            if learnt is not None
            else None
        )

    def embed(self, texts: Sequence[str], label: str) -> np.ndarray:
        ids = [self._encoder.encode(text, _TOKENS) for text in texts]
        japanese = np.array([max(text) >= ROWS for text in ids], bool)
        out = np.zeros((len(texts), WIDTH), np.float32)
        with meter(label, len(texts)) as shown:
            for which, learnt in ((japanese, self._learnt), (~japanese, None)):
                places = np.flatnonzero(which)
                chosen = [ids[place] for place in places]
                out[places] = embed(self._weights, learnt, chosen, shown.advance)
        return out


def evaluate(
    model: Path,
    *,
    variants: Sequence[tuple[str, Path | None, Path | None]],
    relevance: Path,
    names: Sequence[str],
    most: int,
) -> dict[str, dict[str, float]]:
    """Measure variants (name, pieces, folder) on sets; print a table and return it."""
    weights = load_weights(model)
    models = {
        name: Model(weights, Encoder(model, pieces), learnt)
        for name, pieces, learnt in variants
    }
    table = Table("set", "queries", *models, title="nDCG@10, vectors only")
    figures: dict[str, dict[str, float]] = {}
    kept: dict[tuple[str, Path], np.ndarray] = {}
    for name in names:
        one = read_set(relevance / name, most)
        files, texts = zip(*_corpus(one.corpus), strict=True)
        figures[name] = {}
        for variant, made in models.items():
            key = variant, one.corpus
            if key not in kept:
                kept[key] = made.embed(texts, f"{name} {variant}")
            asked = made.embed([query.text for query in one.queries], "queries")
            figures[name][variant] = _measure(one.queries, asked @ kept[key].T, files)
        row = [f"{value:.3f}" for value in figures[name].values()]
        table.add_row(name, str(len(one.queries)), *row)
        console.print(name, figures[name])
    console.print(table)
    return figures


def read_set(folder: Path, most: int) -> RelevanceSet:
    """A relevance set: ``META.json``, ``queries.jsonl`` and a folder of pages."""
    meta = json.loads((folder / "META.json").read_text(encoding="utf-8"))
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [
        Query(found["query"], frozenset(page["filepath"] for page in found["relevant"]))
        for found in map(json.loads, lines[:most])
    ]
    return RelevanceSet(folder.name, (folder / meta["corpus"]).resolve(), queries)


def _corpus(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        for section in sections(text):
            yield str(path.relative_to(root)), section


def sections(text: str) -> Iterator[str]:
    """Pieces of a page, each with the title of the page and its heading."""
    front = ""
    if text.startswith("---"):
        front, _, text = text[3:].partition("\n---")
    found = re.search(r"^title:\s*(.*)$", front, re.MULTILINE) or re.search(
        r"^# +(.*)$", text, re.MULTILINE
    )
    title = found[1].strip("\"' ") if found else ""
    for part in re.split(r"(?m)^(?=#{1,4} )", text):
        first, _, rest = part.partition("\n")
        has_heading = re.match(r"#{1,4} ", part) is not None
        heading = re.sub(r"\s*\{#.*\}", "", first.lstrip("# ")) if has_heading else ""
        bodies = _bodies(rest if has_heading else part) or ([""] if has_heading else [])
        yield from (f"{title}\n{heading}\n{body}" for body in bodies)


def _bodies(text: str) -> list[str]:
    bodies: list[str] = []
    body = ""
    for paragraph in re.split(r"\n\s*\n", text):
        if body and len(body) + len(paragraph) > _SECTION_CHARACTERS:
            bodies.append(body.strip())
            body = ""
        body += paragraph + "\n\n"
    return [part for part in (*bodies, body.strip()) if part]


def _measure(
    queries: Sequence[Query], scores: np.ndarray, files: Sequence[str]
) -> float:
    values = []
    for query, row in zip(queries, scores, strict=True):
        ranking = _documents(row, files)
        gain = sum(
            1 / math.log2(place + 2)
            for place, name in enumerate(ranking)
            if name in query.relevant
        )
        most = min(_DEPTH, len(query.relevant))
        values.append(gain / sum(1 / math.log2(place + 2) for place in range(most)))
    return float(np.mean(values))


def _documents(scores: np.ndarray, files: Sequence[str]) -> list[str]:
    ranking: dict[str, None] = {}
    for place in np.argsort(-scores, kind="stable"):
        ranking.setdefault(files[place])
        if len(ranking) == _DEPTH:
            break
    return list(ranking)

"""What do the similarities of a model mean? Its numbers *unrelated* and *related*.

They belong to the model's entry in ``ubp/embedding/models.py``, and say where on the
scale of its cosines nothing fits and where something answers (``ubp/fusion.py``). Run
this whenever the model, or what of a note is embedded, has changed:

    python -m bench.calibration --relevance DIR [--notes DIR] [--model NAME]

*Related* pairs are questions of relevance sets with the passage of the note that
answers them; *unrelated* ones the same questions with passages of all other corpora,
and of the collections of notes in ``--notes``. Passages are cut and put together by the
notes pack, and embedded by the product's own processes. Each language the model knows
is measured by itself, because one may lie elsewhere on the scale than the other.

For each language:

* ``unrelated``: what 99 of 100 unrelated pairs stay below, which is 0.5 on the scale;
* ``related``: so far above it that three quarters of the related pairs reach 0.7.

What is said last are the numbers for the entry: the mean of the languages.
"""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bench.quality.score import normal_heading
from bench.quality.sets import Broken, RelevanceSet, markdown_in, read_sets
from ubp.actors.embedding_child import Text
from ubp.actors.model_processes import ModelProcesses
from ubp.config import EmbeddingSettings, Settings
from ubp.embedding.models import Model, chosen
from ubp.errors import UbpError
from ubp.fusion import Calibration
from ubp.packs.notes.chunks import context_after
from ubp.packs.notes.passages import passage
from ubp.packs.notes.records import NoteRecord, read_note
from ubp.project import Project
from ubp.reading.markdown import normalise
from ubp.toolkit import FileText

__all__ = ("Similarities", "calibrated", "main")

_REACHED = 0.7
_BELOW = 99
_ENOUGH = 25
"""Percent of unrelated pairs below, and of related ones that need not reach it."""
_MOST_CHUNKS = 3
"""Passages of one note that may be the one that answers."""
_MOST_CHARACTERS = 1_600
"""Of a passage that are embedded: what a window or two hold."""
_BATCH = 32


class Similarities(NamedTuple):
    """The cosines of one language."""

    related: NDArray[np.float32]
    """Of each question and its answer."""
    unrelated: NDArray[np.float32]
    """Of each question and everything that has nothing to do with it."""


class _Pair(NamedTuple):
    question: str
    answers: list[Text]


def calibrated(found: Similarities) -> Calibration:
    """The numbers of one language."""
    low = float(np.percentile(found.unrelated, _BELOW))
    reached = max(float(np.percentile(found.related, _ENOUGH)), low + 0.01)
    # Where on the way from the one to the other the calibrated scale has 0.7.
    share = np.log(_REACHED / (1 - _REACHED)) / np.log(9)
    return Calibration(round(low, 3), round(low + (reached - low) / float(share), 3))


def shares(found: Similarities, calibration: Calibration) -> tuple[float, float, float]:
    """How many related pairs reach 0.7, unrelated stay below 0.5, and below 0.7."""
    to_scale = np.vectorize(calibration.similarity)
    related, unrelated = to_scale(found.related), to_scale(found.unrelated)
    return (
        float((related >= _REACHED).mean()),
        float((unrelated < 0.5).mean()),
        float((unrelated < _REACHED).mean()),
    )


async def measure(
    model: Model,
    sets: Sequence[RelevanceSet],
    notes: Sequence[Path],
    per_set: int,
    work: Path,
) -> dict[str, Similarities]:
    """By language, what the model makes of related and unrelated pairs."""
    # Somebody waits for it, so it makes way for nobody.
    embedding = EmbeddingSettings(model=model.path or model.name, niceness=0)
    settings = Settings(embedding=embedding)
    project = Project(work, settings, work)
    chance = random.Random(1)
    found: dict[str, Similarities] = {}
    async with anyio.create_task_group() as group:
        processes = ModelProcesses(group, project)
        try:
            for language in model.languages:
                mine = [each for each in sets if each.lang == language]
                others = [path for path in notes if path.name.startswith(language)]
                if mine:
                    found[language] = await _measured(
                        model, processes, mine, others, per_set, chance
                    )
        finally:
            await processes.aclose()
            group.cancel_scope.cancel()
    return found


async def _measured(
    model: Model,
    processes: ModelProcesses,
    sets: Sequence[RelevanceSet],
    notes: Sequence[Path],
    per_set: int,
    chance: random.Random,
) -> Similarities:
    questions: list[NDArray[np.float32]] = []
    related: list[float] = []
    corpora: list[Path] = []
    hay: list[tuple[Path, NDArray[np.float32]]] = []
    for each in sets:
        pairs = list(_pairs(each, per_set, chance))
        _say(f"{each.name}: {len(pairs)} pairs")
        for pair in pairs:
            asked = _unit(await processes.query(model, pair.question))
            answers = await _vectors(model, processes, pair.answers)
            related.append(max(float((one @ asked).max()) for one in answers))
            questions.append(asked)
            corpora.append(each.corpus)
            hay.append((each.corpus, answers[0]))
    for folder in notes:
        texts = list(_some_texts(folder, per_set, chance))
        _say(f"{folder.name}: {len(texts)} passages")
        hay += [(folder, one) for one in await _vectors(model, processes, texts)]
    # Passages of a question's own corpus may well be related.
    unrelated = [
        float((one @ asked).max())
        for asked, corpus in zip(questions, corpora, strict=True)
        for where, one in hay
        if where != corpus
    ]
    return Similarities(np.array(related, np.float32), np.array(unrelated, np.float32))


async def _vectors(
    model: Model, processes: ModelProcesses, texts: Sequence[Text]
) -> list[NDArray[np.float32]]:
    made: list[NDArray[np.float32]] = []
    for start in range(0, len(texts), _BATCH):
        made += await processes.passages(model, texts[start : start + _BATCH])
    return [_unit(each) for each in made]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / length, np.float32)


def _pairs(some: RelevanceSet, most: int, chance: random.Random) -> Iterator[_Pair]:
    """Questions with what answers them; those whose answer cannot be found are out."""
    queries = list(some.queries)
    chance.shuffle(queries)
    count = 0
    for query in queries:
        if count == most:
            return
        first = query.relevant[0]
        note = _note(some.corpus, first.filepath)
        texts = _texts(note)
        wanted = normal_heading(first.heading) if first.heading else ""
        if wanted:
            texts = [
                text
                for text, chunk in zip(texts, note.chunks, strict=True)
                if wanted in normal_heading(chunk.heading)
                or f"# {wanted}" in normal_heading(text.body)
            ]
        if texts:
            count += 1
            yield _Pair(query.query, texts[:_MOST_CHUNKS])


def _some_texts(folder: Path, most: int, chance: random.Random) -> Iterator[Text]:
    files = markdown_in(folder)
    chance.shuffle(files)
    for path in files[:most]:
        if texts := _texts(_note(folder, path)):
            yield chance.choice(texts)


def _note(corpus: Path, path: str) -> NoteRecord:
    text = normalise((corpus / path).read_text("utf-8-sig"))
    return read_note(FileText(path, text, Project(corpus, Settings(), corpus)))[0]


def _texts(note: NoteRecord) -> list[Text]:
    """What is embedded of each chunk of a note."""
    texts: list[Text] = []
    context = ""
    for chunk in note.chunks:
        content = note.content[chunk.start : chunk.start + chunk.length]
        whole = passage(
            note.title,
            note.tags,
            context,
            chunk.parent_heading,
            chunk.heading,
            content,
        )
        texts.append(Text(whole.head, whole.body[:_MOST_CHARACTERS]))
        context = context_after(content)
    return texts


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and say what the entry should be."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibration")
    parser.add_argument("--relevance", type=Path, required=True, metavar="DIR")
    parser.add_argument("--notes", type=Path, metavar="DIR")
    parser.add_argument("--sets", type=lambda text: text.split(","), metavar="A,B")
    parser.add_argument("--model", default=EmbeddingSettings().model)
    parser.add_argument("--per-set", type=int, default=40)
    given = parser.parse_args(arguments)
    model = chosen(EmbeddingSettings(model=given.model), Path.cwd())
    if model is None:
        parser.error("there is no model to calibrate")
    folders: list[Path] = []
    if given.notes:
        folders = sorted(each for each in given.notes.iterdir() if each.is_dir())
    try:
        sets = read_sets(given.relevance, given.sets)
        found = anyio.run(
            measure, model, sets, folders, given.per_set, Path.cwd().resolve()
        )
    except (Broken, UbpError) as error:
        _say(f"Error: {error}")
        return 2
    _report(model, found)
    return 0


def _report(model: Model, found: dict[str, Similarities]) -> None:
    entry = Calibration(model.unrelated, model.related)
    own = {language: calibrated(each) for language, each in found.items()}
    together = Calibration(
        round(float(np.mean([each.unrelated for each in own.values()])), 2),
        round(float(np.mean([each.related for each in own.values()])), 2),
    )
    table = Table(
        "language",
        "numbers",
        "of",
        "related ≥ 0.7",
        "unrelated < 0.5",
        "unrelated < 0.7",
    )
    for language, each in found.items():
        for name, numbers in (
            ("its own", own[language]),
            ("mean", together),
            ("the entry", entry),
        ):
            told = f"{numbers.unrelated} {numbers.related}"
            table.add_row(
                f"{language} ({len(each.related)})",
                told,
                name,
                *(f"{share:.3f}" for share in shares(each, numbers)),
            )
    Console(width=100).print(table)
    for language, each in found.items():
        related = np.percentile(each.related, [5, 10, 25, 50, 75])
        unrelated = np.percentile(each.unrelated, [50, 90, 95, 99, 99.9])
        print(f"{language}: related at 5 10 25 50 75 %: {np.round(related, 3)}")
        print(f"{language}: unrelated at 50 90 95 99 99.9 %: {np.round(unrelated, 3)}")
    print(f"{model.name}: unrelated={together.unrelated}, related={together.related}")


if __name__ == "__main__":
    sys.exit(main())

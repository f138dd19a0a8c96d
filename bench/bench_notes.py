"""How quick are the notes tools on a large vault?

Measured:      what ``list_tags`` and ``search_docs`` do in the database, on a warm
               index of 20,000 notes, English and Japanese, with tags; plain, in a tag,
               with words that are everywhere, and without a vector.
Not measured:  embedding the query, JSON-RPC, queueing. The vectors are made up.
               Milliseconds of processor time: on a busy machine the others say little.
Budget:        50 ms for ``list_tags``, 30 ms for ``search_docs`` (the hybrid budget).
Compared with: one bare ``MATCH`` on the same index.

Run it with ``python -m bench.bench_notes``.
"""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from bench.bunches import clustered
from bench.measured import Measured, report
from ubp.config import Settings
from ubp.messages import QueryVector
from ubp.packs import discover
from ubp.packs.notes import queries, writes
from ubp.packs.notes.records import read_note
from ubp.packs.notes.search import Question, find
from ubp.packs.notes.text_index import CHUNK_WORDS
from ubp.project import Project
from ubp.store import migrations, vectors
from ubp.store.connection import open_reader, open_writer, snapshot, transaction
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import FileText

NOTES = 20_000
TAGS = 400
ROUNDS = 40
AT_ONCE = 500

_WORDS = [
    "".join(random.Random(n).choices("aeioubcdfgklmnprstvz", k=3 + n % 6))
    for n in range(8_000)
]
_KANJI = "設計検索記録手順障害移定権限更新確認料理旅行読書散歩音楽写真映画天気電車仕事"
_JAPANESE = [a + b for a in _KANJI for b in _KANJI if a != b]


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        return list(_measured(Path(folder) / "index.db"))


def _measured(path: Path) -> Iterator[Measured]:
    values = _filled(path)
    db = open_reader(path)
    blocks = Blocks()
    model = vectors.serving(db)
    if model is None:
        raise LookupError
    chance = np.random.default_rng(3)
    asked = values[chance.integers(0, len(values), ROUNDS)]
    asked = asked + np.float32(0.02) * chance.standard_normal(asked.shape, np.float32)
    turn = cycle(
        QueryVector(model.id, each.astype(np.float32).tobytes(), 0.35, 0.65)
        for each in asked
    )
    words = cycle(
        f"{a} {b}" for a, b in zip(_WORDS[:200], _WORDS[200:400], strict=True)
    )

    def search(*tags: str, text: str = "", by_meaning: bool = True) -> None:
        vector = next(turn) if by_meaning else None
        question = Question(text or next(words), vector, list(tags), 5, 0.7)
        with snapshot(db):
            hits = find(db, blocks, question)
            queries.chunk_texts(db, [hit.row for hit in hits])

    bare = _cpu_ms(
        ROUNDS, lambda: CHUNK_WORDS.having(db, f'"{_WORDS[1]}" AND "{_WORDS[2]}"', 55)
    )
    size = f"{NOTES} notes, {len(values)} chunks"
    search()  # loads the vectors
    for name, taken in (
        ("list_tags", _cpu_ms(ROUNDS, lambda: queries.tag_counts(db))),
        ("search_docs", _cpu_ms(ROUNDS, search)),
        ("search_docs in a tag", _cpu_ms(ROUNDS, lambda: search("tag-3"))),
        ("search_docs, common word", _cpu_ms(ROUNDS, lambda: search(text="the"))),
        (
            "search_docs, Japanese",
            _cpu_ms(ROUNDS, lambda: search(text="設計の手順")),
        ),
        (
            "search_docs by words",
            _cpu_ms(ROUNDS, lambda: search(by_meaning=False)),
        ),
    ):
        yield Measured(f"notes {name}", taken, "ms", taken / bare, "MATCH", size)
    db.close()


def _cpu_ms(times: int, work: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(times):
        begin = time.process_time()
        work()
        taken.append((time.process_time() - begin) * 1_000)
    return median(taken)


def _filled(path: Path) -> NDArray[np.float32]:
    db = open_writer(path)
    sets = [migrations.Set(pack.name, pack.migrations) for pack in discover()]
    migrations.apply(db, [migrations.CORE, *sets])
    project = Project(path.parent, Settings(), path.parent)
    chance = random.Random(1)
    for start in range(0, NOTES, AT_ONCE):
        with transaction(db):
            for number in range(start, start + AT_ONCE):
                name = f"{number % 50:02}/note-{number:05}.md"
                file = FileText(name, _note(chance, number), project)
                writes.save(db, name, "digest", read_note(file)[0])
    with transaction(db):
        model = vectors.aim(
            db, identity="m", name="m", spec="{}", languages=["en", "ja"]
        )
        writes.optimize(db)
    total = queries.counts(db)["chunks"]
    values = clustered(total)
    while True:
        with transaction(db):
            waiting = vectors.waiting(db, model, AT_ONCE)
            made = [(each, values[each.row - 1 : each.row]) for each in waiting]
            vectors.store(db, model.id, made)
        if not waiting:
            break
    db.close()
    return values


def _note(chance: random.Random, number: int) -> str:
    # A few tags are everywhere, most are rare.
    tags = {f"tag-{int(chance.paretovariate(0.6)) % TAGS}" for _ in range(3)}
    head = f"---\ntitle: Note {number}\ntags: [{', '.join(sorted(tags))}]\n---\n"
    parts: list[str] = []
    for part in range(chance.randint(1, 5)):
        if number % 3:
            text = f"the {' '.join(chance.choices(_WORDS, k=chance.randint(20, 120)))}."
        else:
            text = "の".join(chance.choices(_JAPANESE, k=40)) + "。"
        parts.append(f"## Part {part} {chance.choice(_WORDS)}\n\n{text}\n")
    return head + "\n".join(parts)


if __name__ == "__main__":
    report(*measure())

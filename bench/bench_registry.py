"""How quick is a search among many knowledge units?

Measured:      what ``kp_search_knowledge`` does in the database, on a warm index of
               50,000 units, English and Japanese, of which one in twenty is private to
               another agent; plain, in a domain, with words that are everywhere, with
               no word at all, and without a vector. And bringing them all back from
               the journal.
Not measured:  embedding the query, JSON-RPC, queueing. The vectors are made up.
               Milliseconds of processor time: on a busy machine the others say little.
Budget:        30 ms, the one of hybrid search.
Compared with: ``ubp_search`` on as many sections of documents, in the same run.

Run it with ``python -m bench.bench_registry``.
"""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import apsw
import msgspec
import numpy as np
from numpy.typing import NDArray

from bench.bunches import clustered
from bench.measured import Measured, report
from ubp.actors.wiring import prepare_database
from ubp.config import Settings
from ubp.messages import QueryVector
from ubp.packs.docs import hybrid
from ubp.packs.docs import writes as docs_writes
from ubp.packs.docs.records import read_page
from ubp.packs.registry import queries, writes
from ubp.packs.registry.journal import lines
from ubp.packs.registry.queries import Filter, Viewer
from ubp.packs.registry.search import Question, find
from ubp.packs.registry.unit_schema import CONTEXT, ID_PREFIXES
from ubp.project import Project
from ubp.store import vectors
from ubp.store.connection import open_reader, open_writer, snapshot, transaction
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import FileText

UNITS = 50_000
PAGES = UNITS // 5
ROUNDS = 40
AT_ONCE = 500

_OTHER = Viewer("kp:agent:other", "")
_ASKS = Viewer("kp:agent:asks", "")
_DOMAINS = ("finance", "code", "medical", "customer_service", "general")
_WORDS = [
    "".join(random.Random(n).choices("aeioubcdfgklmnprstvz", k=3 + n % 6))
    for n in range(8_000)
]
_KANJI = "設計検索記録手順障害移定権限更新確認料理旅行読書散歩音楽写真映画天気電車仕事"
_JAPANESE = [a + b for a in _KANJI for b in _KANJI if a != b]


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        return list(_measured(Path(folder)))


def _measured(folder: Path) -> Iterator[Measured]:
    path = folder / "index.db"
    values, restoring = _filled(path)
    db = open_reader(path)
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
    pairs = zip(_WORDS[:200], _WORDS[200:400], strict=True)
    words = cycle([f"{a} {b}" for a, b in pairs])
    blocks = Blocks()

    def search(
        text: str | None = None,
        domain: str | None = None,
        *,
        least: float = 0.75,
        by_meaning: bool = True,
    ) -> None:
        question = Question(
            text=next(words) if text is None else text,
            vector=next(turn) if by_meaning and text != "" else None,
            viewer=_ASKS,
            wanted=Filter(tuple(ID_PREFIXES), domain),
            least_quality=least,
            limit=10,
            alpha=0.7,
        )
        with snapshot(db):
            found = find(db, blocks, question)
            queries.items(db, question.viewer, found.rows)

    def pages(text: str | None = None) -> None:
        asked = next(words) if text is None else text
        question = hybrid.Question(asked, next(turn), 10, 1, None, None, 0.7)
        with snapshot(db):
            hybrid.find(db, blocks, question)

    pages()  # loads the vectors
    search()
    for name, work, other in (
        ("search", search, pages),
        ("search, everything good enough", partial(search, least=0.0), pages),
        ("search in a domain", partial(search, domain="finance"), pages),
        ("search, common word", partial(search, "the"), partial(pages, "the")),
        (
            "search, Japanese",
            partial(search, "設計の手順"),
            partial(pages, "設計の手順"),
        ),
        ("search by words", partial(search, by_meaning=False), pages),
        ("search for nothing: the best", partial(search, ""), pages),
    ):
        taken, bare = _cpu_ms(work), _cpu_ms(other)
        note = f"{UNITS} units; ubp_search {bare:.1f} ms"
        yield Measured(
            f"registry {name}", taken, "ms", taken / bare, "ubp_search", note
        )
    db.close()
    yield Measured("registry restored", restoring, "s", note=f"{UNITS} units")


def _cpu_ms(work: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        work()
        taken.append((time.process_time() - begin) * 1_000)
    return median(taken)


def _filled(path: Path) -> tuple[NDArray[np.float32], float]:
    """The vectors, and how long it took to bring the units back from a journal."""
    chance = random.Random(1)
    items = (_item(chance, number) for number in range(UNITS))
    lines.rewrite(path.with_name(lines.FILE_NAME), items)
    begin = time.perf_counter()
    db = open_writer(path)
    prepare_database(db)
    restoring = time.perf_counter() - begin
    with transaction(db):
        writes.optimize(db)
    _fill_docs(db, chance, path.parent)
    with transaction(db):
        model = vectors.aim(
            db, identity="m", name="m", spec="{}", languages=["en", "ja"]
        )
    values = clustered(UNITS)
    while True:
        with transaction(db):
            waiting = vectors.waiting(db, model, AT_ONCE)
            made = [(each, values[each.row % UNITS][np.newaxis, :]) for each in waiting]
            vectors.store(db, model.id, made)
        if not waiting:
            break
    with transaction(db):
        vectors.promote(db)
    db.close()
    return values, restoring


def _item(chance: random.Random, number: int) -> lines.Item:
    unit = _unit(chance, number)
    return lines.Item(
        ident=unit["id"],
        kind=unit["@type"],
        agent=_OTHER.agent,
        org="",
        visibility="network" if number % 20 else "private",
        name=unit["name"],
        domain=unit["metadata"]["task_domain"],
        content=msgspec.json.encode(unit).decode(),
        details={},
        submitted=number.to_bytes(32),
        computed=chance.random(),
        reported=0.5,
        created_at="2026-01-02T03:04:05Z",
        updated_at="2026-01-02T03:04:05Z",
    )


def _fill_docs(db: apsw.Connection, chance: random.Random, folder: Path) -> None:
    project = Project(folder, Settings(), folder)
    for start in range(0, PAGES, AT_ONCE):
        with transaction(db):
            for number in range(start, start + AT_ONCE):
                parts = "\n".join(
                    f"## Part {part}\n\n{_text(chance, number)}\n" for part in range(5)
                )
                name = f"{number % 50:02}/page-{number:05}.md"
                text = f"# Page {number}\n\n{parts}"
                record, _ = read_page(FileText(name, text, project))
                docs_writes.save(db, name, "digest", record)
    with transaction(db):
        docs_writes.optimize(db)


def _unit(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "@type": "ToolCallPattern",
        "id": f"kp:pattern:{UUID(int=number, version=4)}",
        "name": f"Pattern {number} {chance.choice(_WORDS)}",
        "description": _text(chance, number),
        "metadata": {
            "task_domain": chance.choice(_DOMAINS),
            "created_at": "2026-01-02T03:04:05Z",
            "success": True,
            "quality_score": 0.5,
            "visibility": "network",
            "privacy_level": "aggregated",
        },
        "trigger_conditions": {"task_types": [chance.choice(_WORDS)]},
        "tool_sequence": [
            {
                "step": _text(chance, number),
                "execution": "sequential",
                "tools": [{"name": chance.choice(_WORDS)}],
            }
        ],
        "performance": {
            "avg_ms": 10,
            "success_rate": chance.random(),
            "uses": chance.randint(0, 80),
        },
    }


def _text(chance: random.Random, number: int) -> str:
    if number % 3:
        return f"the {' '.join(chance.choices(_WORDS, k=chance.randint(10, 60)))}."
    return "の".join(chance.choices(_JAPANESE, k=20)) + "。"


if __name__ == "__main__":
    report(*measure())

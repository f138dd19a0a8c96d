"""How long does it take to find the nearest vectors?

Measured:      ``nearest`` on a warm cache, ten rows, one query at a time; the first
               query after a restart; what the cache holds; how many of the ten nearest
               are found.
Not measured:  embedding the query, JSON-RPC, queueing.
Compared with: one float32 matrix product over all vectors, which finds all of them.

Beside it:     sqlite-vec, in this process, where ``make peers`` has installed it.

The vectors are made: 384 dimensions in bunches, none of them a model's. On the vectors
of a real model recall is in docs/adr/0013-vectors-in-sqlite-and-numpy.md.

Run it with ``python -m bench.bench_vectors``.
"""

import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from bench.bunches import clustered
from bench.measured import Measured, report, typical_ms
from bench.peers import ENVIRONMENT
from ubp.store import migrations
from ubp.store.connection import open_reader, open_writer, snapshot, transaction
from ubp.store.nearest import nearest
from ubp.store.vector_blocks import Blocks
from ubp.store.vectors import ModelRow, Passage, aim, note, serving, store, waiting

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 60
LIMIT = 10
_SQLITE_VEC = "lib/python*/site-packages/sqlite_vec/vec0.*"


def measure() -> list[Measured]:
    lines: list[Measured] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            lines += _measured(Path(folder) / "index.db", size)
    return lines


def _measured(path: Path, size: int) -> Iterator[Measured]:
    values = clustered(size)
    begin = time.perf_counter()
    model = _filled(path, values)
    filling = (time.perf_counter() - begin) / size * 1e6
    queries = values[:: size // ROUNDS][:ROUNDS]
    queries = queries + np.float32(0.2) * clustered(len(queries), seed=2)
    db = open_reader(path)
    blocks = Blocks()
    begin = time.perf_counter()
    _rows(db, blocks, model, queries[0])
    first = (time.perf_counter() - begin) * 1e3
    turn = cycle(queries)
    bare = typical_ms(ROUNDS, lambda: values @ next(turn))
    taken = typical_ms(ROUNDS, lambda: _rows(db, blocks, model, next(turn)))
    hits = [
        _recall(values, query, _rows(db, blocks, model, query)) for query in queries
    ]
    found = f"recall {np.mean(hits):.4f}"
    yield Measured(f"vectors {size}", taken, "ms", taken / bare, "matmul", found)
    yield Measured(f"vectors {size} first", first, "ms", first / bare, "matmul")
    yield Measured(f"vectors {size} kept", blocks.size / 1e6, "MB")
    yield Measured(f"vectors {size} storing", filling, "us each")
    db.close()
    yield _by_sqlite_vec(values, queries, size, bare)


def _filled(path: Path, values: NDArray[np.float32]) -> ModelRow:
    db = open_writer(path)
    migrations.apply(db, [migrations.CORE])
    with transaction(db):
        model = aim(db, identity="m", name="m", spec="{}", languages=["en"])
    for begin in range(0, len(values), 512):
        rows = range(begin + 1, min(begin + 512, len(values)) + 1)
        with transaction(db):
            note(db, "docs", [Passage(row, row.to_bytes(32), "en") for row in rows])
            made = waiting(db, model, len(rows))
            store(
                db, model.id, [(each, values[each.row - 1 : each.row]) for each in made]
            )
    found = serving(db)
    db.close()
    if not found:
        raise LookupError
    return found


def _by_sqlite_vec(
    values: NDArray[np.float32], queries: NDArray[np.float32], size: int, bare: float
) -> Measured:
    """The same queries answered by sqlite-vec, which looks at every vector."""
    name = f"sqlite-vec {size}"
    library = next(ENVIRONMENT.glob(_SQLITE_VEC), None)
    if library is None:
        return Measured(f"{name}: skipped", 0, "", note="not installed: make peers")
    db = apsw.Connection(":memory:")
    db.enable_load_extension(True)
    db.load_extension(str(library))
    db.execute(f"CREATE VIRTUAL TABLE v USING vec0(value float[{values.shape[1]}])")
    with db:
        db.executemany(
            "INSERT INTO v (rowid, value) VALUES (?, ?)",
            ((row, value.tobytes()) for row, value in enumerate(values, 1)),
        )

    def found(query: NDArray[np.float32]) -> set[int]:
        sql = "SELECT rowid FROM v WHERE value MATCH ? AND k = ?"
        return {row for (row,) in db.execute(sql, (query.tobytes(), LIMIT))}

    turn = cycle(queries)
    taken = typical_ms(ROUNDS // 4, lambda: found(next(turn)))
    hits = np.mean([_recall(values, query, found(query)) for query in queries[:10]])
    db.close()
    return Measured(name, taken, "ms", taken / bare, "matmul", f"recall {hits:.4f}")


def _rows(
    db: apsw.Connection, blocks: Blocks, model: ModelRow, query: NDArray[np.float32]
) -> set[int]:
    with snapshot(db):
        found = nearest(db, blocks, model, "docs", query, LIMIT)
    return {near.row for near in found}


def _recall(
    values: NDArray[np.float32], query: NDArray[np.float32], found: set[int]
) -> float:
    best = np.argpartition(-(values @ query), LIMIT)[:LIMIT] + 1
    return len(found & set(best.tolist())) / LIMIT


if __name__ == "__main__":
    report(*measure())

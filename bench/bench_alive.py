"""What does a client notice of files that change under the server?

Measured:      searches while a branch switch changes every page of a vault of 10,000,
               and how long after a save a page is found, by words and by meaning.
Not measured:  what a server uses while nothing changes; see ``bench_idle.py``.
Compared with: the same searches before anything changes.

Run it with ``python -m bench.bench_alive``.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

import apsw

from bench.corpus import write_vault
from bench.indexed import index
from bench.measured import Measured, report
from bench.wire import Wire, serving
from ubp.store import vectors
from ubp.store.connection import open_reader

T = TypeVar("T")

PAGES = 10_000
SEARCHES = 400
SAVES = 20
QUERIES = cycle(("kare motisun", "予約の管理", "dor velan", "セッション", "page"))
WORDS_ONLY = '[embedding]\nmodel = "none"\n'


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        return [*_switching(Path(folder) / "big"), *_saving(Path(folder) / "small")]


def _switching(root: Path) -> list[Measured]:
    write_vault(root, PAGES)
    (root / "ubp.toml").write_text(WORDS_ONLY, encoding="utf-8")
    index(root)
    with serving(root) as server:
        _search(server)  # whatever is done once
        idle = [_search(server) for _ in range(SEARCHES)]
        begin = time.time_ns()
        switch = "from bench.corpus import write_vault; import sys, pathlib; "
        switch += "write_vault(pathlib.Path(sys.argv[1]), int(sys.argv[2]), seed=2)"
        command = [sys.executable, "-c", switch, str(root), str(PAGES)]
        with subprocess.Popen(command) as git:
            busy = [_search(server)]
            while git.poll() is None or _is_behind(root, begin):
                busy += [_search(server) for _ in range(50)]
    was, became = _p95(idle), _p95(busy)
    note = f"{len(busy)} searches; the median {median(busy) / median(idle):.2f} times"
    return [
        Measured("search, idle, p95", was * 1_000, "ms"),
        Measured(
            "search, 10,000 files changing, p95",
            became * 1_000,
            "ms",
            became / was,
            "idle",
            note,
        ),
    ]


def _saving(root: Path) -> list[Measured]:
    write_vault(root, 200)
    index(root)
    page = root / "docs/new.md"
    by_words: list[float] = []
    by_meaning: list[float] = []
    with serving(root) as server:
        server.call("ubp_search", query="anything")  # the model is loaded by now
        time.sleep(5)
        for number in range(SAVES):
            text = f"# Zebra{number}\n\nStriped horse number {number}.\n"
            page.write_text(text, encoding="utf-8")
            saved = time.perf_counter()
            by_words.append(_until(saved, lambda: _has(server, f"zebra{number}")))  # noqa: B023
            by_meaning.append(_until(saved, lambda: _all_have_vectors(root)))
    return [
        Measured("saved until found by words, slowest", max(by_words), "s"),
        Measured("saved until found by meaning, slowest", max(by_meaning), "s"),
    ]


def _search(server: Wire) -> float:
    begin = time.perf_counter()
    server.call("ubp_fulltext_search", query=next(QUERIES), limit=10)
    return time.perf_counter() - begin


def _has(server: Wire, word: str) -> bool:
    found = server.call("ubp_fulltext_search", query=word, limit=1)
    return bool(found["results"])


def _is_behind(root: Path, since: int) -> bool:
    """Whether the index has files as they were before."""
    old = "SELECT EXISTS (SELECT 1 FROM file WHERE mtime_ns < ?)"
    return bool(_asked(root, lambda db: db.execute(old, (since,)).get))


def _all_have_vectors(root: Path) -> bool:
    now = _asked(root, vectors.progress)
    return now.completed == now.total


def _asked(root: Path, look: Callable[[apsw.Connection], T]) -> T:
    db = open_reader(root / ".ubp/index.db")
    try:
        return look(db)
    finally:
        db.close()


def _until(begin: float, reached: Callable[[], bool]) -> float:
    while not reached():
        time.sleep(0.01)
    return time.perf_counter() - begin


def _p95(taken: list[float]) -> float:
    return quantiles(taken, n=20)[-1]


if __name__ == "__main__":
    report(*measure())

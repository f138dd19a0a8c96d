"""How fast do files become an index, and what does it cost to find nothing to do?

Measured:      ``ubp index`` as a process: the first run without embedding, one with
               nothing changed, one with one page changed; and embedding real texts.
Not measured:  a cold disk. The start of the process is left out of what is compared,
               and measured by ``bench_startup.py``.
Compared with: inserting the same sections' text, read and cut, into the same full-text
               tables, and walking and stat-ing the same files.

Run it with ``python -m bench.bench_indexing``.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from bench.corpus import write_vault
from bench.indexed import index
from bench.measured import Measured, best_of, report
from bench.multiplied import write_multiplied
from bench.prepared import embeds
from bench.scale import FULL, Scale
from ubp import lexicon
from ubp.actors.wiring import prepare_database
from ubp.packs.docs.text_index import SECTIONS
from ubp.store.connection import open_reader, open_writer, transaction
from ubp.store.fulltext import IndexedText
from ubp.store.vectors import progress

_DOCS_ONLY = 'packs = ["docs"]\n'


def measure(scale: Scale = FULL) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        lines = list(_without_embedding(Path(folder), scale.files))
    with tempfile.TemporaryDirectory() as folder:
        return [*lines, *_embedding(Path(folder), scale.embedded)]


def _without_embedding(root: Path, files: int) -> Iterator[Measured]:
    size = write_vault(root, files) / 1e6
    (root / "ubp.toml").write_text(_DOCS_ONLY, encoding="utf-8")
    start = best_of(3, _start)
    first = best_of(1, lambda: index(root, "--no-embed")) - start
    bare = min(_insert_ready_text(root, root / f"bare-{turn}.db") for turn in range(2))
    yield Measured(
        "indexing, first run",
        files / first,
        "files/s",
        first / bare,
        "inserting ready text",
        f"{files:,} files, {size / first:.1f} MB/s, without embedding",
    )
    walked = best_of(5, lambda: _walk(root / "docs"))
    again = best_of(5, lambda: index(root, "--no-embed")) - start
    yield Measured(
        "indexing, nothing changed",
        again * 1_000,
        "ms",
        again / walked,
        "walk and stat",
        f"{files:,} files",
    )
    edited = best_of(3, lambda: _edit_and_index(root)) - start
    yield Measured(
        "indexing, one page changed",
        edited * 1_000,
        "ms",
        edited / walked,
        "walk and stat",
        f"{files:,} files",
    )


def _embedding(root: Path, sections: int) -> Iterator[Measured]:
    vault = write_multiplied(root / "docs", sections)
    (root / "ubp.toml").write_text(_DOCS_ONLY, encoding="utf-8")
    index(root, "--no-embed")
    taken = best_of(1, lambda: index(root))
    if embeds(root):
        db = open_reader(root / ".ubp/index.db")
        done = progress(db).completed
        db.close()
        note = f"{done} sections, {vault.size / 1e3 / vault.sections:.2f} kB each"
        yield Measured("embedding", done / taken, "sections/s", note=note)


def _start() -> None:
    command = [sys.executable, "-m", "ubp", "version"]
    subprocess.run(command, check=True, capture_output=True)


def _edit_and_index(root: Path) -> None:
    page = root / "docs/00/page-000000.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    index(root, "--no-embed")


def _insert_ready_text(root: Path, path: Path) -> float:
    """Seconds to insert the sections of the index just made, and nothing else."""
    old = apsw.Connection(str(root / ".ubp/index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows: list[Any] = old.execute(
        "SELECT id, coalesce(heading, ''), content FROM docs_section"
    ).fetchall()
    old.close()
    db = open_writer(path)
    prepare_database(db)
    taken = best_of(1, lambda: _insert(db, rows))
    db.close()
    return taken


def _spread(row: int, heading: str, content: str) -> IndexedText:
    head = lexicon.spread(lexicon.fold(heading))
    body = lexicon.spread(lexicon.fold(content))
    return IndexedText(row, head.text, body.text, " ".join(head.words | body.words))


def _insert(db: apsw.Connection, rows: list[Any]) -> None:
    for start in range(0, len(rows), 1_000):
        texts = [_spread(*row) for row in rows[start : start + 1_000]]
        with transaction(db):
            SECTIONS.add(db, texts)


def _walk(folder: Path) -> int:
    return sum(
        (Path(place) / name).stat().st_size
        for place, _, names in os.walk(folder)
        for name in names
    )


if __name__ == "__main__":
    report(*measure())

"""How fast do files become an index, and what does it cost to find nothing to do?

Measured:      ``ubp index`` as a process, on 2,000 made-up pages: the first run, and a
               second with nothing changed.
Not measured:  embedding; a cold disk.
Compared with: inserting the same sections' ready text into the same full-text tables,
               and walking and stat-ing the same files.

Run it with ``python -m bench.bench_indexing``.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import apsw

from bench.corpus import write_vault
from bench.measured import Measured, best_of, report
from ubp import lexicon
from ubp.actors.wiring import prepare_database
from ubp.packs.docs.text_index import SECTIONS
from ubp.store.connection import open_writer, transaction
from ubp.store.fulltext import IndexedText

FILES = 2_000


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        size = write_vault(root, FILES) / 1e6
        index = [sys.executable, "-m", "ubp", "index", "--root", folder, "--quiet"]
        first = best_of(
            1, lambda: subprocess.run(index, check=True, capture_output=True)
        )
        again = best_of(
            3, lambda: subprocess.run(index, check=True, capture_output=True)
        )
        start = best_of(
            3,
            lambda: subprocess.run(
                [*index[:3], "version"], check=True, capture_output=True
            ),
        )
        bare = best_of(1, lambda: _insert_ready_text(root))
        walked = best_of(3, lambda: _walk(root / "docs"))
    return [
        Measured(
            "index_first",
            FILES / first,
            "files/s",
            first / bare,
            "ready text",
            f"{size / first:.1f} MB/s",
        ),
        Measured(
            "index_again",
            again * 1_000,
            "ms",
            (again - start) / walked,
            "walk and stat",
            "start of the process left out",
        ),
    ]


def _insert_ready_text(root: Path) -> None:
    """The sections of the index just made, written out and inserted, nothing else."""
    old = apsw.Connection(str(root / ".ubp/index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = old.execute(
        "SELECT id, coalesce(heading, ''), content FROM docs_section"
    ).fetchall()
    old.close()
    db = open_writer(root / "bare.db")
    prepare_database(db)
    for start in range(0, len(rows), 1_000):
        texts = []
        batch: list[Any] = rows[start : start + 1_000]
        for row, heading, content in batch:
            head, body = (
                lexicon.spread(lexicon.fold(heading)),
                lexicon.spread(lexicon.fold(content)),
            )
            texts.append(
                IndexedText(row, head.text, body.text, sorted(head.words | body.words))
            )
        with transaction(db):
            SECTIONS.add(db, texts)
    db.close()


def _walk(folder: Path) -> int:
    return sum(
        (Path(place) / name).stat().st_size
        for place, _, names in os.walk(folder)
        for name in names
    )


if __name__ == "__main__":
    report(*measure())

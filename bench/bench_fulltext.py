"""How long does one full-text search take?

Measured:      ``ubp_fulltext_search`` in the process, on a warm index of 3,000 pages.
Not measured:  JSON-RPC, queueing, starting.
Compared with: the bare FTS5 query for the same whole words, ten rows by rank.

Run it with ``python -m bench.bench_fulltext``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import apsw

from bench.corpus import write_vault
from bench.measured import Measured, report, typical_ms
from ubp.packs.docs.search import literally
from ubp.store.connection import open_reader, snapshot

FILES = 3_000
ROUNDS = 30
QUERIES = (
    "kare",
    "sun tor",
    "認証",
    "画面 検索",
    "延滞の予約",
    "dorvel",
    "lin.",
    "c++",
)
BARE = """
    SELECT rowid, rank FROM docs_text WHERE docs_text MATCH ? ORDER BY rank LIMIT 10
"""


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        write_vault(Path(folder), FILES)
        index = [sys.executable, "-m", "ubp", "index", "--root", folder, "--quiet"]
        subprocess.run(index, check=True, capture_output=True)
        db = open_reader(Path(folder) / ".ubp/index.db")
        lines = [_compare(db, query) for query in QUERIES]
        db.close()
    return lines


def _compare(db: apsw.Connection, query: str) -> Measured:
    found = 0

    def ours() -> None:
        nonlocal found
        with snapshot(db):
            _, found = literally(db, query, None, 10)

    words = " ".join(f'"{word}"' for word in query.replace("の", "").split())
    bare = typical_ms(ROUNDS, lambda: db.execute(BARE, (words,)).fetchall())
    taken = typical_ms(ROUNDS, ours)
    return Measured(
        f"fulltext {query}", taken, "ms", taken / bare, "MATCH", f"{found} found"
    )


if __name__ == "__main__":
    report(*measure())

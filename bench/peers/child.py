"""A peer that is a library, in a process and an environment of its own.

Started with the name of the peer and a folder of Markdown. Says in a line of JSON how
long it took to be ready; then each line it reads is a question, and each it writes has
the ten best paths and the milliseconds. Of ubp nothing is imported here.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

Search = Callable[[str], list[str]]


def fts5(pages: dict[str, str]) -> Search:
    """SQLite's full text as it comes: its default tokenizer, the best by bm25."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE page USING fts5 (path UNINDEXED, text)")
    db.executemany("INSERT INTO page VALUES (?, ?)", pages.items())
    found = "SELECT path FROM page WHERE page MATCH ? ORDER BY rank LIMIT 10"

    def search(question: str) -> list[str]:
        words = " ".join(f'"{word}"' for word in question.split())
        return [path for (path,) in db.execute(found, (words,))]

    return search


def bm25s(pages: dict[str, str]) -> Search:
    """The quickest BM25 there is in Python, with its own tokenizer."""
    import bm25s as library

    paths = list(pages)
    tokens = library.tokenize(list(pages.values()), show_progress=False)
    index = library.BM25()
    index.index(tokens, show_progress=False)

    def search(question: str) -> list[str]:
        asked = library.tokenize(question, show_progress=False)
        if not any(len(each) for each in asked.ids):
            return []
        rows, scores = index.retrieve(asked, k=10, show_progress=False)
        return [
            paths[row] for row, score in zip(rows[0], scores[0], strict=True) if score
        ]

    return search


PEERS = {"fts5": fts5, "bm25s": bm25s}


def main(name: str, folder: Path) -> None:
    begin = time.perf_counter()
    pages = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.md"))
    }
    search = PEERS[name](pages)
    print(json.dumps({"ready": time.perf_counter() - begin}), flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        paths = search(json.loads(line))
        taken = (time.perf_counter() - begin) * 1_000
        print(json.dumps({"paths": paths, "ms": taken}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

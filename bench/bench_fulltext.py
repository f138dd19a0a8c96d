"""How long does one full-text search take, and how does that grow?

Measured:      ``ubp_fulltext_search`` in the process, on warm indexes of several sizes,
               for questions of one to three words, English and Japanese.
Not measured:  JSON-RPC, queueing, starting.
Compared with: the bare FTS5 query for the same whole words, ten rows by rank, on the
               same index by the same connection. It finds less: no parts of words.

Run it with ``python -m bench.bench_fulltext``.
"""

from collections.abc import Iterator

import apsw

from bench.measured import Measured, quantile, report, typical_ms
from bench.prepared import prepared, questions
from bench.scale import FULL, Scale
from ubp.lexicon import fold, spread
from ubp.packs.docs.search import literally
from ubp.store.connection import open_reader, snapshot

ROUNDS = 5
BARE = """
    SELECT rowid, rank FROM docs_text WHERE docs_text MATCH ? ORDER BY rank LIMIT 10
"""


def measure(scale: Scale = FULL) -> list[Measured]:
    return [line for size in scale.sections for line in _measured(size, scale)]


def _measured(sections: int, scale: Scale) -> Iterator[Measured]:
    with prepared(sections, embedded=False) as project:
        asked = questions(project.vault, scale.rounds)
        # One word, and one that is nearly everywhere, as people type them too.
        asked += [question.split()[0] for question in asked[::2]]
        asked += [words[0] for words in project.vault.words.values()]
        db = open_reader(project.root / ".ubp/index.db")
        ours = [typical_ms(ROUNDS, lambda: _ours(db, each)) for each in asked]  # noqa: B023
        bare = [typical_ms(ROUNDS, lambda: _bare(db, each)) for each in asked]  # noqa: B023
        db.close()
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        taken, against = quantile(ours, share), quantile(bare, share)
        yield Measured(
            f"full text, {sections:,} sections, {name}",
            taken,
            "ms",
            taken / against,
            "MATCH",
            f"which takes {against:.2f} ms",
            chart="Full text in the process, ms",
            series=f"ubp_fulltext_search {name}",
            at=sections,
        )


def _ours(db: apsw.Connection, query: str) -> None:
    with snapshot(db):
        literally(db, query, None, 10)


def _bare(db: apsw.Connection, query: str) -> None:
    words = (f'"{spread(fold(word)).text.strip()}"' for word in query.split())
    db.execute(BARE, (" ".join(words),)).fetchall()


if __name__ == "__main__":
    report(*measure())

"""How quick is a board of 5,000 cards?

Measured:      what a client of a real server waits for: listing, filtering, searching
               by words, moving, finishing and changing cards; some of the moves right
               after somebody changed a card by hand. The first list, which reads every
               card, stands alone. What follows it waits until the index is complete.
Not measured:  the client. Wall time, so on a busy machine the median says most.
Budget:        50 ms for each but the first list.
Compared with: listing the names of all files and asking for the times of each.

Run it with ``python -m bench.bench_board``.
"""

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles

from bench.cards import COLUMNS, write_cards
from bench.measured import Measured, report
from bench.wire import serving
from ubp.packs.board.queries import counts
from ubp.store.connection import open_reader

CARDS = 5_000
ROUNDS = 60


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        return list(_measured(Path(folder)))


def _measured(root: Path) -> Iterator[Measured]:
    cards = write_cards(root, CARDS)
    chance = random.Random(2)
    bare = median(_times(5, lambda: _stats(root)))
    note = f"{CARDS} cards"
    with serving(root, "--packs", "board") as wire:
        begin = time.perf_counter()
        wire.call("kanban_list", limit=200)
        first = (time.perf_counter() - begin) * 1_000
        yield Measured("board first list", first, "ms", first / bare, "stat", note)
        _wait_for_the_index(root)

        def edit() -> None:
            path = next((root / ".kanban").rglob(f"{chance.choice(cards)}__*.md"))
            with path.open("a", encoding="utf-8") as file:
                file.write("By hand.\n")

        def move(edited: bool) -> None:
            if edited:
                edit()
            column = chance.choice(COLUMNS[:3])
            wire.call("kanban_move", cardId=chance.choice(cards), toColumn=column)

        def update() -> None:
            patch = {"fm": {"lane": str(chance.random())}}
            wire.call("kanban_update", cardId=chance.choice(cards), patch=patch)

        for name, work in (
            ("list", lambda: wire.call("kanban_list")),
            ("list of 200", lambda: wire.call("kanban_list", limit=200)),
            ("filter", lambda: wire.call("kanban_list", lane="core", priority="P1")),
            ("query", lambda: wire.call("kanban_list", query="検索 parser")),
            ("move", lambda: move(edited=False)),
            ("move after an edit by hand", lambda: move(edited=True)),
            ("update", update),
            ("done", lambda: wire.call("kanban_done", cardId=chance.choice(cards))),
        ):
            times = _times(ROUNDS, work)
            late = quantiles(times, n=20)[-1]
            value = median(times)
            yield Measured(
                f"board {name}", value, "ms", value / bare, "stat", f"p95 {late:.1f} ms"
            )


def _wait_for_the_index(root: Path) -> None:
    db = open_reader(root / ".ubp/index.db")
    while counts(db)["cards"] < CARDS:
        time.sleep(0.2)
    db.close()


def _times(rounds: int, work: Callable[[], object]) -> list[float]:
    taken: list[float] = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begin) * 1_000)
    return taken


def _stats(root: Path) -> int:
    return sum(
        len([os.stat(Path(folder, name)) for name in names])  # noqa: PTH116
        for folder, _, names in os.walk(root)
    )


if __name__ == "__main__":
    report(*measure())

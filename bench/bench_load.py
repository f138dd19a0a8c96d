"""What do many callers at once get, and what of it while the server has other work?

Measured:      a mix of calls (hybrid, full text, page, context, graph, notes, board) to
               a real server on the wire: by ever more callers at once; on indexes of
               several sizes; and while pages are indexed in bulk, embedded, changed.
               With each, how late the event loop is, as ``ping`` sees it, and the
               memory of the server with its processes.
Not measured:  the client, but on two processors it takes its share of one.
Compared with: the same calls to an idle server, by one caller.

Run it with ``python -m bench.bench_load``.
"""

import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from bench.measured import Measured, quantile, report
from bench.memory import tree_mb
from bench.multiplied import write_multiplied
from bench.pool import Pool, serving_many
from bench.prepared import Prepared, prepared, questions
from bench.scale import FULL, Scale

Call = tuple[str, Mapping[str, Any]]

_QUESTIONS = 40
_PING_EVERY = 0.02
_CHURN = 20
"""Pages changed each second, as by somebody who saves a lot."""
_SHARES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


class Drive(NamedTuple):
    """What one time under load gave; seconds."""

    taken: dict[str, list[float]]
    pings: list[float]
    seconds: float
    memory: float

    @property
    def all(self) -> list[float]:
        return [each for some in self.taken.values() for each in some]


def measure(scale: Scale = FULL) -> list[Measured]:
    lines: list[Measured] = []
    for sections in scale.sections:
        with prepared(sections) as project:
            lines += anyio.run(_growth, project, sections, scale)
            if sections == scale.sections[-1]:
                lines += anyio.run(_crowds, project, scale)
    with prepared(min(scale.sections[-1], 10_000)) as project:
        return lines + anyio.run(_states, project, scale)


async def _growth(project: Prepared, sections: int, scale: Scale) -> list[Measured]:
    """One caller, on an index of this size."""
    async with serving_many(project.root) as server:
        calls = await mix(server, project)
        await drive(server, calls, 1, scale.seconds / 4)
        idle = await drive(server, calls, 1, scale.seconds)
    size = f"{sections:,} sections"
    return [
        *_kinds(idle, size, sections),
        Measured(f"memory, {size}", idle.memory, "MB", note="with the model"),
    ]


async def _crowds(project: Prepared, scale: Scale) -> list[Measured]:
    """Ever more callers, on the largest index."""
    lines: list[Measured] = []
    async with serving_many(project.root) as server:
        calls = await mix(server, project)
        await drive(server, calls, 1, scale.seconds / 4)
        for callers in scale.crowds:
            seen = await drive(server, calls, callers, scale.seconds)
            lines += _quantiles(seen, f"{callers} at once", callers)
            speed = len(seen.all) / seen.seconds
            lines.append(
                Measured(
                    f"load, {callers} at once, throughput",
                    speed,
                    "calls/s",
                    chart="Calls a second",
                    series="mix",
                    at=callers,
                )
            )
            lines += _loop(seen, f"{callers} at once")
    return lines


async def _states(project: Prepared, scale: Scale) -> list[Measured]:
    """While the server does something else; the hybrid searches alone are compared."""
    lines: list[Measured] = []
    async with serving_many(project.root) as server:
        calls = await mix(server, project)
        await drive(server, calls, 1, scale.seconds / 4)
        idle = await drive(server, calls, 1, scale.seconds)
        lines += _loop(idle, "idle")
        for state, work in (
            ("files changing", _churning),
            ("bulk indexing", _indexing),
            ("embedding", _resting),
        ):
            async with work(project.root, scale):
                busy = await drive(server, calls, 1, scale.seconds)
            lines += [*_compared(busy, idle, state), *_loop(busy, state)]
    return lines


# -- calls -----------------------------------------------------------------------------


async def mix(server: Pool, project: Prepared) -> dict[str, Sequence[Call]]:
    """Calls by kind, with questions that have answers here."""
    asked = questions(project.vault, _QUESTIONS)
    pages = [f"{number % 97:02}/page-{number:06}.md" for number in range(0, 60, 3)]
    await server.call("kanban_list", {})
    return {
        "hybrid": [("ubp_search", {"query": each}) for each in asked],
        "full text": [
            ("ubp_fulltext_search", {"query": each.split()[0]}) for each in asked
        ],
        "page": [("ubp_get_page", {"filepath": each}) for each in pages],
        "context": [("ubp_get_context", {"filepath": each}) for each in pages],
        "graph": [("ubp_get_graph", {"center": each, "depth": 2}) for each in pages],
        "notes": [("search_docs", {"query": each}) for each in asked],
        "board": [("kanban_list", {}), ("kanban_list", {"query": "検索 parser"})],
    }


async def drive(
    server: Pool, calls: Mapping[str, Sequence[Call]], callers: int, seconds: float
) -> Drive:
    """Callers that each wait for an answer before the next call, for so long."""
    taken: dict[str, list[float]] = defaultdict(list)
    pings: list[float] = []
    begin = time.perf_counter()

    async def caller(number: int) -> None:
        chance = random.Random(number)
        turns = {
            kind: cycle(chance.sample(list(some), len(some)))
            for kind, some in calls.items()
        }
        while time.perf_counter() < begin + seconds:
            for kind, turn in turns.items():
                taken[kind].append(await server.call(*next(turn)))

    async def pinger() -> None:
        while True:
            pings.append(await server.ping())
            await anyio.sleep(_PING_EVERY)

    async with anyio.create_task_group() as others:
        others.start_soon(pinger)
        async with anyio.create_task_group() as tasks:
            for number in range(callers):
                tasks.start_soon(caller, number)
        others.cancel_scope.cancel()
    lasted = time.perf_counter() - begin
    return Drive(taken, pings, lasted, tree_mb(server.pid))


# -- other work ------------------------------------------------------------------------


@asynccontextmanager
async def _resting(_root: Path, _scale: Scale) -> AsyncIterator[None]:
    """What was indexed in bulk just before is embedded now, for minutes."""
    yield


@asynccontextmanager
async def _indexing(root: Path, scale: Scale) -> AsyncIterator[None]:
    """Far more pages arrive at once than can be indexed meanwhile."""
    sections = int(scale.seconds * 2_500)
    await anyio.to_thread.run_sync(write_multiplied, root / "docs/new", sections)
    yield


@asynccontextmanager
async def _churning(root: Path, _scale: Scale) -> AsyncIterator[None]:
    pages = cycle(sorted((root / "docs/00").glob("*.md")))

    async def save() -> None:
        while True:
            page = next(pages)
            with page.open("a", encoding="utf-8") as file:
                file.write("\nOnce more.\n")
            await anyio.sleep(1 / _CHURN)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(save)
        yield
        tasks.cancel_scope.cancel()


# -- lines -----------------------------------------------------------------------------


def _kinds(idle: Drive, size: str, sections: int) -> Iterator[Measured]:
    for kind, taken in idle.taken.items():
        for name, share in _SHARES[:2]:
            yield Measured(
                f"{kind} on the wire, {size}, {name}",
                quantile(taken, share) * 1_000,
                "ms",
                chart=f"One caller, {name}, ms",
                series=kind,
                at=sections,
            )


def _quantiles(seen: Drive, state: str, callers: int) -> Iterator[Measured]:
    for name, share in _SHARES:
        yield Measured(
            f"load, {state}, {name}",
            quantile(seen.all, share) * 1_000,
            "ms",
            chart="Mixed calls by callers at once, ms",
            series=name,
            at=callers,
        )


def _compared(busy: Drive, idle: Drive, state: str) -> Iterator[Measured]:
    for name, share in _SHARES:
        value = quantile(busy.taken["hybrid"], share)
        was = quantile(idle.taken["hybrid"], share)
        yield Measured(
            f"hybrid, {state}, {name}",
            value * 1_000,
            "ms",
            value / was,
            "idle",
            f"which takes {was * 1_000:.1f} ms",
        )


def _loop(seen: Drive, state: str) -> Iterator[Measured]:
    late = quantile(seen.pings, 0.99) * 1_000
    note = f"p50 {quantile(seen.pings, 0.5) * 1_000:.2f} ms; {seen.memory:.0f} MB"
    yield Measured(f"event loop, {state}, ping p99", late, "ms", note=note)


if __name__ == "__main__":
    report(*measure())

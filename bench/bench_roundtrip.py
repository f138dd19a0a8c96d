"""What does the service add to a call?

Measured:      ``tools/call`` of a tool with next to nothing to do, on the wire.
Not measured:  the client, which is the same for both.
Compared with: the same call to a server of the SDK whose only tool does nothing.

Run it with ``python -m bench.bench_roundtrip``.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

import anyio

from bench import noop_server
from bench.measured import Measured, report
from bench.pool import Pool, serving_many
from bench.scale import FULL, Scale

TRIVIAL = "list_languages"
"""Nothing was ingested, so there is nothing to list."""
TURNS = 12


def measure(scale: Scale = FULL) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = anyio.run(_compare, Path(folder), scale)
    return [
        Measured(
            "trivial tool, round trip",
            ours * 1_000,
            "ms",
            ours / bare,
            "no-op server of the SDK",
            f"which takes {bare * 1_000:.2f} ms",
        )
    ]


async def _compare(root: Path, scale: Scale) -> tuple[float, float]:
    async with (
        serving_many(root) as ours,
        serving_many(root, sys.executable, noop_server.__file__) as bare,
    ):
        await _some(ours, TRIVIAL, 50)  # whatever is done once
        await _some(bare, noop_server.TOOL, 50)
        taken: list[float] = []
        taken_bare: list[float] = []
        # By turns, so that both have the same share of whatever else goes on here.
        for _ in range(TURNS):
            taken += await _some(ours, TRIVIAL, scale.rounds)
            taken_bare += await _some(bare, noop_server.TOOL, scale.rounds)
    return median(taken), median(taken_bare)


async def _some(server: Pool, tool: str, count: int) -> list[float]:
    return [await server.call(tool, {}) for _ in range(count)]


if __name__ == "__main__":
    report(*measure())

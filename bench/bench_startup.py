"""How long does a client wait for the server?

Measured:      process start until ``initialize`` is answered, and until the first
               hybrid search is, model loaded and all; in a project without documents
               and in the largest; with everything in the system's cache, and with
               none of the packages and nothing of the project in it.
Not measured:  the client's own start.
Compared with: starting Python and importing the low-level server of the SDK, just as
               warm or cold.

Run it with ``python -m bench.bench_startup``.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.indexed import index
from bench.measured import Measured, best_of, report
from bench.prepared import prepared
from bench.scale import FULL, Scale
from bench.wire import serving

ROUNDS = 5
COLD_ROUNDS = 3
_SDK = (sys.executable, "-c", "import mcp.server.lowlevel")


def measure(scale: Scale = FULL) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "docs").mkdir()
        index(Path(folder))
        lines = list(_started(Path(folder), "empty"))
    with prepared(scale.sections[-1]) as project:
        size = f"{scale.sections[-1]:,} sections"
        return [*lines, *_started(project.root, size)]


def _started(root: Path, size: str) -> Iterator[Measured]:
    for state, rounds, before in (
        ("warm", ROUNDS, _nothing),
        ("cold", COLD_ROUNDS, partial(_forget, root)),
    ):
        bare = _best(rounds, before, _import)
        for what, work in (
            ("initialize", partial(_greet, root)),
            ("first hybrid answer", partial(_search, root)),
        ):
            taken = _best(rounds, before, work)
            yield Measured(
                f"start to {what}, {size}, {state}",
                taken * 1_000,
                "ms",
                taken / bare,
                "import of the SDK",
                f"which takes {bare * 1_000:.0f} ms",
            )


def _best(
    rounds: int, before: Callable[[], object], work: Callable[[], object]
) -> float:
    taken: list[float] = []
    for _ in range(rounds):
        before()
        taken.append(best_of(1, work))
    return min(taken)


def _nothing() -> None:
    pass


def _import() -> None:
    subprocess.run(_SDK, check=True)


def _greet(root: Path) -> None:
    with serving(root):
        pass


def _search(root: Path) -> None:
    with serving(root) as server:
        server.call("ubp_search", query="how is a page found?")


def _forget(root: Path) -> None:
    """Take out of the system's cache what may be: no right of an owner is needed."""
    for folder in (Path(sysconfig.get_path("platlib")), root):
        for place, _, names in os.walk(folder):
            for name in names:
                _forget_file(Path(place, name))


def _forget_file(path: Path) -> None:
    if not hasattr(os, "posix_fadvise") or not path.is_file():
        return
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


if __name__ == "__main__":
    report(*measure())

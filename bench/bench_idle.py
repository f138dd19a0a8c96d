"""What does a server cost that nobody asks anything?

Measured:      processor time and memory of a server that follows its files, and of one
               beside it that waits for its turn, with everything they have started.
Not measured:  what a client costs, and the first moments, in which both settle.
Compared with: nothing; the memory at the end with the memory at the beginning.

Run it with ``python -m bench.bench_idle --minutes 60``. One line for each minute goes
to standard error, and Linux alone can say.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.corpus import write_vault
from bench.indexed import index
from bench.measured import Measured, report
from bench.wire import Wire, serving

PAGES = 3_000
MINUTES = 1.0
SETTLED_AFTER = 30.0
"""Seconds until what is only started for a while has ended."""

WORDS_ONLY = '[embedding]\nmodel = "none"\n'

_TICKS = os.sysconf("SC_CLK_TCK")
_KB_OF_PAGE = os.sysconf("SC_PAGE_SIZE") / 1_024


class Cost(NamedTuple):
    """What a process and those it has started have used, and use."""

    processor: float
    """Seconds."""
    memory: float
    """MB."""


def measure(minutes: float = MINUTES, pages: int = PAGES) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_vault(root, pages)
        (root / "ubp.toml").write_text(WORDS_ONLY, encoding="utf-8")
        index(root)
        with serving(root) as owner, serving(root, "--shared") as follower:
            for server in (owner, follower):
                server.call("ubp_fulltext_search", query="page")
            time.sleep(SETTLED_AFTER)
            servers = {"the owner": owner, "a follower": follower}
            return _watched(servers, minutes)


def _watched(servers: dict[str, Wire], minutes: float) -> list[Measured]:
    first = last = {name: _cost(each.pid) for name, each in servers.items()}
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < 60 * minutes:
        time.sleep(min(60.0, 60 * minutes - passed))
        last = {name: _cost(each.pid) for name, each in servers.items()}
        told = [f"{time.monotonic() - begun:6.0f} s"]
        told += [
            f"{name}: {c.processor:.2f} s, {c.memory:.1f} MB"
            for name, c in last.items()
        ]
        print(*told, sep="  ", file=sys.stderr, flush=True)
    seconds = time.monotonic() - begun
    lines: list[Measured] = []
    for name in servers:
        used = last[name].processor - first[name].processor
        growth = last[name].memory - first[name].memory
        note = f"{used:.2f} s in {seconds:.0f} s"
        lines += [
            Measured(f"idle, {name}, processor", 100 * used / seconds, "%", note=note),
            Measured(
                f"idle, {name}, memory",
                last[name].memory,
                "MB",
                last[name].memory / first[name].memory,
                "the beginning",
                f"{growth:+.2f} MB",
            ),
        ]
    return lines


def _cost(pid: int) -> Cost:
    """Of the process, of those it has started, and of those that have ended."""
    # After the name, which may hold anything: state, parent, …
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2]
    fields = stat.split(" ")
    ticks = sum(int(field) for field in fields[11:15])
    found = Cost(ticks / _TICKS, int(fields[21]) * _KB_OF_PAGE / 1_024)
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    for child in children.split():
        cost = _cost(int(child))
        found = Cost(found.processor + cost.processor, found.memory + cost.memory)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--minutes", type=float, default=MINUTES)
    options.add_argument("--pages", type=int, default=PAGES)
    chosen = options.parse_args()
    report(*measure(chosen.minutes, chosen.pages))


if __name__ == "__main__":
    main()

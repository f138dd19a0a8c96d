"""A short run against the budgets: ``make bench-check``. Exits 1 if one is exceeded."""

import sys

from rich.console import Console
from rich.table import Table

from bench import (
    bench_fulltext,
    bench_indexing,
    bench_load,
    bench_roundtrip,
    bench_startup,
)
from bench.budgets import Judged, judged
from bench.measured import Measured
from bench.scale import SHORT

MEASURED = (
    bench_roundtrip,
    bench_startup,
    bench_indexing,
    bench_fulltext,
    bench_load,
)
_ATTEMPTS = 2
"""A machine that is busy for a moment is not a slower product: what fails is measured
once more, and the better of both counts."""


def main() -> int:
    """Measure, compare, print; 1 if a budget is exceeded."""
    best: dict[str, Measured] = {}
    results: list[Judged] = []
    for _ in range(_ATTEMPTS):
        for module in MEASURED:
            for line in module.measure(SHORT):
                best[line.name] = _better(best.get(line.name), line)
        results = list(judged(best.values(), short=True))
        if all(result.kept for result in results):
            break
    Console().print(table(results))
    return 0 if all(result.kept for result in results) else 1


def _better(old: Measured | None, new: Measured) -> Measured:
    if old is None or old.ratio is None or new.ratio is None:
        return new
    return min(old, new, key=lambda line: line.ratio or 0.0)


def table(results: list[Judged]) -> Table:
    """Every budget, what was measured, and whether it was kept."""
    made = Table("what", "ratio", "budget", "", "against")
    for budget, most, line in results:
        ratio = "not measured" if line is None else f"{line.ratio:.2f}"
        kept = Judged(budget, most, line).kept
        against = "" if line is None else line.against
        verdict = "kept" if kept else "[red]EXCEEDED[/red]"
        made.add_row(budget.line, ratio, f"{most:.1f}", verdict, against)
    return made


if __name__ == "__main__":
    sys.exit(main())

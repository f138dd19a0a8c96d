"""Run every benchmark and print a table."""

from rich.console import Console
from rich.table import Table

from bench import (
    bench_alive,
    bench_board,
    bench_fulltext,
    bench_idle,
    bench_indexing,
    bench_notes,
    bench_registry,
    bench_startup,
    bench_vectors,
)

BENCHMARKS = (
    bench_startup,
    bench_indexing,
    bench_fulltext,
    bench_vectors,
    bench_notes,
    bench_registry,
    bench_board,
    bench_alive,
    bench_idle,
)


def main() -> None:
    table = Table("what", "value", "ratio", "to", "note")
    for benchmark in BENCHMARKS:
        for line in benchmark.measure():
            ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
            value = f"{line.value:.4g} {line.unit}"
            table.add_row(line.name, value, ratio, line.against, line.note)
    Console().print(table)


if __name__ == "__main__":
    main()

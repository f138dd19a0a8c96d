"""Run the benchmarks, print a table, and keep the lines for ``bench.publish``.

``python -m bench`` runs all, ``python -m bench startup load`` those two, and with
``--short`` it is less of each.
"""

import argparse
import importlib
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from bench.measured import Measured
from bench.scale import FULL, SHORT, Scale

SCALED = ("roundtrip", "startup", "indexing", "fulltext", "load", "peers")
"""These are measured on as much as is wanted, the others always on the same."""
FIXED = ("vectors", "notes", "registry", "board", "alive", "idle")


def main() -> None:
    asked = _asked()
    scale = SHORT if asked.short else FULL
    table = Table("what", "value", "ratio", "to", "note")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with asked.out.open("wb") as out:
        for name in asked.names or (*SCALED, *FIXED):
            for line in _measure(name, scale):
                out.write(msgspec.json.encode(line) + b"\n")
                ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
                value = f"{line.value:.4g} {line.unit}"
                table.add_row(line.name, value, ratio, line.against, line.note)
            out.flush()
    Console().print(table)


def _measure(name: str, scale: Scale) -> list[Measured]:
    module = importlib.import_module(f"bench.bench_{name}")
    arguments = (scale,) if name in SCALED else ()
    lines: list[Measured] = module.measure(*arguments)
    return lines


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=(*SCALED, *FIXED, []))
    parser.add_argument("--short", action="store_true", help="enough to see a change")
    parser.add_argument("--out", type=Path, default=Path("build/bench.jsonl"))
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""How good is search? Measured on relevance sets, through the index and the search.

Run it with ``python -m bench.quality --relevance DIR``; the README beside this file
says what the numbers mean.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import anyio
from rich.console import Console

from bench.quality.baselines import Baseline, read_baselines
from bench.quality.measuring import MeasuredSet, measure
from bench.quality.projects import say
from bench.quality.rankings import MODES, Mode
from bench.quality.reports import append_record, line, table, write_numbers
from bench.quality.sets import Broken, RelevanceSet, read_sets
from ubp import telemetry

__all__ = ("main",)

_WIDTH = 120
"""Columns of the table where there is no terminal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and tell: 0 fine, 1 some sets failed, 2 wrong usage or a broken set."""
    given = _parser().parse_args(arguments)
    try:
        sets = read_sets(given.relevance, given.sets)
        baselines = read_baselines(given.baselines) if given.baselines else None
    except Broken as error:
        say(f"Error: {error}")
        return 2
    # Standard output is for results; what goes wrong is said on standard error.
    telemetry.configure("warn")
    with ExitStack() as stack:
        work = given.work or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="ubp-quality-"))
        )
        work.mkdir(parents=True, exist_ok=True)
        try:
            return _measure(given, sets, baselines, work.resolve())
        except KeyboardInterrupt:
            say("Interrupted." + (" The same --work goes on." if given.work else ""))
            return 130


def _measure(
    given: argparse.Namespace,
    sets: Sequence[RelevanceSet],
    baselines: dict[str, Baseline] | None,
    work: Path,
) -> int:
    found: dict[str, MeasuredSet] = {}

    def in_order() -> list[MeasuredSet]:
        return [found[each.name] for each in sets if each.name in found]

    def done(measured: MeasuredSet) -> None:
        found[measured.name] = measured
        baseline = (baselines or {}).get(measured.name)
        print(line(measured, baseline), flush=True)
        if given.json:  # each time: an interrupted run has measured something too
            write_numbers(given.json, in_order())

    failed = anyio.run(measure, sets, given.modes, work, given.jobs, done)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, emoji=False)
    console.print(table(in_order(), baselines), highlight=False)
    if given.records and found:
        say(f"Recorded in {append_record(given.records, in_order())}.")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quality", description=__doc__.partition("\n")[0]
    )
    add = parser.add_argument
    add("--relevance", type=Path, required=True, metavar="DIR", help="folder of sets")
    add("--sets", type=_names, metavar="A,B", help="only these sets")
    add(
        "--modes",
        type=_modes,
        default=MODES,
        metavar="M,N",
        help=f"of {', '.join(MODES)}",
    )
    add("--json", type=Path, metavar="OUT", help="write the numbers to this file")
    add(
        "--work",
        type=Path,
        metavar="DIR",
        help="keep indexes and vectors here, for the next run",
    )
    add("--records", type=Path, metavar="DIR", help="add this run to the records here")
    add("--baselines", type=Path, metavar="FILE", help="numbers of others, as JSON")
    add(
        "--jobs",
        type=_count,
        default=1,
        metavar="N",
        help="corpora worked on at a time (1)",
    )
    return parser


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("names no set")
    return names


def _modes(text: str) -> tuple[Mode, ...]:
    wanted = _names(text)
    known: tuple[Mode, ...] = get_args(Mode)
    if unknown := [name for name in wanted if name not in known]:
        raise argparse.ArgumentTypeError(f"there is no mode {unknown[0]!r}")
    return tuple(mode for mode in known if mode in wanted)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("must be a number from 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

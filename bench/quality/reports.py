"""What is told of a run: a line for each set, a table, and files."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict
from rich import box
from rich.table import Table

from bench.quality.baselines import TOLERATED, Baseline
from bench.quality.measuring import Level, MeasuredSet
from bench.quality.rankings import MODES, Mode
from bench.quality.score import Scores, mean
from ubp import __version__

__all__ = ("append_record", "line", "numbers", "table", "write_numbers")

_NONE = "–"
_SHOWN = ("ndcg", "recall", "mrr")
"""What ``--json`` has of each level."""

_RECORDS = "runs.jsonl"


def line(measured: MeasuredSet, baseline: Baseline | None) -> str:
    """A set on one line: nDCG of pages, and of sections where there are any."""
    parts = [f"{measured.name:<14}"]
    for mode, level in measured.modes.items():
        shown = _pair(measured, mode, level)
        parts.append(f"{mode} {'/'.join(shown)}")
    if baseline is not None and "hybrid" in measured.modes:
        best = (baseline.best_document, baseline.best_section)
        parts.append(f"baseline {'/'.join(_number(each) for each in best)}")
        parts.append(_mark(measured.modes["hybrid"], baseline))
    if measured.unnamed:
        parts.append(
            f"({measured.unnamed} of {measured.section_queries} queries want headings "
            "the index does not have)"
        )
    return "  ".join(part for part in parts if part)


def table(
    sets: Sequence[MeasuredSet], baselines: Mapping[str, Baseline] | None
) -> Table:
    """All sets, a row for each mode, and the means of all sets below."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("set", no_wrap=True)
    shown.add_column("mode")
    names = ["queries", "document nDCG", "hit@1", "hit@3", "section nDCG"]
    if baselines is not None:
        names += ["best baseline", "section"]
    for name in names:
        shown.add_column(name, justify="right")
    shown.add_column("")
    for measured in sets:
        _add_set(shown, measured, baselines)
    _add_means(shown, sets, baselines is not None)
    return shown


def numbers(sets: Iterable[MeasuredSet]) -> dict[str, Any]:
    """``{set: {mode: {level: {ndcg, recall, mrr}}}}``."""
    return {
        measured.name: {
            mode: {
                name: {key: rounded[key] for key in _SHOWN}
                for name, rounded in _levels(level).items()
            }
            for mode, level in measured.modes.items()
        }
        for measured in sets
    }


def write_numbers(file: Path, sets: Iterable[MeasuredSet]) -> None:
    """Write them whole: whoever reads while we go on sees no half of a file."""
    encoded = msgspec.json.format(msgspec.json.encode(numbers(sets)), indent=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    coming = file.with_name(f"{file.name}.part")
    coming.write_bytes(encoded + b"\n")
    coming.replace(file)


def append_record(folder: Path, sets: Sequence[MeasuredSet]) -> Path:
    """Add a line for this run to the records in *folder*; their file."""
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "model": sorted({each.corpus.model for each in sets if each.corpus.model}),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}",
        "sets": {each.name: _recorded(each) for each in sets},
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _RECORDS
    with file.open("ab") as records:
        records.write(msgspec.json.encode(record) + b"\n")
    return file


def _recorded(measured: MeasuredSet) -> dict[str, Any]:
    return {
        "queries": measured.queries,
        "section_queries": measured.section_queries,
        "with_vector": measured.with_vector,
        "unnamed": measured.unnamed,
        "pages": measured.corpus.pages,
        "sections": measured.corpus.sections,
        "modes": {mode: _levels(level) for mode, level in measured.modes.items()},
    }


def _levels(level: Level) -> dict[str, dict[str, float]]:
    found = {"document": _rounded(level.document)}
    if level.section is not None:
        found["section"] = _rounded(level.section)
    return found


def _rounded(scores: Scores) -> dict[str, float]:
    return {key: round(value, 4) for key, value in asdict(scores).items()}


def _add_set(
    shown: Table, measured: MeasuredSet, baselines: Mapping[str, Baseline] | None
) -> None:
    baseline = (baselines or {}).get(measured.name, Baseline())
    for number, (mode, level) in enumerate(measured.modes.items()):
        last = number == len(measured.modes) - 1
        nothing = _found_nothing(measured, mode)
        cells = [
            "" if number else measured.name,
            mode,
            _asked(measured, mode),
            *_cells(level, nothing=nothing),
        ]
        mark = ""
        if baselines is not None:
            of_ours = mode == "hybrid"
            best = (baseline.best_document, baseline.best_section)
            cells += [_number(each) if of_ours else "" for each in best]
            mark = _mark(level, baseline) if of_ours else ""
        shown.add_row(*cells, mark, end_section=last)


def _add_means(shown: Table, sets: Sequence[MeasuredSet], compared: bool) -> None:
    used = [mode for mode in MODES if any(mode in each.modes for each in sets)]
    for number, mode in enumerate(used):
        levels = [each.modes[mode] for each in sets]
        sections = [each.section for each in levels if each.section is not None]
        means = Level(
            mean([each.document for each in levels]),
            mean(sections) if sections else None,
        )
        name = "" if number else f"mean of {len(levels)}"
        blank = [""] * (2 if compared else 0)
        shown.add_row(name, mode, "", *_cells(means, nothing=False), *blank, "")


def _cells(level: Level, *, nothing: bool) -> list[str]:
    if nothing:
        return [_NONE] * 4
    document = level.document
    section = None if level.section is None else level.section.ndcg
    values = (document.ndcg, document.hit1, document.hit3, section)
    return [_number(each) for each in values]


def _pair(measured: MeasuredSet, mode: Mode, level: Level) -> list[str]:
    document, *_, section = _cells(level, nothing=_found_nothing(measured, mode))
    return [document, section]


def _asked(measured: MeasuredSet, mode: Mode) -> str:
    if mode != "vector" or measured.with_vector == measured.queries:
        return str(measured.queries)
    return f"{measured.with_vector} of {measured.queries}"


def _found_nothing(measured: MeasuredSet, mode: Mode) -> bool:
    """Whether the model knows the language of no query: that is no failure of it."""
    return mode == "vector" and not measured.with_vector


def _mark(level: Level, baseline: Baseline) -> str:
    """By how much it is below the best of others, where that is too much."""
    section = None if level.section is None else level.section.ndcg
    compared = (
        ("", level.document.ndcg, baseline.best_document),
        (" (section)", section, baseline.best_section),
    )
    return ", ".join(
        f"▼ {best - ours:.3f} below{where}"
        for where, ours, best in compared
        if ours is not None and best is not None and best - ours > TOLERATED
    )


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"

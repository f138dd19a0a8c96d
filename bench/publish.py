"""Write what was measured into ``docs/performance.md``, with its charts.

Takes the lines of a run of ``make bench``. What stands between the two marks of the
page is replaced; the rest of it is written by people.
"""

import os
import platform
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bench.budgets import judged
from bench.measured import Measured

__all__ = ("publish",)

_DOCS = Path(__file__).parents[1] / "docs"
_PAGE = _DOCS / "performance.md"
_CHARTS = _DOCS / "performance"
_BEGIN = "<!-- measured: begin -->\n"
_END = "<!-- measured: end -->\n"


def publish(lines: list[Measured]) -> None:
    """Replace tables and charts by those of *lines*."""
    text = _PAGE.read_text(encoding="utf-8")
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    parts = [_machine(), *_bars(lines), *_charts(lines), *_table(lines)]
    measured = "\n".join(parts)
    page = f"{before}{_BEGIN}\n{measured}\n\n{_END}{after}"
    _PAGE.write_text(page, encoding="utf-8")


def _machine() -> str:
    today = datetime.now(UTC).date().isoformat()
    python = platform.python_version()
    return (
        f"Measured on {today}, {platform.system()}, Python {python}, "
        f"{os.cpu_count()} processors.\n"
    )


def _bars(lines: Iterable[Measured]) -> Iterator[str]:
    yield "## Budgets\n"
    yield "| what | ratio | budget | |\n|---|---|---|---|"
    for result in judged(lines):
        ratio = result.line.ratio if result.line is not None else None
        shown = "not measured" if ratio is None else f"{ratio:.2f}"
        verdict = "met" if result.kept else "**not met**"
        yield f"| {result.budget.why} | {shown} | {result.most:.1f} | {verdict} |"
    yield ""


def _charts(lines: Iterable[Measured]) -> Iterator[str]:
    charts: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for line in lines:
        if line.chart and line.at is not None:
            series = charts.setdefault(line.chart, defaultdict(list))
            series[line.series].append((line.at, line.value))
    if charts:
        yield "## Charts\n"
    for number, (title, series) in enumerate(charts.items(), start=1):
        _CHARTS.mkdir(exist_ok=True)
        name = f"chart-{number}.svg"
        _draw(title, series, _CHARTS / name)
        yield f"![{title}](performance/{name})\n"


def _draw(title: str, series: dict[str, list[tuple[float, float]]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "ubp"  # the same lines give the same file
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    drawing: Any = axes
    for name, points in series.items():
        across, up = zip(*sorted(points), strict=True)
        drawing.plot(across, up, marker="o", label=name)
    drawing.set_xscale("log")
    drawing.set_yscale("log" if len(series) > 1 else "linear")
    drawing.set_title(title)
    drawing.grid(visible=True, alpha=0.3)
    drawing.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _table(lines: Iterable[Measured]) -> Iterator[str]:
    yield "## Everything\n"
    yield "| what | value | ratio | to | |\n|---|---|---|---|---|"
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        value = f"{line.value:.4g} {line.unit}" if line.unit else ""
        yield f"| {line.name} | {value} | {ratio} | {line.against} | {line.note} |"


if __name__ == "__main__":
    with Path(sys.argv[1]).open("rb") as file:
        publish([msgspec.json.decode(line, type=Measured) for line in file])

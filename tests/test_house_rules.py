"""Where SQL may live, who may open channels, and what must never be written."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ubp"
MODULES = sorted(PACKAGE.rglob("*.py"))
SQL = re.compile(
    r'"[^"]*\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)\b'
)
SQL_MODULES = {"queries.py", "writes.py"}


def name(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_sql_is_only_where_it_may_live(module: Path) -> None:
    where = name(module)
    allowed = where.startswith("store/") or (
        where.startswith("packs/") and module.name in SQL_MODULES
    )
    text = " ".join(module.read_text(encoding="utf-8").split())
    assert allowed or not SQL.search(text)


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_no_channel_is_unbounded(module: Path) -> None:
    text = module.read_text(encoding="utf-8")

    assert "math.inf" not in text
    assert re.findall(r"channel\[.*\]\(\)", text) == []


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_only_the_boundaries_catch_everything(module: Path) -> None:
    """Elsewhere a bug is a crash, and the supervisor's business."""
    boundaries = {
        "actors/embedding_child.py",
        "actors/supervisor.py",
        "actors/tool_runner.py",
        "actors/reading_child.py",
        "cli/__init__.py",
        "protocol/server.py",
        "store/session.py",
    }
    catches = re.findall(r"except (?:Base)?Exception\b", module.read_text("utf-8"))
    raises = "raise\n" in module.read_text("utf-8")
    assert not catches or name(module) in boundaries or raises


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_says_what_it_is_for(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert not text.strip() or text.startswith('"""')


def test_there_is_no_drawer() -> None:
    drawers = {"utils", "helpers", "common", "core", "base", "manager", "misc"}
    assert [name(m) for m in MODULES if m.stem in drawers] == []

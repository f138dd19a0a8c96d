"""Whether a page still says what its sources do, judged from the files as they are."""

import os
import time
from pathlib import Path

import pytest
from vaults import page, vault, write_files

from ubp.packs.docs.records import SourceRef
from ubp.packs.docs.staleness import StaleRef, Verdict, judge

WEEK = 7
DAY = 86_400


def baseline(root: Path, *paths: str) -> tuple[SourceRef, ...]:
    """The sources of a page that names *paths*, as they are now."""
    listed = "".join(f"- {path}\n" for path in paths)
    text = f"---\nsource_refs:\n{listed}---\n"
    return page(text, "page.md", vault(root, {})).source_refs


def change(file: Path, *, days_ago: float = 0) -> None:
    """Give *file* another text, modified so long ago."""
    file.write_text(f"{file.read_text(encoding='utf-8')} changed", encoding="utf-8")
    modified = time.time() - days_ago * DAY
    os.utime(file, (modified, modified))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path, {"a.py": "a", "b.py": "b", "c.py": "c"})
    return tmp_path


def test_page_without_sources_is_untracked(root: Path) -> None:
    assert judge((), root, WEEK) == Verdict("untracked")


def test_unchanged_sources_are_fresh(root: Path) -> None:
    refs = baseline(root, "a.py", "b.py")

    assert judge(refs, root, WEEK) == Verdict("fresh")


def test_source_changed_now_is_possibly_stale(root: Path) -> None:
    refs = baseline(root, "a.py", "b.py")

    change(root / "b.py")

    assert judge(refs, root, WEEK) == Verdict(
        "possibly_stale", (StaleRef("b.py", "modified"),)
    )


def test_source_changed_long_ago_is_stale(root: Path) -> None:
    refs = baseline(root, "a.py")

    change(root / "a.py", days_ago=30)

    assert judge(refs, root, WEEK) == Verdict("stale", (StaleRef("a.py", "modified"),))


@pytest.mark.parametrize(
    ("days_ago", "threshold", "staleness"),
    [
        (6.99, 7, "possibly_stale"),
        (7.01, 7, "stale"),
        (0.4, 0.5, "possibly_stale"),
        (0.6, 0.5, "stale"),
        (0.01, 0, "stale"),
        (1_000, float("inf"), "possibly_stale"),
    ],
)
def test_threshold_is_in_days(
    root: Path, days_ago: float, threshold: float, staleness: str
) -> None:
    refs = baseline(root, "a.py")

    change(root / "a.py", days_ago=days_ago)

    assert judge(refs, root, threshold).staleness == staleness


@pytest.mark.parametrize(("old", "new"), [("a.py", "b.py"), ("b.py", "a.py")])
def test_latest_change_decides(root: Path, old: str, new: str) -> None:
    refs = baseline(root, "a.py", "b.py")

    change(root / old, days_ago=30)
    change(root / new, days_ago=1)

    assert judge(refs, root, WEEK) == Verdict(
        "possibly_stale", (StaleRef("a.py", "modified"), StaleRef("b.py", "modified"))
    )


def test_age_of_an_unchanged_source_does_not_count(root: Path) -> None:
    refs = baseline(root, "a.py", "b.py")

    change(root / "a.py", days_ago=30)
    os.utime(root / "b.py")

    assert judge(refs, root, WEEK).staleness == "stale"


def test_deleted_source_is_stale_whatever_else_changed(root: Path) -> None:
    refs = baseline(root, "a.py", "b.py", "missing.py")

    change(root / "a.py")
    (root / "b.py").unlink()

    assert judge(refs, root, WEEK) == Verdict(
        "stale",
        (
            StaleRef("a.py", "modified"),
            StaleRef("b.py", "deleted"),
            StaleRef("missing.py", "not_found"),
        ),
    )


def test_source_replaced_by_a_folder_is_deleted(root: Path) -> None:
    refs = baseline(root, "a.py")

    (root / "a.py").unlink()
    (root / "a.py").mkdir()

    assert judge(refs, root, WEEK) == Verdict("stale", (StaleRef("a.py", "deleted"),))


@pytest.mark.timeout(1)
def test_source_replaced_by_a_pipe_is_deleted(root: Path) -> None:
    refs = baseline(root, "a.py")

    (root / "a.py").unlink()
    os.mkfifo(root / "a.py")

    assert judge(refs, root, WEEK) == Verdict("stale", (StaleRef("a.py", "deleted"),))


def test_source_that_was_never_there_is_untracked(root: Path) -> None:
    refs = baseline(root, "a.py", "missing.py")

    assert judge(refs, root, WEEK) == Verdict(
        "untracked", (StaleRef("missing.py", "not_found"),)
    )


def test_source_that_appeared_since_is_still_untracked(root: Path) -> None:
    refs = baseline(root, "later.py")

    write_files(root, {"later.py": ""})

    assert judge(refs, root, WEEK).staleness == "untracked"


def test_change_outweighs_a_source_that_was_never_there(root: Path) -> None:
    refs = baseline(root, "missing.py", "a.py")

    change(root / "a.py")

    assert judge(refs, root, WEEK) == Verdict(
        "possibly_stale",
        (StaleRef("missing.py", "not_found"), StaleRef("a.py", "modified")),
    )


def test_touched_source_with_the_same_text_is_fresh(root: Path) -> None:
    refs = baseline(root, "a.py")

    os.utime(root / "a.py", (1, 1))

    assert judge(refs, root, WEEK) == Verdict("fresh")


def test_source_changed_back_is_fresh_again(root: Path) -> None:
    refs = baseline(root, "a.py")
    change(root / "a.py")
    assert judge(refs, root, WEEK).staleness == "possibly_stale"

    (root / "a.py").write_text("a", encoding="utf-8")

    assert judge(refs, root, WEEK) == Verdict("fresh")


def test_source_is_looked_at_again_each_time(root: Path) -> None:
    refs = baseline(root, "a.py")

    assert judge(refs, root, WEEK).staleness == "fresh"
    change(root / "a.py")
    assert judge(refs, root, WEEK).staleness == "possibly_stale"
    (root / "a.py").unlink()
    assert judge(refs, root, WEEK).staleness == "stale"


def test_reading_the_page_again_sets_a_new_baseline(root: Path) -> None:
    change(root / "a.py", days_ago=30)

    assert judge(baseline(root, "a.py"), root, WEEK) == Verdict("fresh")

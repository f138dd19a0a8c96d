"""Two packs that read the same files."""

from pathlib import Path

import pytest
from databases import fresh
from models import OFF, tiny_model
from vaults import vault

from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan, _watched
from ubp.actors.wiring import index_once
from ubp.cli import file_reports
from ubp.packs import discover
from ubp.project import Project, open_project
from ubp.reading.source import Source
from ubp.reading.walk import Found, Refused, walk, wanted
from ubp.store.session import reading

BOTH = [pack for pack in discover() if pack.name in ("docs", "notes")]
SETTINGS = {"ubp.toml": OFF}


async def indexed(project: Project, scan: Scan | None = None) -> Progress:
    progress = Progress()
    await index_once(project, BOTH, scan or Scan(), progress, embed=False)
    return progress


async def counts(project: Project) -> tuple[int, int]:
    """How many pages and notes there are."""
    async with reading(project.database) as session:
        pages = await session.run(
            lambda db: db.execute("SELECT count(*) FROM docs_page").get
        )
        notes = await session.run(
            lambda db: db.execute("SELECT count(*) FROM notes_note").get
        )
    return pages, notes


async def test_a_file_of_both_is_counted_and_told_of_once(tmp_path: Path) -> None:
    project = vault(
        tmp_path, {**SETTINGS, "docs/a.md": "A", "docs/b.md": "---\na: [\n---\nB"}
    )
    (tmp_path / "docs/c.md").write_bytes(b"\xff")

    progress = await indexed(project)

    assert (progress.seen, progress.stored, progress.failed) == (3, 2, 1)
    assert await counts(project) == (2, 2)
    where = file_reports.folders(project, BOTH)
    async with reading(project.database) as session:
        failures = await session.run(file_reports.failures, where)
        warnings = await session.run(file_reports.warnings, where)
        (tmp_path / "docs/new.md").write_text("New", encoding="utf-8")
        waiting = await session.run(file_reports.waiting, project, BOTH)
    assert [each.path for each in failures] == ["c.md"]
    assert [each.path for each in warnings] == ["b.md"]
    assert waiting == 1
    (tmp_path / "docs/a.md").unlink()
    assert (await indexed(project)).removed == 1
    assert await counts(project) == (2, 2)


@pytest.mark.slow
async def test_texts_of_a_pack_that_is_not_enabled_are_embedded_as_they_are(
    tmp_path: Path,
) -> None:
    found = []
    for name, packs in (("both", BOTH), ("one", BOTH[:1])):
        root = tmp_path / name
        root.mkdir()
        tiny_model(root / "tiny-en-a.gguf")
        settings = '[embedding]\nmodel = "tiny-en-a.gguf"\n'
        project = vault(root, {"ubp.toml": settings, "docs/a.md": "# Cat\n\ncat dog"})
        await indexed(project)

        await index_once(project, packs, Scan(), Progress())

        async with reading(project.database) as session:
            found.append(
                await session.run(
                    lambda db: db.execute(
                        "SELECT digest, part, value FROM vector ORDER BY digest, part"
                    ).fetchall()
                )
            )
    assert len(found[0]) == 2
    assert found[0] == found[1]


async def test_one_file_alone_is_read_by_both(tmp_path: Path) -> None:
    project = vault(tmp_path, {**SETTINGS, "docs/a.md": "A", "docs/b.md": "B"})

    progress = await indexed(project, Scan(only=tmp_path / "docs/a.md"))

    assert (progress.seen, progress.stored) == (1, 1)
    assert await counts(project) == (1, 1)


async def test_a_moved_file_stays_itself_for_both(tmp_path: Path) -> None:
    project = vault(tmp_path, {**SETTINGS, "docs/a.md": "A walrus"})
    await indexed(project)

    (tmp_path / "docs/a.md").rename(tmp_path / "docs/z.md")
    await indexed(project)

    async with reading(project.database) as session:
        rows = await session.run(
            lambda db: db.execute("SELECT id, path FROM notes_note").fetchall()
        )
    assert rows == [(1, "docs/z.md")]


def test_a_folder_of_both_is_watched_once(tmp_path: Path) -> None:
    project = vault(tmp_path, {"docs/a.md": ""})
    sources = [pack.reading.source(project) for pack in BOTH if pack.reading]

    assert [each.folder for each in _watched(sources)] == [tmp_path / "docs"]

    vault(tmp_path, {"ubp.toml": '[notes]\ndirs = ["x", "y"]\n'})
    project = open_project(tmp_path)
    sources = [pack.reading.source(project) for pack in BOTH if pack.reading]
    assert [each.folder.name for each in _watched(sources)] == ["docs", "x", "y"]


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("", ["a/1.md", "b/c/2.md", "b/c/x/3.md"]),
        ("a", ["a/1.md"]),
        ("b", ["b/c/2.md", "b/c/x/3.md"]),
        ("b/c", ["b/c/2.md", "b/c/x/3.md"]),
        ("b/c/x", ["b/c/x/3.md"]),
        ("b/c/2.md", ["b/c/2.md"]),
        ("other", []),
        ("ab", []),
    ],
)
def test_a_source_of_several_folders_is_all_of_them(
    tmp_path: Path, below: str, expected: list[str]
) -> None:
    names = ["a/1.md", "b/c/2.md", "b/c/x/3.md", "b/4.md", "other/5.md", "ab/6.md"]
    vault(tmp_path, dict.fromkeys(names, ""))
    source = Source(tmp_path, ["**/*.md"], [], ".md", tops=("a", "b/c"))

    found = walk(source, below)

    assert sorted(each.path for each in found) == expected
    assert [name for name in names if wanted(source)(name)] == names[:3]


def test_a_folder_that_is_away_takes_nothing_with_it(tmp_path: Path) -> None:
    vault(tmp_path, {"a/1.md": ""})
    source = Source(tmp_path, ["**/*.md"], [], ".md", tops=("a", "away"))

    found = sorted(walk(source), key=lambda each: each.path)

    assert isinstance(found[0], Found)
    assert found[1] == Refused("away", "The folder is not there.", folder=True)


def test_migrations_of_both_are_in_one_database() -> None:
    names = {name for (name,) in fresh().execute("SELECT name FROM sqlite_schema")}

    assert {"docs_page", "notes_note"} <= names

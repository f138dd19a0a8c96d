"""The watcher: disk compared with index."""

from pathlib import Path

import anyio
import pytest
from waiting import soon

from ubp.actors.ports import channel
from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan, Watcher
from ubp.actors.wiring import index_once, prepare_database
from ubp.messages import FileChanged, FileEvent, FileGone, ParseFailed, ScanFinished
from ubp.packs import discover
from ubp.packs.docs.records import READER
from ubp.project import Project, open_project
from ubp.reading.walk import stamp_of
from ubp.store.session import reading, writing

FINGERPRINTS = {"docs": f"{READER}:"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "docs").mkdir()
    found = open_project(tmp_path)
    found.prepare()
    return found


async def scanned(project: Project, scan: Scan | None = None) -> list[FileEvent]:
    """Every event of one comparison."""
    packs = discover()
    async with writing(project.database) as session:
        await session.run(prepare_database)
    outbox, inbox = channel[FileEvent](100)
    async with reading(project.database) as index:
        watcher = Watcher(
            outbox,
            sources={
                pack.name: pack.reading.source(project)
                for pack in packs
                if pack.reading is not None
            },
            fingerprints=FINGERPRINTS,
            index=index,
            scan=scan or Scan(),
            stop=anyio.Event(),
            progress=Progress(),
        )
        await watcher.run()
        watcher.close()
    with inbox:
        return [event async for event in inbox]


async def test_a_new_file_is_reported_and_then_the_end(project: Project) -> None:
    (project.docs_dir / "a.md").write_text("# A\n", encoding="utf-8")

    stamp = stamp_of((project.docs_dir / "a.md").stat())
    assert await scanned(project) == [
        FileChanged("docs", "a.md", stamp),
        ScanFinished(1, 1, 0, FINGERPRINTS),
    ]


async def test_what_is_indexed_and_unchanged_is_not_reported(project: Project) -> None:
    (project.docs_dir / "a.md").write_text("# A\n", encoding="utf-8")
    await index_once(project, discover(), Scan(), Progress(), embed=False)

    assert await scanned(project) == [ScanFinished(1, 0, 0, FINGERPRINTS)]


async def test_a_touched_file_is_reported_with_the_digest_we_know(
    project: Project,
) -> None:
    page = project.docs_dir / "a.md"
    page.write_text("# A\n", encoding="utf-8")
    await index_once(project, discover(), Scan(), Progress(), embed=False)
    page.write_text("# B\n", encoding="utf-8")

    [event, _] = await scanned(project)

    assert isinstance(event, FileChanged)
    assert event.digest is not None


async def test_a_deleted_file_is_reported_as_gone(project: Project) -> None:
    page = project.docs_dir / "a.md"
    page.write_text("# A\n", encoding="utf-8")
    await index_once(project, discover(), Scan(), Progress(), embed=False)
    page.unlink()

    assert await scanned(project) == [
        FileGone("docs", "a.md"),
        ScanFinished(0, 0, 1, FINGERPRINTS),
    ]


async def test_a_link_out_of_the_folder_is_refused_once(project: Project) -> None:
    (project.root / "secret.md").write_text("# S\n", encoding="utf-8")
    (project.docs_dir / "leak.md").symlink_to(project.root / "secret.md")

    [refused, _] = await scanned(project)

    assert isinstance(refused, ParseFailed)
    await index_once(project, discover(), Scan(), Progress(), embed=False)
    assert await scanned(project) == [ScanFinished(1, 0, 0, FINGERPRINTS)]


async def test_one_file_alone_leaves_the_others_unmentioned(project: Project) -> None:
    for name in "ab":
        (project.docs_dir / f"{name}.md").write_text("# X\n", encoding="utf-8")
    await index_once(project, discover(), Scan(), Progress(), embed=False)
    (project.docs_dir / "a.md").unlink()

    events = await scanned(project, Scan(force=True, only="b.md"))

    stamp = stamp_of((project.docs_dir / "b.md").stat())
    assert events == [
        FileChanged("docs", "b.md", stamp, reset=True),
        ScanFinished(1, 1, 0),
    ]


async def test_a_folder_that_vanished_takes_nothing_from_the_index(
    project: Project,
) -> None:
    """An unmounted disk is not a deletion of everything on it."""
    (project.docs_dir / "a.md").write_text("# A\n", encoding="utf-8")
    await index_once(project, discover(), Scan(), Progress(), embed=False)
    reader = discover()[0].reading
    assert reader is not None
    source = reader.source(project)
    project.docs_dir.rename(project.root / "elsewhere")

    outbox, inbox = channel[FileEvent](100)
    async with reading(project.database) as index:
        watcher = Watcher(
            outbox,
            sources={"docs": source},
            fingerprints=FINGERPRINTS,
            index=index,
            scan=Scan(),
            stop=anyio.Event(),
            progress=Progress(),
        )
        await watcher.run()
        watcher.close()
    with inbox:
        events = [event async for event in inbox]

    assert [event for event in events if isinstance(event, FileGone)] == []


async def test_a_full_parser_makes_the_watcher_wait(project: Project) -> None:
    """Back-pressure: nothing is dropped, nothing is buffered beyond the channel."""
    for number in range(5):
        (project.docs_dir / f"{number}.md").write_text("# X\n", encoding="utf-8")
    packs = discover()
    async with writing(project.database) as session:
        await session.run(prepare_database)
    outbox, inbox = channel[FileEvent](1)
    progress = Progress()
    reader = packs[0].reading
    assert reader is not None
    async with reading(project.database) as index:
        watcher = Watcher(
            outbox,
            sources={"docs": reader.source(project)},
            fingerprints=FINGERPRINTS,
            index=index,
            scan=Scan(),
            stop=anyio.Event(),
            progress=progress,
        )
        with outbox, inbox:
            async with anyio.create_task_group() as group:
                group.start_soon(watcher.run)
                first = await soon(inbox)
                await anyio.wait_all_tasks_blocked()

                # One in our hands, one in the channel, one the watcher holds.
                assert isinstance(first, FileChanged)
                assert progress.found <= 3

                rest = [await soon(inbox) for _ in range(5)]
                assert isinstance(rest[-1], ScanFinished)

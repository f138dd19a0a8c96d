"""The watcher: disk compared with index."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus
from vaults import write_files
from waiting import soon, until

from ubp.actors import quiet
from ubp.actors import watcher as watching
from ubp.actors.notices import Notice
from ubp.actors.ports import Inbox, Outbox, channel
from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan, Watcher
from ubp.actors.wiring import index_once, prepare_database
from ubp.messages import FileChanged, FileEvent, FileGone, ParseFailed, ScanFinished
from ubp.packs import enabled
from ubp.packs.docs.records import READER
from ubp.project import Project, open_project
from ubp.reading.source import Source
from ubp.reading.walk import Found, Refused, stamp_of, walk
from ubp.store.session import reading, writing

DOCS = enabled(["docs"])
"""One pack, so that every number is of files."""

FINGERPRINTS = {"docs": f"{READER}:"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "docs").mkdir()
    found = open_project(tmp_path)
    found.prepare()
    return found


async def scanned(project: Project, scan: Scan | None = None) -> list[FileEvent]:
    """Every event of one comparison."""
    packs = DOCS
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
    await index_once(project, DOCS, Scan(), Progress(), embed=False)

    assert await scanned(project) == [ScanFinished(1, 0, 0, FINGERPRINTS)]


async def test_a_touched_file_is_reported_with_the_digest_we_know(
    project: Project,
) -> None:
    page = project.docs_dir / "a.md"
    page.write_text("# A\n", encoding="utf-8")
    await index_once(project, DOCS, Scan(), Progress(), embed=False)
    page.write_text("# B\n", encoding="utf-8")

    [event, _] = await scanned(project)

    assert isinstance(event, FileChanged)
    assert event.digest is not None


async def test_a_deleted_file_is_reported_as_gone(project: Project) -> None:
    page = project.docs_dir / "a.md"
    page.write_text("# A\n", encoding="utf-8")
    await index_once(project, DOCS, Scan(), Progress(), embed=False)
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
    await index_once(project, DOCS, Scan(), Progress(), embed=False)
    assert await scanned(project) == [ScanFinished(1, 0, 0, FINGERPRINTS)]


async def test_one_file_alone_leaves_the_others_unmentioned(project: Project) -> None:
    for name in "ab":
        (project.docs_dir / f"{name}.md").write_text("# X\n", encoding="utf-8")
    await index_once(project, DOCS, Scan(), Progress(), embed=False)
    (project.docs_dir / "a.md").unlink()

    events = await scanned(project, Scan(force=True, only=project.docs_dir / "b.md"))

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
    await index_once(project, DOCS, Scan(), Progress(), embed=False)
    reader = DOCS[0].reading
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
    packs = DOCS
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


# -- while the server runs -------------------------------------------------------------


class Following:
    """A watcher that is given notices by hand, and whose events nobody carries out."""

    def __init__(
        self,
        project: Project,
        watcher: Watcher,
        heard: Outbox[Notice],
        events: Inbox[FileEvent],
    ) -> None:
        self.watcher = watcher
        self._folder = project.docs_dir
        self._heard = heard
        self._events = events

    async def notice(self, *paths: str) -> None:
        """Something stirred at *paths*, or anywhere."""
        absolute = frozenset(str(self._folder / path) for path in paths)
        await self._heard.send(Notice(absolute, everything=not paths))

    async def to_be_sure(self) -> threading.Event:
        """Nothing stirred, and everything is to be looked at; set if there is more."""
        surprise = threading.Event()
        await self._heard.send(Notice(frozenset(), everything=True, surprise=surprise))
        return surprise

    async def next(self) -> tuple[type[FileEvent], str]:
        """Of the next event the kind and the path."""
        while True:
            event = await soon(self._events)
            match event:
                case (
                    FileChanged(path=path)
                    | FileGone(path=path)
                    | ParseFailed(path=path)
                ):
                    return type(event), path
                case _:
                    pass

    async def nothing_but(self, kind: type[FileEvent]) -> None:
        """The very next event is of this kind."""
        assert isinstance(await soon(self._events), kind)

    async def nothing_but_the_end(self) -> None:
        await self.nothing_but(ScanFinished)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "QUIET", 0.02)


@asynccontextmanager
async def following(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Following]:
    given: list[Outbox[Notice]] = []

    async def by_hand(
        _: object, __: object, heard: Outbox[Notice], *, task_status: TaskStatus[None]
    ) -> None:
        given.append(heard)
        task_status.started()
        await anyio.sleep_forever()

    monkeypatch.setattr(watching, "watch_folder", by_hand)
    async with writing(project.database) as session:
        await session.run(prepare_database)
    outbox, inbox = channel[FileEvent](100)
    reader = DOCS[0].reading
    assert reader is not None
    async with (
        outbox,
        inbox,
        reading(project.database) as index,
        anyio.create_task_group() as group,
    ):
        watcher = Watcher(
            outbox,
            sources={"docs": reader.source(project)},
            fingerprints=FINGERPRINTS,
            index=index,
            scan=Scan(watch="auto"),
            stop=anyio.Event(),
            progress=Progress(),
        )
        group.start_soon(watcher.run)

        async def has_begun() -> bool:
            return bool(given)

        await until(has_begun)
        yield Following(project, watcher, given[0], inbox)
        group.cancel_scope.cancel()


def write(project: Project, *paths: str, text: str = "# A") -> None:
    write_files(project.docs_dir, dict.fromkeys(paths, text))


async def indexed(project: Project) -> None:
    await index_once(project, DOCS, Scan(), Progress(), embed=False)


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("place", [(), (".",), ("a",), ("a/x.md",)])
async def test_a_file_deleted_on_its_way_is_gone_whatever_is_looked_at(
    project: Project, monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...]
) -> None:
    write(project, "a/x.md")
    async with following(project, monkeypatch) as watcher:
        assert await watcher.next() == (FileChanged, "a/x.md")
        await watcher.nothing_but_the_end()
        (project.docs_dir / "a/x.md").unlink()
        await watcher.notice(*place)

        assert await watcher.next() == (FileGone, "a/x.md")


@pytest.mark.usefixtures("hurry")
async def test_what_is_in_a_folder_that_vanished_is_not_gone_even_on_its_way(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "x.md")
    async with following(project, monkeypatch) as watcher:
        assert await watcher.next() == (FileChanged, "x.md")
        project.docs_dir.rename(project.root / "away")
        await watcher.notice()

        assert await watcher.next() == (ParseFailed, "")


@pytest.mark.usefixtures("hurry")
async def test_what_was_sent_is_forgotten_when_the_index_has_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody counts here what is done, as when a batch was lost with its parser."""
    write(project, "x.md", "lost.md")
    async with following(project, monkeypatch) as watcher:
        for path in ("lost.md", "x.md"):
            assert await watcher.next() == (FileChanged, path)
        await watcher.nothing_but_the_end()
        lost = (project.docs_dir / "lost.md").rename(project.root / "lost.md")
        await indexed(project)
        lost.rename(project.docs_dir / "lost.md")
        await watcher.notice()

        assert await watcher.next() == (FileChanged, "lost.md")
        assert watcher.watcher._on_their_way["docs"].keys() == {"lost.md"}


@pytest.mark.usefixtures("hurry")
async def test_comparing_everything_for_nothing_says_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is done every now and then, and must not write to the index each time."""
    write(project, "x.md")
    await indexed(project)
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()
        for _ in range(3):
            await watcher.notice()
            await anyio.sleep(0.1)
        write(project, "x.md", text="# B")
        await watcher.notice()

        await watcher.nothing_but(FileChanged)
        await watcher.nothing_but_the_end()


@pytest.mark.usefixtures("hurry")
async def test_what_nobody_told_of_is_a_surprise_and_nothing_is_none(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    compare = Watcher._compare_everything

    async def counted(*args: Any) -> None:
        nonlocal looks
        await compare(*args)
        looks += 1

    async def looked_twice() -> bool:
        return looks == 2

    monkeypatch.setattr(Watcher, "_compare_everything", counted)
    write(project, "x.md")
    await indexed(project)
    looks = 0
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()
        nothing = await watcher.to_be_sure()
        await until(looked_twice)
        write(project, "x.md", text="# B")
        something = await watcher.to_be_sure()
        assert await watcher.next() == (FileChanged, "x.md")
        await watcher.nothing_but_the_end()

    assert something.is_set()
    assert not nothing.is_set()


# -- links -----------------------------------------------------------------------------


@pytest.mark.usefixtures("hurry")
async def test_a_link_changes_and_goes_and_comes_with_what_it_leads_to(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "a/target.txt")
    (project.docs_dir / "link.md").symlink_to("a/target.txt")
    await indexed(project)
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()
        write(project, "a/target.txt", text="# Changed")
        await watcher.notice("a/target.txt")
        assert await watcher.next() == (FileChanged, "link.md")

        (project.docs_dir / "a/target.txt").unlink()
        await watcher.notice("a/target.txt")
        assert await watcher.next() == (ParseFailed, "link.md")

        write(project, "a/target.txt", text="# Back")
        await watcher.notice("a/target.txt")
        assert await watcher.next() == (FileChanged, "link.md")


# -- what is gone, and what has moved --------------------------------------------------


@pytest.mark.usefixtures("hurry")
async def test_what_is_gone_waits_for_a_place_where_it_may_be_now(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "old.md")
    await indexed(project)
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()
        (project.docs_dir / "old.md").rename(project.docs_dir / "new.md")
        await watcher.notice("new.md")  # first, lest the old one rest before it stirs
        await watcher.notice("old.md")
        for _ in range(10):  # the new place is not at rest
            await watcher.notice("new.md")
            await anyio.sleep(0.01)

        # More than once, where this took so long that the new place came to rest.
        heard = [await watcher.next()]
        while heard[-1] == (FileChanged, "new.md"):
            heard.append(await watcher.next())
        assert len(heard) > 1
        assert heard[-1] == (FileGone, "old.md")


@asynccontextmanager
async def stirring(watcher: Following, path: str) -> AsyncIterator[None]:
    """Somebody keeps writing to *path*."""

    async def stir() -> None:
        while True:
            await watcher.notice(path)
            await anyio.sleep(0.005)

    async with anyio.create_task_group() as group:
        group.start_soon(stir)
        yield
        group.cancel_scope.cancel()


@pytest.mark.usefixtures("hurry")
async def test_what_is_gone_does_not_wait_for_what_cannot_be_a_page(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "PATIENCE", 3_600)
    monkeypatch.setattr(watching, "PATIENCE", 3_600)
    write(project, "x.md", "app.log")
    await indexed(project)
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()
        async with stirring(watcher, "app.log"):
            (project.docs_dir / "x.md").unlink()
            await watcher.notice("x.md")

            assert await watcher.next() == (FileGone, "x.md")


@pytest.mark.usefixtures("hurry")
async def test_what_is_gone_does_not_wait_for_ever_for_a_busy_page(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "PATIENCE", 3_600)
    monkeypatch.setattr(watching, "PATIENCE", 0.2)
    write(project, "x.md", "busy.md")
    await indexed(project)
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()
        async with stirring(watcher, "busy.md"):
            (project.docs_dir / "x.md").unlink()
            await watcher.notice("x.md")

            assert await watcher.next() == (FileGone, "x.md")


async def test_a_file_that_moves_while_everything_is_compared_is_not_gone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was not yet where one had looked, and no longer where one looked then."""
    write(project, "old.md", "other.md")
    await indexed(project)
    async with following(project, monkeypatch) as watcher:
        await watcher.nothing_but_the_end()

        def overtaken(source: Source, below: str = "") -> Iterator[Found | Refused]:
            found = list(walk(source, below))
            if below == "" and (project.docs_dir / "old.md").exists():
                (project.docs_dir / "old.md").rename(project.docs_dir / "new.md")
                found = [each for each in found if each.path != "old.md"]
            return iter(found)

        async def has_moved() -> bool:
            return (project.docs_dir / "new.md").exists()

        monkeypatch.setattr(watching, "walk", overtaken)
        await watcher.notice()
        await until(has_moved)
        await watcher.notice("new.md")

        assert await watcher.next() == (FileChanged, "new.md")
        assert await watcher.next() == (FileGone, "old.md")

"""What the operating system says of a folder, on real files."""

import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
import structlog
from structlog.testing import capture_logs
from waiting import PATIENCE

from ubp.actors import notices
from ubp.actors.folder_watch import CannotWatch, FolderWatch, Gone
from ubp.actors.notices import Notice, watch_folder
from ubp.actors.ports import Inbox, channel
from ubp.config import WatchMode
from ubp.reading.source import Source


class Heard:
    """What was said of a folder, with paths relative to it."""

    def __init__(self, folder: Path, inbox: Inbox[Notice]) -> None:
        self._folder = folder
        self._inbox = inbox

    async def of(
        self,
        path: str,
        *,
        itself: bool = False,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> set[str]:
        """Wait for a notice of *path* or of a folder it is in; all until then."""
        heard: set[str] = set()
        wanted = {path}
        if not itself:
            wanted |= set(map(str, Path(path).parents)) - {"."}
        with anyio.fail_after(PATIENCE):
            while not heard & wanted:
                meanwhile()
                notice = await self._inbox.receive()
                heard |= {
                    Path(each).relative_to(self._folder).as_posix()
                    for each in notice.paths
                }
        return heard

    async def everything(self) -> None:
        with anyio.fail_after(PATIENCE):
            while not (await self._inbox.receive()).everything:
                pass


@asynccontextmanager
async def listening(folder: Path, mode: WatchMode = "auto") -> AsyncIterator[Heard]:
    outbox, inbox = channel[Notice](16)
    async with outbox, inbox, anyio.create_task_group() as group:
        source = Source(folder, ["**/*.md"], [])
        await group.start(partial(watch_folder, source, mode, outbox))
        yield Heard(folder, inbox)
        group.cancel_scope.cancel()


@pytest.fixture(autouse=True)
def logs_as_it_comes() -> Iterator[None]:
    """No other test has chosen what is logged."""
    before = structlog.get_config()
    structlog.reset_defaults()
    yield
    structlog.configure(**before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    for name in ("sub/deep", ".git"):
        (made / name).mkdir(parents=True)
    (made / "sub/old.md").write_text("old")
    return made


async def test_files_are_heard_of_at_every_depth(folder: Path) -> None:
    async with listening(folder) as heard:
        for path in ("a.md", "sub/b.md", "sub/deep/c.md", "sub/日本語.md"):
            (folder / path).write_text("x")
            await heard.of(path)


async def test_what_goes_on_in_skipped_folders_is_not(folder: Path) -> None:
    async with listening(folder) as heard:
        (folder / ".git/index.md").write_text("x")
        (folder / "a.md").write_text("x")

        assert await heard.of("a.md") == {"a.md"}


async def test_changes_deletions_and_replacements_are_heard_of(folder: Path) -> None:
    old = folder / "sub/old.md"
    async with listening(folder) as heard:
        old.write_text("new")
        await heard.of("sub/old.md")
        (folder / "sub/old.md~").write_text("newer")
        (folder / "sub/old.md~").replace(old)
        await heard.of("sub/old.md")
        old.unlink()
        await heard.of("sub/old.md")


async def test_new_folders_are_watched_and_what_they_came_with_is_heard_of(
    folder: Path,
) -> None:
    async with listening(folder) as heard:
        (folder / "new/deep").mkdir(parents=True)
        (folder / "new/deep/a.md").write_text("x")
        await heard.of("new/deep/a.md")
        await anyio.sleep(0.5)  # nobody says when the new one is watched
        (folder / "new/deep/b.md").write_text("x")
        await heard.of("new/deep/b.md", itself=True)


async def test_a_folder_replaced_by_another_of_its_name_is_watched(
    folder: Path,
) -> None:
    async with listening(folder) as heard:
        shutil.rmtree(folder / "sub")
        (folder / "sub").mkdir()
        await heard.of("sub")
        await anyio.sleep(0.5)  # nobody says when the new one is watched
        (folder / "sub/a.md").write_text("x")
        await heard.of("sub/a.md", itself=True)


async def test_folders_moved_out_and_in_are_heard_of(folder: Path) -> None:
    async with listening(folder) as heard:
        (folder / "sub").rename(folder.parent / "away")
        await heard.of("sub")
        (folder.parent / "away").rename(folder / "back")
        await heard.of("back")
        await anyio.sleep(0.5)
        (folder / "back/deep/a.md").write_text("x")
        await heard.of("back/deep/a.md", itself=True)


async def test_a_folder_that_went_and_came_back_is_looked_at_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_COME_BACK", 0.05)
    async with listening(folder) as heard:
        shutil.move(folder, folder.with_name("away"))
        await anyio.sleep(0.5)
        shutil.move(folder.with_name("away"), folder)
        await heard.everything()
        (folder / "sub/a.md").write_text("x")
        await heard.of("sub/a.md")


async def test_a_folder_made_later_is_watched_as_soon_as_it_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_POLL", 3_600)
    later = folder / "later"
    async with listening(later) as heard:
        later.mkdir()
        await heard.everything()
        (later / "a.md").write_text("x")
        await heard.of("a.md")


async def test_where_there_are_no_notices_one_looks_now_and_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_POLL", 0.01)
    async with listening(folder, "poll") as heard:
        await heard.everything()
        await heard.everything()


async def test_a_folder_removed_and_made_again_is_watched(folder: Path) -> None:
    async with listening(folder) as heard:
        shutil.rmtree(folder)
        (folder / "sub").mkdir(parents=True)
        await heard.everything()
        (folder / "sub/a.md").write_text("x")
        await heard.of("sub/a.md", itself=True)


async def test_after_a_name_that_nobody_understands_everything_is_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_POLL", 0.01)
    async with listening(folder) as heard:
        for number in range(5):
            try:
                (folder / "sub" / os.fsdecode(b"%d\x93\xfa.txt" % number)).touch()
            except OSError:
                pytest.skip("the file system takes no such name")
            await heard.everything()
        (folder / "a.md").write_text("x")
        await heard.of("a.md")


async def test_while_a_system_cannot_watch_one_looks_now_and_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For what a system does at its limits, see the tests of the watch."""
    refused = 0

    def watch_or_not(source: Source, stop: threading.Event) -> FolderWatch:
        nonlocal refused
        if refused < 3:
            refused += 1
            raise CannotWatch("OS file watch limit reached.")
        return FolderWatch(source, stop)

    monkeypatch.setattr(notices, "FolderWatch", watch_or_not)
    monkeypatch.setattr(notices, "_POLL", 0.01)
    monkeypatch.setattr(notices, "_TRY_AGAIN", 0.1)
    with capture_logs() as logs:
        async with listening(folder) as heard:
            await heard.everything()
            await heard.everything()
            while refused < 3:
                await heard.everything()
            # Until it can: then it is said what has changed.
            file = folder / "a.md"
            await heard.of("a.md", meanwhile=lambda: file.write_text("x"))
    assert [entry["event"] for entry in logs] == ["watch.polling", "watch.restarted"]


async def test_however_often_it_fails_watching_does_not_begin_at_once_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 0

    def is_gone(*_: object) -> None:
        nonlocal attempts
        attempts += 1
        raise Gone("It cannot be looked into.")

    monkeypatch.setattr(notices, "FolderWatch", is_gone)
    monkeypatch.setattr(notices, "_POLL", 3_600)
    async with listening(folder):
        await anyio.sleep(0.3)

    assert attempts == 1


async def test_a_folder_that_cannot_be_looked_into_is_watched_when_it_can(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    monkeypatch.setattr(notices, "_POLL", 0.01)
    monkeypatch.setattr(notices, "_COME_BACK", 0.01)
    with capture_logs() as logs:
        async with listening(folder) as heard:
            os.chmod(folder, 0)  # noqa: PTH101
            await anyio.sleep(0.5)
            os.chmod(folder, 0o700)  # noqa: PTH101
            await heard.everything()
            (folder / "a.md").write_text("x")
            await heard.of("a.md")
    assert [entry["event"] for entry in logs] == ["watch.restarted"]

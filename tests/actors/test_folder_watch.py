"""A watch of the operating system: what is heard, and what is done about the rest."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from vaults import write_files
from waiting import PATIENCE
from watchfiles._rust_notify import RustNotify

from ubp.actors import folder_watch, routine
from ubp.actors.folder_watch import CannotWatch, FolderWatch, Gone, Misheard
from ubp.reading.source import Source
from ubp.reading.walk import NEVER_READ

PATIENCE_MS = int(1_000 * PATIENCE)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_watch, "_LOOK_MS", 50)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    write_files(
        tmp_path, {"docs/sub/old.md": "old", "docs/.git/x": "", ".gitignore": ""}
    )
    (tmp_path / "docs/sub/deep").mkdir()
    return pages_in(tmp_path / "docs")


def pages_in(folder: Path) -> Source:
    return Source(folder, ["**/*.md"], [], gitignore_from=folder.parent)


class Watch(FolderWatch):
    """One that gives up after a while, with paths relative to the folder."""

    def next(self) -> set[str] | None:
        """The places of the next notice; None if it may be anywhere."""
        notice = self.wait()
        assert notice is not None, "nothing was heard"
        if notice.everything:
            return None
        folder = self._source.folder
        return {Path(path).relative_to(folder).as_posix() for path in notice.paths}

    def hears_of(self, path: str) -> None:
        while path not in (self.next() or ()):
            pass


@contextmanager
def watching(source: Source) -> Iterator[Watch]:
    stop = threading.Event()
    timer = threading.Timer(PATIENCE, stop.set)
    timer.start()
    try:
        with Watch(source, stop) as watch:
            yield watch
    finally:
        timer.cancel()


def test_what_happens_in_folders_nobody_reads_is_not_heard_of(source: Source) -> None:
    write_files(source.folder, {".gitignore": "built/\n"})
    unread = ("sub/node_modules", "sub/deep/.git", "sub/built")
    write_files(source.folder, {f"{path}/x.md": "" for path in unread})
    with watching(source) as watch:
        write_files(source.folder, {f"{path}/a.md": "" for path in unread})
        write_files(source.folder, {"sub/deep/b.md": ""})

        assert watch.next() == {"sub/deep/b.md"}


def test_a_project_below_such_a_folder_is_watched_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "node_modules/pkg/.venv/docs"
    folder.mkdir(parents=True)
    with watching(pages_in(folder)) as watch:
        write_files(folder, {"a.md": ""})

        assert watch.next() == {"a.md"}


def test_systems_that_watch_trees_tell_the_same(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "_WATCHES_TREES", True)
    with watching(source) as watch:
        write_files(source.folder, {".git/a.md": "", "sub/deep/b.md": ""})

        assert watch.next() == {"sub/deep/b.md"}


# -- folders that come and go ----------------------------------------------------------


def test_a_folder_made_while_its_parents_are_listed_is_watched(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*args: Any, **options: Any) -> Any:
        (source.folder / "sub/late").mkdir(exist_ok=True)
        return RustNotify(*args, **options)

    monkeypatch.setattr(folder_watch, "RustNotify", late)
    with watching(source) as watch:
        assert watch.next() == {"sub/late"}
        write_files(source.folder, {"sub/late/a.md": ""})
        watch.hears_of("sub/late/a.md")


def test_what_happens_while_watches_are_exchanged_is_heard_of(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watching(source) as watch:

        def meanwhile(*args: Any, **options: Any) -> Any:
            write_files(source.folder, {"sub/a.md": ""})
            return RustNotify(*args, **options)

        monkeypatch.setattr(folder_watch, "RustNotify", meanwhile)
        (source.folder / "new").mkdir()

        assert watch.next() == {"new"}
        assert watch.next() == {"sub/a.md"}


def test_a_folder_that_goes_while_it_is_listed_hinders_nobody(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*args: Any, **options: Any) -> Any:
        shutil.rmtree(source.folder / "sub/deep", ignore_errors=True)
        return RustNotify(*args, **options)

    monkeypatch.setattr(folder_watch, "RustNotify", gone)
    with watching(source) as watch:
        write_files(source.folder, {"sub/a.md": ""})

        assert watch.next() == {"sub/a.md"}


def test_a_folder_removed_and_made_again_is_watched(source: Source) -> None:
    """The system may give it the very same number, and watches it no more."""
    with watching(source) as watch:
        shutil.rmtree(source.folder)
        (source.folder / "sub").mkdir(parents=True)
        assert watch.next() is None
        for path in ("a.md", "sub/b.md"):
            write_files(source.folder, {path: ""})
            watch.hears_of(path)


def test_a_folder_put_in_the_place_of_another_is_watched(source: Source) -> None:
    with watching(source) as watch:
        source.folder.rename(source.folder.with_name("away"))
        source.folder.mkdir()
        assert watch.next() is None
        write_files(source.folder, {"a.md": ""})
        watch.hears_of("a.md")


def test_a_folder_that_is_gone_or_no_folder_is_said_to_be(source: Source) -> None:
    with watching(source) as watch:
        shutil.rmtree(source.folder)
        with pytest.raises(Gone):
            watch.wait()
    with pytest.raises(Gone), watching(source):
        pass
    source.folder.write_text("")
    with pytest.raises(Gone), watching(source):
        pass


# -- what nobody is told ---------------------------------------------------------------


def test_so_many_places_are_everything_for_others_may_be_lost(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "MOST", 3)
    with watching(source) as watch:
        for name in NEVER_READ:  # none of which matters itself
            (source.folder / "sub" / name).mkdir()

        assert watch.next() is None


def test_now_and_then_it_is_everything_to_be_sure(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routine, "COSTS", 0)
    with watching(source) as watch:
        (source.folder / "lost").mkdir()
        assert watch._heard(PATIENCE_MS) == {"lost"}  # and nobody does anything
        watch._routine._next = 0.0
        notice = watch.wait()
        assert notice is not None
        assert notice.everything
        assert notice.surprise is not None
        write_files(source.folder, {"lost/a.md": ""})
        assert watch.next() == {"lost/a.md"}


def test_who_finds_something_then_makes_it_be_looked_at_sooner(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routine, "COSTS", 0)
    monkeypatch.setattr(routine, "OFTEN", 0)
    with watching(source) as watch:
        first = watch.wait()
        monkeypatch.undo()
        monkeypatch.setattr(folder_watch, "_LOOK_MS", 50)
        monkeypatch.setattr(routine, "COSTS", 0)
        assert first is not None
        assert first.surprise is not None
        first.surprise.set()
        with monkeypatch.context() as often:
            often.setattr(routine, "OFTEN", 0.2)
            second = watch.wait()
    assert second is not None
    assert second.everything


def test_what_goes_on_and_on_is_followed_by_a_look_at_everything(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So much on few paths may hide that the system dropped what happened on others."""
    monkeypatch.setattr(routine, "COSTS", 0)
    monkeypatch.setattr(routine, "STORM", 0.3)
    page = source.folder / "sub/old.md"
    with watching(source) as watch:
        heard = 0
        while heard < 3:
            page.write_text(f"{heard}")
            assert watch.next() == {"sub/old.md"}
            heard += 1

        assert watch.next() is None


@pytest.mark.parametrize("path", [".gitignore", ".git/info/exclude"])
def test_a_rule_outside_the_folder_is_everything(source: Source, path: str) -> None:
    with watching(source) as watch:
        write_files(source.folder.parent, {path: "/docs/sub/\n"})
        assert watch.next() is None
        write_files(source.folder, {"sub/unheard.md": "", "a.md": ""})
        assert watch.next() == {"a.md"}
        (source.folder.parent / path).unlink()
        assert watch.next() is None
        write_files(source.folder, {"sub/b.md": ""})
        watch.hears_of("sub/b.md")


def test_a_name_that_nobody_understands_is_said_to_be(source: Source) -> None:
    with watching(source) as watch:
        try:
            (source.folder / "sub" / os.fsdecode(b"\x93\xfa.txt")).touch()
        except OSError:
            pytest.skip("the file system takes no such name")
        with pytest.raises(Misheard):
            watch.wait()


def test_folders_of_such_a_name_are_not_watched_and_hinder_nobody(
    source: Source,
) -> None:
    try:
        (source.folder / os.fsdecode(b"\x93\xfa")).mkdir()
    except OSError:
        pytest.skip("the file system takes no such name")
    with watching(source) as watch:
        write_files(source.folder, {"sub/a.md": ""})
        assert watch.next() == {"sub/a.md"}
    folder = source.folder / os.fsdecode(b"\x93\xfa")
    with pytest.raises(CannotWatch), watching(pages_in(folder)):
        pass


# -- the limits of the system ----------------------------------------------------------

ALONE = ("unshare", "--user", "--map-root-user")

LIMITED = """
import sys, threading
from pathlib import Path
from ubp.actors.folder_watch import CannotWatch, FolderWatch
from ubp.reading.source import Source

folder, limit, most, *new = Path(sys.argv[1]), *sys.argv[2:]
Path("/proc/sys/user", limit).write_text(most)
stop = threading.Event()
timer = threading.Timer(20, stop.set)
timer.daemon = True
timer.start()
try:
    with FolderWatch(Source(folder, ["**/*.md"], []), stop) as watch:
        print("watches")
        for name in new:
            (folder / name).mkdir()
            notice = watch.wait()
            print("everything" if notice.everything else "heard")
except CannotWatch:
    print("cannot")
"""


@pytest.fixture
def limited(tmp_path: Path) -> Callable[..., list[str]]:
    """Folders *a* to *c*, watched by a process of its own for which a limit is set."""
    for name in "abc":
        (tmp_path / "docs" / name).mkdir(parents=True)

    folder = str(tmp_path / "docs")

    def run(limit: str, most: int, *new: str) -> list[str]:
        done = subprocess.run(
            [*ALONE, sys.executable, "-c", LIMITED, folder, limit, f"{most}", *new],
            capture_output=True,
            text=True,
            check=True,
            timeout=3 * PATIENCE,
        )
        return done.stdout.split()

    try:
        set_one = "open('/proc/sys/user/max_inotify_watches', 'w').write('1')"
        subprocess.run(
            [*ALONE, sys.executable, "-c", set_one], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("limits cannot be set for one process on this system")
    return run


def test_a_limit_that_is_too_low_is_said_to_be(
    limited: Callable[..., list[str]],
) -> None:
    assert limited("max_inotify_watches", 3, "d") == ["cannot"]
    assert limited("max_inotify_instances", 0, "e") == ["cannot"]


def test_a_limit_that_new_folders_reach_is_said_to_be_too_low(
    limited: Callable[..., list[str]],
) -> None:
    # For some there is room, though not for two watches at once.
    assert limited("max_inotify_watches", 5, "d", "e") == [
        "watches",
        "everything",
        "cannot",
    ]

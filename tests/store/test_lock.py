"""Whoever holds the lock watches and writes; it ends with its process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.errors import ProjectBusy
from ubp.store.lock import claiming, holder, holding, trying

HOLD_AND_WAIT = """
import sys
from pathlib import Path
from ubp.store.lock import holding

with holding(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".ubp" / "serve.lock"


def test_nobody_holds_a_lock_that_was_never_taken(path: Path) -> None:
    assert holder(path) is None
    assert not path.exists()


def test_holder_is_the_process_inside(path: Path) -> None:
    with holding(path):
        assert holder(path) == os.getpid()

    assert holder(path) is None


def test_second_holder_is_refused_and_told_who_is_first(path: Path) -> None:
    with holding(path):
        with pytest.raises(ProjectBusy) as refused:
            with holding(path):
                raise NotImplementedError

    assert str(os.getpid()) in refused.value.cause


def test_refusal_leaves_the_lock_with_the_first(path: Path) -> None:
    with holding(path):
        with pytest.raises(ProjectBusy):
            with holding(path):
                raise NotImplementedError

        assert holder(path) == os.getpid()


def test_asking_who_holds_the_lock_does_not_take_it_away(path: Path) -> None:
    with holding(path):
        holder(path)

        with pytest.raises(ProjectBusy):
            with holding(path):
                raise NotImplementedError


def test_lock_can_be_taken_again_after_it_was_let_go(path: Path) -> None:
    with holding(path):
        pass

    with holding(path):
        assert holder(path) == os.getpid()


def test_lock_is_let_go_when_its_holder_fails(path: Path) -> None:
    with pytest.raises(KeyError):
        with holding(path):
            raise KeyError

    assert holder(path) is None


def test_file_left_behind_is_no_lock(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("1\nlong ago\nubp\n", encoding="utf-8")

    assert holder(path) is None
    with holding(path):
        assert path.read_text(encoding="utf-8").splitlines()[0] == str(os.getpid())


def test_file_says_when_and_what_beside_who(path: Path) -> None:
    with holding(path):
        pid, since, command = path.read_text(encoding="utf-8").splitlines()

    assert pid == str(os.getpid())
    assert since.endswith("Z")
    assert command == Path(sys.argv[0]).name


def test_holder_whose_file_says_nothing_is_unknown(path: Path) -> None:
    with holding(path):
        path.write_text("", encoding="utf-8")

        assert holder(path) is None
        with pytest.raises(ProjectBusy):
            with holding(path):
                raise NotImplementedError


@pytest.mark.slow
def test_killed_process_leaves_no_lock_behind(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_AND_WAIT, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert holder(path) == process.pid
        process.send_signal(signal.SIGKILL)
        process.wait(5)

    assert holder(path) is None
    with holding(path):
        pass


@pytest.mark.parametrize("what", ["file", "loop", "folder", "nothing"])
def test_where_there_can_be_no_lock_nobody_has_it(path: Path, what: str) -> None:
    match what:
        case "file":
            path.parent.write_text("")
        case "loop":
            path.parent.symlink_to(path.parent)
        case "folder":
            path.mkdir(parents=True)
        case _:
            path = path.parent / "nothing" / path.name

    with claiming(path) as claim, trying(path) as held:
        assert claim.is_refused
        assert not claim.take()
        assert not held
    assert holder(path) is None

"""``ubp status --watch``: a line for every change, a picture on a terminal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clients import PATIENCE, UBP

from ubp.cli import main

QUICKLY = ["--watch", "--every", "0.2"]


def index(root: Path) -> None:
    with pytest.raises(SystemExit):
        main(["index", "--no-embed", "--quiet", "--root", str(root)])


def started(root: Path, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*UBP, "status", *QUICKLY, *arguments, "--root", str(root)],
        text=True,
        encoding="utf-8",
        **options,
    )


@pytest.mark.slow
def test_every_change_is_a_json_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")

    with started(tmp_path, "--json", stdout=subprocess.PIPE) as watch:
        assert watch.stdout is not None
        first = json.loads(watch.stdout.readline())
        index(tmp_path)
        seen = first
        while not seen["total_documents"]:
            seen = json.loads(watch.stdout.readline())
        (tmp_path / "b.md").write_text("# B\n", encoding="utf-8")
        while not seen["waiting_files"]:
            seen = json.loads(watch.stdout.readline())
        watch.send_signal(signal.SIGINT)

        assert watch.wait(PATIENCE) == 0
    assert not first["initialized"]
    assert seen["total_documents"] == 1


@pytest.mark.slow
def test_without_a_terminal_a_change_is_a_line_of_text(tmp_path: Path) -> None:
    with started(tmp_path, stdout=subprocess.PIPE) as watch:
        assert watch.stdout is not None
        assert "not indexed yet" in watch.stdout.readline()
        (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")
        index(tmp_path)
        while "1 pages" not in (line := watch.stdout.readline()):
            assert line
        watch.terminate()

        assert watch.wait(PATIENCE) == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_on_a_terminal_it_is_a_picture_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m.md").write_text("# A\n", encoding="utf-8")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe\x00")
    index(tmp_path)
    ours, theirs = os.openpty()

    with started(tmp_path, stdin=theirs, stdout=theirs, stderr=theirs) as watch:
        os.close(theirs)
        seen = b""
        while seen.count(b"Ctrl-C ends") < 2:
            seen += os.read(ours, 4096)
        os.write(ours, b"\x03")
        watch.send_signal(signal.SIGINT)  # this terminal is nobody's to interrupt

        assert watch.wait(PATIENCE) == 0
    os.close(ours)
    assert b"waiting to be read" in seen
    assert b"served by" in seen


@pytest.mark.slow
def test_an_index_that_cannot_be_read_is_told_and_looked_at_again(
    tmp_path: Path,
) -> None:
    (tmp_path / ".ubp").mkdir()
    (tmp_path / ".ubp/index.db").write_bytes(b"no database" * 1000)
    (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")

    with started(tmp_path, "--json", stdout=subprocess.PIPE) as watch:
        assert watch.stdout is not None
        assert "error" in json.loads(watch.stdout.readline())
        index(tmp_path)
        while not json.loads(watch.stdout.readline()).get("total_documents"):
            pass
        watch.send_signal(signal.SIGINT)
        assert watch.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    "wrong",
    [["--every", "1"], ["--watch", "--check"], ["--watch", "--every", "0"]],
)
def test_options_that_make_no_sense_are_wrong_usage(
    tmp_path: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["status", *wrong, "--root", str(tmp_path)])

    assert ended.value.code == 2
    assert capsys.readouterr().out == ""

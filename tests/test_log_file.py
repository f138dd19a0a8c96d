"""Several processes append to one log: nothing is torn, and it does not grow on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.log_file import LogFile, older

APPEND = """
import sys
from pathlib import Path
from ubp.log_file import LogFile

log = LogFile(Path(sys.argv[1]), most_bytes=int(sys.argv[3]))
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    log.append(f'{{"who": {sys.argv[4]}, "number": {number}, "filling": "{"x" * 150}"}}')
"""


@pytest.mark.slow
def test_lines_of_several_processes_are_whole_and_none_is_lost_when_it_is_moved(
    tmp_path: Path,
) -> None:
    path = tmp_path / "serve.log"
    each, processes = 300, 4
    most = each * processes * 200 * 2 // 3  # so it is moved once, in the midst of it
    started = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, str(path), str(each), str(most), str(who)],
            stdin=subprocess.PIPE,
        )
        for who in range(processes)
    ]
    for process in started:  # all at once
        assert process.stdin is not None
        process.stdin.close()

    assert [process.wait(60) for process in started] == [0] * processes

    lines = [
        json.loads(line)
        for file in (older(path), path)
        for line in file.read_text(encoding="utf-8").splitlines()
        if line  # an empty one is no event, see ``_ends_whole``
    ]
    seen = {(line["who"], line["number"]) for line in lines}
    assert len(lines) == len(seen) == each * processes


def test_the_log_is_bounded_and_keeps_the_latest(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    log = LogFile(path, most_bytes=1_000)

    for number in range(500):
        log.append(f"line {number}")

    assert path.stat().st_size <= 1_020
    assert older(path).stat().st_size <= 1_020
    assert path.read_text(encoding="utf-8").endswith("line 499\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        path.name,
        "serve.log.1",
    ]


def test_a_line_that_was_cut_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    path.write_text('{"msg": "cut', encoding="utf-8")

    LogFile(path).append("whole")

    assert path.read_text(encoding="utf-8") == '{"msg": "cut\nwhole\n'


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LogFile(tmp_path / ".ubp" / "serve.log").append("line")

    assert list(tmp_path.iterdir()) == []

"""``ubp logs``: what of the log is shown, and that nothing in it does harm."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest
from clients import PATIENCE, UBP, serving
from hypothesis import given
from hypothesis import strategies as st

from ubp.cli import main
from ubp.cli.log_drawing import drawn
from ubp.cli.log_events import Wanted, event_in, moment
from ubp.errors import InvalidArguments
from ubp.log_file import LogFile, older

NOW = datetime.now(UTC)
CALL = {"component": "tools", "tool": "ubp_search", "pid": 7}
EVENTS: list[dict[str, Any]] = [
    {"component": "serve", "msg": "serve.started", "level": "info", "pid": 7},
    {"component": "writer", "msg": "index.file_failed", "level": "warn", "pid": 7},
    {
        **CALL,
        "msg": "tool.slow",
        "level": "warn",
        "ms": 741,
        "expected_ms": 200,
        "embed_ms": 702.2,
        "queued_ms": 0.0,
        "request_id": "2",
    },
    {**CALL, "msg": "tool.done", "level": "debug", "ms": 741, "request_id": "2"},
    {**CALL, "msg": "tool.done", "level": "debug", "ms": 12, "request_id": "3"},
    {**CALL, "msg": "tool.crashed", "level": "error", "exception": "Traceback\n  at"},
]


def line(event: dict[str, Any], ago: int = 0) -> str:
    # Now, not when the tests were collected: that may be half an hour ago.
    then = datetime.now(UTC) - timedelta(seconds=ago)
    return json.dumps({**event, "ts": then.isoformat()})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / ".ubp" / "serve.log"
    file.parent.mkdir()
    lines = [line(event, 3600 - 60 * at) for at, event in enumerate(EVENTS)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run_command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["logs", *arguments, "--root", str(tmp_path)])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run_command


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], [0, 1, 2, 3, 4, 5]),
        (["--level", "warn"], [1, 2, 5]),
        (["--component", "tools"], [2, 3, 4, 5]),
        (["--event", "tool.done"], [3, 4]),
        (["--event", "index"], [1]),
        (["--tool", "ubp_search", "--level", "error"], [5]),
        (["--tool", "other"], []),
        (["--grep", "STARTED"], [0]),
        (["--slow"], [2]),
        (["--slow", "10"], [2, 4]),
        (["--slow", "100"], [2]),
        (["--lines", "2"], [4, 5]),
        (["--lines", "0"], []),
        (["--since", "57m"], [4, 5]),
        (["--since", "2h", "--lines", "1"], [5]),
        (["--since", "2000-01-01"], [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_is_asked_for_is_shown(
    run: Callable[..., Any], log: Path, options: list[str], shown: list[int]
) -> None:
    assert log.exists()

    code, out, err = run(*options, "--json")

    found = [json.loads(each) for each in out.splitlines()]
    assert [{k: v for k, v in each.items() if k != "ts"} for each in found] == [
        EVENTS[at] for at in shown
    ]
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("log")
def test_a_slow_call_says_where_its_time_went(run: Callable[..., Any]) -> None:
    _, out, _ = run("--slow")

    assert "ubp_search  741 ms (expected 200)  embed 702.2  request_id=2" in out
    assert "queued" not in out


@pytest.mark.usefixtures("log")
def test_a_traceback_is_shown_below_its_event(run: Callable[..., Any]) -> None:
    _, out, _ = run("--level", "error")

    assert out.splitlines()[1:] == ["    Traceback", "      at"]


def test_the_file_that_was_moved_is_read_first(
    run: Callable[..., Any], log: Path
) -> None:
    log.rename(older(log))
    log.write_text(line({"msg": "later"}) + "\n", encoding="utf-8")

    _, out, _ = run("--lines", "2", "--json")

    shown = [json.loads(each)["msg"] for each in out.splitlines()]
    assert shown == ["tool.crashed", "later"]


def test_what_is_no_event_is_shown_unless_events_are_asked_for(
    run: Callable[..., Any], log: Path
) -> None:
    log.write_text('Segmentation fault\n[1]\n\n{"msg": "cut', encoding="utf-8")

    _, out, _ = run()
    assert out.splitlines() == ["Segmentation fault", "[1]", '{"msg": "cut']

    assert run("--level", "debug")[1] == ""
    _, out, _ = run("--json", "--grep", "fault")
    assert json.loads(out) == {"not_an_event": "Segmentation fault"}


HARM = "\x1b]0;owned\x07\x9b31m\x7f\r"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_nothing_a_terminal_would_obey_reaches_it(
    run: Callable[..., Any], log: Path, form: list[str]
) -> None:
    event = dict.fromkeys(("msg", "level", "component", "tool", "exception"), HARM)
    whole = json.dumps({**event, HARM: HARM, "ts": HARM}, ensure_ascii=False)
    log.write_text(f"{whole}\n{HARM}not json\n", encoding="utf-8")

    _, out, _ = run(*form)

    assert "not json" in out
    assert [c for c in out if c != "\n" and (c < " " or "\x7f" <= c <= "\x9f")] == []


@given(st.binary() | st.text().map(str.encode))
def test_any_line_is_an_event_or_is_shown(content: bytes) -> None:
    event = event_in(content.decode(errors="replace"))

    assert list(drawn(event))
    Wanted(level="info", slow=1, since=NOW, name="a", tool="b").fits(event)


@pytest.mark.parametrize("given", ["yesterday", "10", "10x", "-5m", "", "²m", "9" * 99])
def test_a_time_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(InvalidArguments):
        moment(given, NOW)


def test_a_log_that_is_not_there_is_an_error_with_a_hint(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    code, out, err = run()
    assert (code, out) == (1, "")
    assert ".ubp/serve.log" in err
    assert "ubp doctor --client" in err

    (tmp_path / "ubp.toml").write_text('[log]\nfile = ""\n', encoding="utf-8")
    code, _, err = run()
    assert code == 1
    assert "log.file" in err


def test_a_log_that_cannot_be_read_is_an_error(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / ".ubp/serve.log").mkdir(parents=True)

    code, _, err = run()

    assert code == 1
    assert err.startswith("Error: The log cannot be read.")


class Following:
    """A real ``ubp logs --follow``, and the lines it prints."""

    def __init__(self, root: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*UBP, "logs", "--follow", "--json", *arguments, "--root", str(root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._lines: Queue[str] = Queue()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for each in self.process.stdout:
            self._lines.put(each)

    def next(self) -> Any:
        return json.loads(self._lines.get(timeout=PATIENCE)).get("msg")

    def interrupt(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with self.process.stdout, self.process.stderr:
            return code, self.process.stderr.read()


@pytest.fixture
def following(tmp_path: Path) -> Iterator[Callable[..., Following]]:
    started: list[Following] = []

    def start(*arguments: str) -> Following:
        started.append(Following(tmp_path, *arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


@pytest.mark.slow
def test_a_log_is_followed_through_being_cut_moved_emptied_and_deleted(
    log: Path, following: Callable[..., Following]
) -> None:
    watch = following("--lines", "1")
    assert watch.next() == "tool.crashed"

    first = line({"msg": "in two pieces"})
    with log.open("a", encoding="utf-8") as file:
        file.write(first[:20])
        file.flush()
        file.write(first[20:] + "\n")
    assert watch.next() == "in two pieces"

    small = LogFile(log, most_bytes=1)
    small.append(line({"msg": "after it was moved"}))
    assert older(log).exists()
    assert watch.next() == "after it was moved"

    log.write_text("", encoding="utf-8")
    LogFile(log).append(line({"msg": "short"}))
    assert watch.next() == "short"

    log.unlink()
    LogFile(log).append(line({"msg": "anew"}))
    assert watch.next() == "anew"
    assert watch.interrupt() == (0, "")


@pytest.mark.slow
def test_following_waits_for_a_server_and_shows_what_it_does(
    tmp_path: Path, following: Callable[..., Following]
) -> None:
    (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")
    watch = following("--event", "serve")

    with serving(tmp_path, "--shared") as client, serving(tmp_path, "--shared"):
        assert watch.next() == "serve.started"
        assert watch.next() == "serve.started"
        assert client.end() == 0
        while (event := watch.next()) != "serve.stopped":
            assert event.startswith("serve.")

    code, err = watch.interrupt()
    assert code == 0
    assert "Waiting for .ubp/serve.log" in err


@pytest.mark.slow
def test_a_server_logs_no_more_than_its_standard_error_has(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nsecret text\n", encoding="utf-8")

    with serving(tmp_path, "--log-format", "json") as client:
        client.call("ubp_search", query="a secret question")
        assert client.end() == 0

    kept = (tmp_path / ".ubp/serve.log").read_text(encoding="utf-8")
    events = [json.loads(each) for each in kept.splitlines()]
    assert {event.pop("pid") for event in events} == {client.process.pid}
    told = [json.loads(each) for each in client.log]
    for event in told:
        event.pop("pid", None)
    assert events == told
    assert "secret" not in kept


@pytest.mark.slow
def test_no_file_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "ubp.toml").write_text('[log]\nfile = ""\n', encoding="utf-8")

    with serving(tmp_path) as client:
        assert client.end() == 0

    assert not (tmp_path / ".ubp/serve.log").exists()

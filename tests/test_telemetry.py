"""The log never stops us, and says when it is not complete."""

import io
import json
import sys
import threading

import pytest

from ubp import telemetry


class Stuck(io.StringIO):
    """A pipe that takes nothing until somebody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.read_by_somebody = threading.Event()

    def write(self, text: str) -> int:
        self.read_by_somebody.wait(20)
        return super().write(text)


def test_a_log_nobody_reads_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = Stuck()
    monkeypatch.setattr(sys, "stderr", stuck)
    monkeypatch.setattr(telemetry, "_MOST_WAITING", 10)
    telemetry.configure("info", "json", detached=True)
    log = telemetry.get_logger("test")

    for number in range(50):
        log.info("event", number=number)  # would block here, were it not detached

    stuck.read_by_somebody.set()
    deadline = threading.Event()
    for _ in range(400):
        if "log.dropped" in stuck.getvalue():
            break
        deadline.wait(0.05)
    lines = [json.loads(line) for line in stuck.getvalue().splitlines()]
    told = [line for line in lines if line["msg"] == "log.dropped"]
    assert sum(line["lines"] for line in told) == 50 - (len(lines) - len(told))
    telemetry.configure("error")

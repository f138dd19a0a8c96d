"""The parser: changed files in, documents out, whatever the files do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread
import pytest
from vaults import NOWHERE
from waiting import soon

from ubp.actors.parser import Parser
from ubp.actors.ports import Inbox, Outbox, channel
from ubp.actors.reading_process import Answer, ReadingProcess
from ubp.messages import (
    FileChanged,
    FileEvent,
    FileGone,
    FileParsed,
    FileStamp,
    FileUnchanged,
    IndexEvent,
    ParseFailed,
    ScanFinished,
)
from ubp.project import open_project

STAMP = FileStamp(1, 2, 3)

# A reading process that hangs or dies on files of certain names. It speaks the real
# frames; only what it reads is made up.
SCRIPT = """
import sys, time
import msgspec
from ubp.actors.frames import read_frame, write_frame
from ubp.messages import FileChanged, FileUnchanged, FileStamp
read_frame(sys.stdin.buffer)
while (frame := read_frame(sys.stdin.buffer)) is not None:
    for change in msgspec.msgpack.decode(frame, type=list[FileChanged]):
        if "killer" in change.path:
            sys.exit(1)
        if "hanger" in change.path:
            time.sleep(600)
        if "slow" in change.path:
            time.sleep(2)
        answer = FileUnchanged(change.pack, change.path, FileStamp(1, 2, 3), '')
        write_frame(sys.stdout.buffer, msgspec.msgpack.encode(answer))
"""


class ScriptedProcess(ReadingProcess):
    """The parent's side, with another child."""

    def __init__(self) -> None:
        super().__init__(NOWHERE, [])
        self._command = [sys.executable, "-c", SCRIPT]


class Rig(NamedTuple):
    """A parser whose two neighbours are played by the test."""

    parser: Parser
    events: Outbox[FileEvent]
    results: Inbox[IndexEvent]
    stop: anyio.Event
    root: Path


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    (tmp_path / "docs").mkdir()
    events, inbox = channel[FileEvent](16)
    outbox, results = channel[IndexEvent](1)
    stop = anyio.Event()
    start = partial(ReadingProcess, open_project(tmp_path), ["docs"])
    parser = Parser(inbox, outbox, start=start, stop=stop)
    with events, inbox, outbox, results:
        yield Rig(parser, events, results, stop, tmp_path)


@pytest.fixture
def scripted() -> Iterator[Rig]:
    events, inbox = channel[FileEvent](16)
    outbox, results = channel[IndexEvent](16)
    stop = anyio.Event()
    parser = Parser(inbox, outbox, start=ScriptedProcess, stop=stop, patience=1)
    with events, inbox, outbox, results:
        yield Rig(parser, events, results, stop, Path())


async def test_a_bad_file_is_reported_and_the_next_still_parsed(rig: Rig) -> None:
    """A bad file is a message, not a crash."""
    (rig.root / "docs/bad.md").write_bytes(b"\xff\xfe")
    (rig.root / "docs/nul.md").write_bytes(b"a\x00b")
    (rig.root / "docs/good.md").write_text("fine", encoding="utf-8")

    async with anyio.create_task_group() as group:
        group.start_soon(rig.parser.run)
        for name in ("bad", "nul", "missing", "good"):
            await rig.events.send(FileChanged("docs", f"{name}.md", STAMP))

        kinds = [type(await soon(rig.results)) for _ in range(4)]
        rig.events.close()

    assert kinds == [ParseFailed, ParseFailed, FileGone, FileParsed]


async def test_a_file_with_the_known_digest_is_not_parsed_again(rig: Rig) -> None:
    page = rig.root / "docs/a.md"
    page.write_text("# A\n", encoding="utf-8")

    async with anyio.create_task_group() as group:
        group.start_soon(rig.parser.run)
        await rig.events.send(FileChanged("docs", "a.md", STAMP))
        parsed = await soon(rig.results)
        assert isinstance(parsed, FileParsed)
        await rig.events.send(FileChanged("docs", "a.md", STAMP, parsed.digest))
        again = await soon(rig.results)
        rig.events.close()

    assert isinstance(again, FileUnchanged)


async def test_events_keep_their_order(rig: Rig) -> None:
    (rig.root / "docs/a.md").write_text("# A\n", encoding="utf-8")

    async with anyio.create_task_group() as group:
        group.start_soon(rig.parser.run)
        await rig.events.send(FileChanged("docs", "a.md", STAMP))
        await rig.events.send(FileGone("docs", "b.md"))
        await rig.events.send(ScanFinished(1, 1, 1))

        kinds = [type(await soon(rig.results)) for _ in range(3)]
        rig.events.close()

    assert kinds == [FileParsed, FileGone, ScanFinished]


async def test_a_full_writer_inbox_makes_the_parser_wait(rig: Rig) -> None:
    """Back-pressure: the parser stops reading when nobody takes its results."""
    for name in "abcd":
        await rig.events.send(FileGone("docs", name))

    async with anyio.create_task_group() as group:
        group.start_soon(rig.parser.run)
        await anyio.wait_all_tasks_blocked()

        # One result fills the channel; the rest waits in the parser's hands.
        assert rig.results.statistics().current_buffer_used == 1

        drained = [await soon(rig.results) for _ in range(4)]
        assert [getattr(event, "path", None) for event in drained] == list("abcd")
        rig.events.close()


@pytest.mark.parametrize("name", ["killer", "hanger"])
async def test_a_file_that_takes_the_process_with_it_costs_nobody_else(
    scripted: Rig, name: str
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(scripted.parser.run)
        for path in ("a.md", f"{name}.md", "b.md"):
            await scripted.events.send(FileChanged("docs", path, STAMP))

        first, second, third = [await soon(scripted.results) for _ in range(3)]
        scripted.events.close()

    assert isinstance(first, FileUnchanged)
    assert isinstance(second, ParseFailed)
    assert (second.path, second.stamp) == (f"{name}.md", STAMP)
    assert isinstance(third, FileUnchanged)


async def test_a_file_that_is_only_slow_is_read_after_all(scripted: Rig) -> None:
    """Or the machine was busy: the process has a low priority."""
    async with anyio.create_task_group() as group:
        group.start_soon(scripted.parser.run)
        await scripted.events.send(FileChanged("docs", "slow.md", STAMP))

        outcome = await soon(scripted.results)
        scripted.events.close()

    assert isinstance(outcome, FileUnchanged)


async def test_a_stop_leaves_the_queue_to_the_next_comparison(rig: Rig) -> None:
    rig.stop.set()
    await rig.events.send(FileChanged("docs", "a.md", STAMP))

    with anyio.fail_after(5):
        await rig.parser.run()


async def test_a_cancelled_parser_ends_its_process(scripted: Rig) -> None:
    processes: list[ReadingProcess] = []

    def start() -> ReadingProcess:
        processes.append(ScriptedProcess())
        return processes[-1]

    scripted.parser._start = start
    await scripted.events.send(FileChanged("docs", "hanger.md", STAMP))
    async with anyio.create_task_group() as group:
        group.start_soon(scripted.parser.run)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert [process._process for process in processes] == [None]


async def test_a_process_that_is_killed_once_by_chance_costs_no_file(rig: Rig) -> None:
    """Only a file that ends the process twice is at fault."""
    processes: list[ReadingProcess] = []

    class Mortal(ReadingProcess):
        """Its first child ends before it has read anything."""

        def start(self) -> subprocess.Popen[bytes]:
            process = super().start()
            if not processes:
                processes.append(self)
                process.kill()
                process.wait()
            return process

    rig.parser._start = lambda: Mortal(open_project(rig.root), ["docs"])
    (rig.root / "docs/a.md").write_text("# A\n", encoding="utf-8")

    async with anyio.create_task_group() as group:
        group.start_soon(rig.parser.run)
        await rig.events.send(FileChanged("docs", "a.md", STAMP))
        outcome = await soon(rig.results)
        rig.events.close()

    assert processes
    assert isinstance(outcome, FileParsed)


async def test_the_project_is_as_the_server_found_it(rig: Rig) -> None:
    """However its settings are by now, and whether the docs folder was away."""
    (rig.root / "docs").rename(rig.root / "away")
    (rig.root / "ubp.toml").write_text("no = [ TOML", encoding="utf-8")

    async with anyio.create_task_group() as group:
        group.start_soon(rig.parser.run)
        await rig.events.send(FileChanged("docs", "a.md", STAMP))
        assert isinstance(await soon(rig.results), FileGone)
        (rig.root / "away").rename(rig.root / "docs")
        (rig.root / "docs/a.md").write_text("# A\n", encoding="utf-8")
        await rig.events.send(FileChanged("docs", "a.md", STAMP))
        assert isinstance(await soon(rig.results), FileParsed)
        rig.events.close()


async def test_the_process_has_a_low_priority_only_for_many_files(rig: Rig) -> None:
    names = [f"{number}.md" for number in range(6)]
    for name in names:
        (rig.root / "docs" / name).write_text("fine", encoding="utf-8")
    process = ReadingProcess(open_project(rig.root), ["docs"])
    ours = os.getpriority(os.PRIO_PROCESS, 0)

    async def priority_after(names: list[str]) -> int:
        answers: list[Answer] = []
        changes = [FileChanged("docs", name, STAMP) for name in names]
        await anyio.to_thread.run_sync(process.read, changes, answers)
        assert len(answers) == len(names)
        return os.getpriority(os.PRIO_PROCESS, process.start().pid)

    try:
        assert await priority_after(names[:1]) == ours
        assert await priority_after(names) > ours
    finally:
        process.close()

"""What would a user otherwise pick, and what would they get?

Measured:      on the same documents, for the same questions, English and Japanese:
               until the peer is ready, the median of a question, and how often one of
               the first ten pages has all words of it, where there is such a page.
Not measured:  meaning, for only ubp and basic-memory have it; see ``bench/quality``.
Compared with: a loop in this process that hashes a fixed amount, because machines
               differ: a ratio of 2 is twice as long as the loop.

A peer that is not here is skipped, and why is said. ``make peers`` installs those that
are Python packages. Run it with ``python -m bench.bench_peers``.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.indexed import index
from bench.measured import Measured, best_of, report
from bench.multiplied import write_multiplied
from bench.peers import ENVIRONMENT, child
from bench.prepared import questions
from bench.scale import FULL, Scale
from bench.wire import serving

SECTIONS = 10_000
_PYTHON = ENVIRONMENT / "bin/python"
_BLOCK = bytes(1 << 20)


class Missing(Exception):
    """The peer is not on this machine; the message says what to do about it."""


class Ready(NamedTuple):
    """A peer that can be asked: paths for a question, and how long it took to be."""

    seconds: float
    search: Callable[[str], list[str]]


def measure(scale: Scale = FULL) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        vault = write_multiplied(root / "docs", min(SECTIONS, scale.sections[-1]))
        asked = questions(vault, scale.rounds)
        asked += [question.split()[0] for question in asked]
        texts = _texts(root / "docs")
        right = [_with_all_words(texts, question) for question in asked]
        unit = best_of(5, _calibrate) * 1_000
        return [
            line
            for name, start in PEERS.items()
            for line in _measured(name, start(root), asked, right, unit)
        ]


def _measured(
    name: str,
    start: AbstractContextManager[Ready],
    asked: list[str],
    right: list[set[str]],
    unit: float,
) -> Iterator[Measured]:
    try:
        with start as peer:
            taken: list[float] = []
            good = answerable = 0
            for question, pages in zip(asked, right, strict=True):
                begin = time.perf_counter()
                found = peer.search(question)
                taken.append((time.perf_counter() - begin) * 1_000)
                answerable += bool(pages)
                good += bool(pages.intersection(found[:10]))
            ready = peer.seconds * 1_000
    except Missing as reason:
        yield Measured(f"{name}: skipped", 0, "", note=str(reason))
        return
    against = "calibration loop"
    yield Measured(f"{name}: until ready", ready, "ms", ready / unit, against)
    typical = median(taken)
    note = f"{good} of {answerable} answered"
    yield Measured(f"{name}: question", typical, "ms", typical / unit, against, note)


def _calibrate() -> None:
    for _ in range(8):
        hashlib.sha256(_BLOCK).digest()


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").lower()
        for path in folder.rglob("*.md")
    }


def _with_all_words(texts: dict[str, str], question: str) -> set[str]:
    words = question.lower().split()
    return {path for path, text in texts.items() if all(word in text for word in words)}


# -- the peers -------------------------------------------------------------------------


@contextmanager
def _ubp(root: Path, tool: str) -> Iterator[Ready]:
    shutil.rmtree(root / ".ubp", ignore_errors=True)
    begin = time.perf_counter()
    index(root, "--no-embed")
    seconds = time.perf_counter() - begin
    with serving(root) as server:
        server.call(tool, query="ready")

        def search(question: str) -> list[str]:
            found = server.call(tool, query=question, limit=10)["results"]
            return [each["filepath"] for each in found]

        yield Ready(seconds, search)


def _hybrid(root: Path) -> AbstractContextManager[Ready]:
    return _ubp(root, "ubp_search")


def _full_text(root: Path) -> AbstractContextManager[Ready]:
    return _ubp(root, "ubp_fulltext_search")


@contextmanager
def _ripgrep(root: Path) -> Iterator[Ready]:
    """Files with every word, in no order; a process for each word, as in a shell."""
    command = shutil.which("rg")
    if command is None:
        raise Missing("rg is not on the path")

    def search(question: str) -> list[str]:
        left: list[str] = []
        for word in question.split():
            options = [command, "-l", "-i", "-F", "-e", word]
            where = left or [str(root / "docs")]
            done = subprocess.run(
                [*options, *where], capture_output=True, text=True, check=False
            )
            left = done.stdout.splitlines()
            if not left:
                return []
        return [os.path.relpath(path, root / "docs") for path in left]

    yield Ready(0.0, search)


def _library(name: str) -> Callable[[Path], AbstractContextManager[Ready]]:
    @contextmanager
    def start(root: Path) -> Iterator[Ready]:
        python = str(_PYTHON) if _PYTHON.exists() else sys.executable
        command = [python, child.__file__, name, str(root / "docs")]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            if process.stdin is None or process.stdout is None:
                raise OSError
            requests, answers = process.stdin, process.stdout
            first = answers.readline()
            if not first:
                raise Missing("not installed: make peers")

            def search(question: str) -> list[str]:
                requests.write(json.dumps(question) + "\n")
                requests.flush()
                paths: list[str] = json.loads(answers.readline())["paths"]
                return paths

            yield Ready(json.loads(first)["ready"], search)

    return start


@contextmanager
def _basic_memory(root: Path) -> Iterator[Ready]:
    command = shutil.which("basic-memory")
    if command is None:
        raise Missing("basic-memory is not on the path; it needs Python 3.12")
    home = root / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [command, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return done.stdout

    begin = time.perf_counter()
    run("project", "add", "bench", str(root / "docs"))
    run("project", "default", "bench")
    run("reindex")
    seconds = time.perf_counter() - begin

    def search(question: str) -> list[str]:
        answer = json.loads(run("tool", "search-notes", question))
        return [each["file_path"] for each in answer["results"]]

    yield Ready(seconds, search)


PEERS: dict[str, Callable[[Path], AbstractContextManager[Ready]]] = {
    "ubp, full text": _full_text,
    "ubp, hybrid": _hybrid,
    "ripgrep": _ripgrep,
    "SQLite FTS5 alone": _library("fts5"),
    "bm25s": _library("bm25s"),
    "basic-memory": _basic_memory,
}


if __name__ == "__main__":
    report(*measure())

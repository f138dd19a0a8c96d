"""Every command that the pages for people show is run, as a person would.

In ``console`` blocks, lines that start with ``$ `` are commands. Those of a page run in
one shell, one after the other, in a copy of the example vault, with a home of their own;
what a page shows twice is run once. A command ends with exit code 0 unless a comment
beside it says otherwise: ``# exit code 1``. Commands within sentences are not run: there
are such commands and such options.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from models import tiny_model
from spec_books import page_html
from vaults import write_files

from ubp.cli import cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (*ROOT.glob("README*.md"), *sorted((ROOT / "docs").glob("*.md")))
]
"""The pages for people."""

LANGUAGES = {"console", "json", "markdown", "text", "toml"}
"""What a block may hold. Commands are in ``console``, so that none is missed."""

NOT_RUN = {
    r"git clone …": "the address is still to come, and it needs a network",
    r"(pipx|uvx|uv tool|pip) .*": "installs; `make smoke` does so with the wheel",
    r"make (demo|test|help)": "the development environment; CI runs `make test`",
    r"python -m bench\..*": "measures, on sets of questions that are not ours to keep",
    r"ubp model pull": "needs a network; tests/embedding pulls from a server of its own",
    r"ubp (status --watch|logs --follow|board watch)": "goes on until interrupted",
    r"ubp spec diff .*": "needs two snapshots of different days",
    r"cp -r examples/vault .*": "the vault is there already, with an index",
    r"cat calls\.jsonl": "shows what the next command reads",
    r"ubp serve .*calls\.jsonl .*": "the same calls are in tests/e2e/test_serve.py",
}
"""Commands, as regular expressions, that are not run here; and why."""

BEFORE = {"docs/troubleshooting.md": "ubp install cursor"}
"""What the reader of a page has done already."""

SHELL = {"cd", "echo", "rm", "ubp"}
"""What else a person types here is not ours to promise."""

CARD = "01J9ZV3K5E0000000000000001"
SKILL = """\
---
name: check-a-ledger
description: Check that a ledger balances, account by account, before it is closed.
---

# Check a ledger

Add up both sides of every account. Compare the totals, and name the first that differs.
"""

EXTRA = {
    "docs/tech/docker-compose-guide.md": "---\ntitle: Docker Compose guide\n"
    "tags: [docker]\n---\n\n## Volumes\n\nNamed volumes keep what you wrote.\n",
    f".kanban/backlog/{CARD}__write-the-tokens.md": f"---\nid: {CARD}\n"
    "title: Write the tokens\n---\n\nWords first.\n",
    "SKILL.md": SKILL,
    "vendor/go.html": page_html(
        ("Slice_types", "Slice types", "A slice is a descriptor of an array."),
        ("Close", "Close", "For a channel, close records that no more is sent."),
        ("Types", "Types", "A type determines a set of values."),
    ),
    "ubp.toml": '[specs.sources.go]\npath = "vendor/go.html"\n',
}
"""What the pages speak of, and the example vault does not have."""

GIVEN = {"bin", "models", "project", "skills"}
"""What is in the person's home before the first command."""

GREETING = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
    '"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}\n'
)


class Shown(NamedTuple):
    """A command on a page."""

    text: str
    code: int


class Outcome(NamedTuple):
    """What came of the commands of a page."""

    commands: list[Shown]
    told: str
    names: set[str]
    """What is in the person's home after."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(page: str) -> list[tuple[str, str]]:
    """The language and the text of every block of *page*."""
    return re.findall(r"^ *```(.*)\n((?s:.*?))^ *```$", text_of(page), re.MULTILINE)


def commands_of(page: str) -> Iterator[Shown]:
    for language, block in blocks_of(page):
        if language != "console":
            continue
        for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            command, _, comment = line.partition("  #")
            told = re.search(r"exit code (\d+)", comment)
            is_promise = told is not None and comment.strip() == told[0]
            yield Shown(command.strip(), int(told[1]) if told and is_promise else 0)


SHOWING = [page for page in PAGES if any(commands_of(page))]
"""The pages that show commands."""


def is_run(command: str) -> bool:
    return not any(re.match(pattern, command) for pattern in NOT_RUN)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    """A person's home, with a project that a server has indexed."""
    assert models.exists()
    folder = tmp_path_factory.mktemp("person")
    project = folder / "project"
    shutil.copytree(ROOT / "examples/vault", project)
    write_files(project, EXTRA)
    write_files(folder, {"skills/ledger/SKILL.md": SKILL, "models/README.md": ""})
    tiny_model(folder / "models/my-model.gguf")
    shim = folder / "bin" / "ubp"
    write_files(
        folder,
        {"bin/ubp": f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ubp "$@"\n'},
    )
    shim.chmod(0o755)
    for arguments, told in ((["index", "-q"], ""), (["serve"], GREETING)):
        subprocess.run(
            [shim, *arguments, "--root", project],
            input=told.encode(),
            env=environment(folder),
            check=True,
            capture_output=True,
        )
    return folder


def environment(home: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"CLAUDE_CONFIG_DIR", "LOG_LEVEL", "XDG_CONFIG_HOME"}
    }
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{home / 'bin'}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SKILL_ID": "",
    }


def script(commands: list[Shown], project: Path) -> str:
    """The commands for a shell, each followed by a line with its exit code."""
    lines = []
    for number, shown in enumerate(commands):
        text = shown.text.replace("/path/to/your/project", str(project))
        text = text.replace("01J9…", CARD)
        text = text.replace(
            "kp:skill:…",
            '"$(ubp kp list --json | grep -o "kp:skill:[^\\"]*" | head -1)"',
        )
        lines += [f"{{ {text}\n}} </dev/null", f'echo "::{number}::$?"']
    return "\n".join(lines)


def run(page: str, home: Path, person: Path) -> Outcome:
    """Follow *page* in *person*, a copy of *home*."""
    shutil.copytree(home, person)
    shown = [each for each in commands_of(page) if is_run(each.text)]
    if page in BEFORE:
        shown.insert(0, Shown(BEFORE[page], 0))
    commands = list(dict.fromkeys(shown))
    done = subprocess.run(
        ["/bin/sh", "-c", script(commands, person / "project")],
        cwd=person / "project",
        env=environment(person),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Outcome(commands, done.stdout, {each.name for each in person.iterdir()})


@pytest.fixture(scope="module")
def outcomes(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Outcome]]]:
    """What came of each page: two at a time, those with the most commands first."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            page: pool.submit(
                run, page, home, tmp_path_factory.mktemp("reader") / "home"
            )
            for page in sorted(SHOWING, key=lambda page: -len(list(commands_of(page))))
        }


@pytest.mark.parametrize("page", SHOWING)
@pytest.mark.timeout(300)
def test_every_command_of_a_page_does_what_it_is_shown_to(
    page: str, outcomes: dict[str, Future[Outcome]]
) -> None:
    commands, told, names = outcomes[page].result()

    printed = re.findall(r"^::\d+::(\d+)$", told, re.MULTILINE)
    codes = [int(code) for code in printed]
    ended = list(zip((shown.text for shown in commands), codes, strict=False))
    assert ended == [tuple(shown) for shown in commands], told
    assert names - GIVEN <= {".cursor", ".config"}


@pytest.mark.parametrize("page", SHOWING)
def test_a_page_shows_only_commands_that_are_ours_or_named_here(page: str) -> None:
    shown = [each.text for each in commands_of(page)]

    assert shown
    for command in filter(is_run, shown):
        assert shlex.split(command)[0] in SHELL, command


@pytest.mark.parametrize("page", PAGES)
def test_commands_stand_in_console_blocks_and_nowhere_else(page: str) -> None:
    for language, block in blocks_of(page):
        assert language in LANGUAGES, block
        if language != "console":
            assert not re.search(r"^ *(\$|ubp|pip|pipx|uvx) ", block, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_sentences_are_commands_of_ours(page: str) -> None:
    sentences = re.sub(r"^ *```(?s:.*?)^ *```$", "", text_of(page), flags=re.MULTILINE)

    for text in re.findall(r"`ubp ([a-z][^`]*)`", sentences):
        words = text.split()
        command: click.Command = cli
        context = click.Context(cli)
        while isinstance(command, click.Group) and words and is_name(words[0]):
            inner = command.get_command(context, words.pop(0))
            assert inner is not None, text
            command = inner
        known = {name for each in command.params for name in each.opts}
        used = {word.partition("=")[0] for word in words if word.startswith("-")}
        assert used <= known, text


def is_name(word: str) -> bool:
    return re.fullmatch(r"[a-z][a-z-]*", word) is not None


def test_whatever_is_not_run_is_still_shown_somewhere() -> None:
    shown = [each.text for page in SHOWING for each in commands_of(page)]

    unused = [
        pattern
        for pattern in NOT_RUN
        if not any(re.match(pattern, command) for command in shown)
    ]
    assert unused == []


def test_every_page_is_in_the_list_of_pages() -> None:
    listed = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}

    assert {page for page in pages if f"]({page})" not in listed} == set()


def test_the_picture_is_whole_and_fetches_nothing() -> None:
    from xml.etree import ElementTree as ET

    picture = ROOT / "docs/terminal.svg"

    ET.parse(picture)  # noqa: S314 - our own file
    text = picture.read_text(encoding="utf-8")
    assert re.findall(r"(?:src|href|url)\W+https?://", text) == []

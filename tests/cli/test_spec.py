"""``ubp spec`` in one process: what it prints, and how it exits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from models import OFF
from spec_books import page_html
from vaults import write_files

from ubp.cli import main

FIRST = page_html(("start", "Start", "Every journey begins."), ("end", "End", "Ends."))
SECOND = page_html(("start", "Start", "A new beginning."), ("more", "More", "Words."))
VERSIONS = ("snapshot-20260101", "snapshot-20260102")


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    write_files(
        tmp_path,
        {
            "ubp.toml": f'{OFF}[specs.sources.demo]\nstrategy = "local"\npath = "p.html"\n'
        },
    )

    def run_command(*arguments: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--root", str(tmp_path)])
        captured = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run_command


def two_snapshots(
    run: Run, root: Path, first: str = FIRST, second: str = SECOND
) -> None:
    for page, day in ((first, "2026-01-01"), (second, "2026-01-02")):
        write_files(root, {"p.html": page})
        assert run("spec", "ingest", "DEMO", "--date", day).code == 0


def test_a_run_says_what_changed(run: Run, tmp_path: Path) -> None:
    two_snapshots(run, tmp_path)

    again = run("spec", "ingest", "demo", "--date", "2026-01-03")

    assert "snapshot-20260102, 1 page, sections: 2 unchanged" in again.out
    assert run("spec", "ingest", "demo", "--quiet").out == ""
    report = run("spec", "ingest", "demo", "--json").value["documents"][0]
    assert (report["unchanged"], report["error"]) == (2, None)
    assert "2 snapshots of specifications" in run("status").out


def test_of_many_pages_that_fail_people_are_told_the_first(
    run: Run, tmp_path: Path
) -> None:
    missing = "".join(f"- [x](gone{number}.md)\n" for number in range(8))
    book = {"SUMMARY.md": f"- [x](here.md)\n{missing}", "here.md": "# Here\n\nWords.\n"}
    write_files(tmp_path / "book", book)

    shown = run("spec", "ingest", "rust", "--from", str(tmp_path / "book"))

    assert shown.code == 0
    assert shown.out.count("there is no such file") == 5
    assert "3 more pages" in shown.out
    told = run("spec", "ingest", "rust", "--from", str(tmp_path / "book"), "--json")
    assert len(told.value["documents"][0]["failed_pages"]) == 8


def test_people_and_programs_are_told_the_same(run: Run, tmp_path: Path) -> None:
    two_snapshots(run, tmp_path)

    for arguments, told in (
        (("list",), "demo-spec"),
        (("list", "demo"), VERSIONS[1]),
        (("search", "demo", "beginning"), "Start"),
        (("search", "demo", "journey", "--version", VERSIONS[0]), "journey"),
        (("search", "demo", "words zebra"), "any"),
        (("get", "demo", "start"), "A new beginning."),
        (("plan", "demo", "--weeks", "2", "--focus", "more"), "More"),
        (("diff", "demo", *VERSIONS), "More"),
    ):
        shown, value = run("spec", *arguments), run("spec", *arguments, "--json")
        assert shown.code == 0, shown.err
        assert told in shown.out
        assert told in value.out
    assert run("spec", "diff", "demo", "latest", "latest").out == "Nothing changed.\n"


def test_a_project_without_an_index_has_no_specifications(run: Run) -> None:
    assert run("spec", "list", "--json").value == []
    assert "ubp spec ingest" in run("spec", "list", "go").out


def test_one_failure_does_not_keep_others_from_being_ingested(
    run: Run, tmp_path: Path
) -> None:
    write_files(tmp_path, {"p.html": FIRST})
    sources = "".join(
        f'[specs.sources.{name}]\npath = "nowhere"\n'
        for name in ("go", "java", "rust", "typescript")
    )
    more = '[specs.sources.odd]\nstrategy = "carrier-pigeon"\n'
    settings = tmp_path / "ubp.toml"
    settings.write_text(settings.read_text("utf-8") + sources + more, encoding="utf-8")

    done = run("spec", "ingest", "all", "--json")

    assert done.code == 1
    errors = {
        each["language"]: each["error"] for each in json.loads(done.out)["documents"]
    }
    assert list(errors) == ["go", "java", "rust", "typescript", "demo", "odd"]
    assert errors["demo"] is None
    assert "carrier-pigeon" in errors["odd"]
    assert [each["language"] for each in run("spec", "list", "--json").value] == [
        "demo"
    ]
    people = run("spec", "ingest", "demo", "odd")
    assert people.code == 1
    assert "demo demo-spec" in people.out
    assert people.err.startswith("Error: ")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("ingest", "cobol"), 1, "typescript"),
        (("ingest",), 1, "typescript"),
        (("ingest", "demo", "go", "--from", "x"), 2, "one language"),
        (("ingest", "go", "--from", "nowhere.html"), 1, "nowhere.html"),
        (("ingest", "demo", "--date", "today"), 2, "today"),
        (("search", "go", "x"), 1, "ubp spec ingest go"),
        (("diff", "go", "a", "b"), 1, "ubp spec ingest go"),
        (("get", "cobol", "x"), 1, "cobol"),
        (("list", "cobol"), 1, "[specs.sources.NAME]"),
        (("plan", "cobol"), 1, "[specs.sources.NAME]"),
        (("search", "python", "x"), 1, "[specs.sources.python]"),
        (("ingest", "csharp"), 1, "[specs.sources.csharp]"),
        (("diff", "cobol", "a", "b"), 1, "cobol"),
    ],
)
def test_a_command_that_fails_says_what_to_do(
    run: Run, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = run("spec", *arguments)

    assert done.code == code
    assert told in done.err
    assert done.err.startswith("Error: ")


def test_a_setting_that_is_none_is_warned_of_once(run: Run, tmp_path: Path) -> None:
    two_snapshots(run, tmp_path)
    with (tmp_path / "ubp.toml").open("a", encoding="utf-8") as settings:
        settings.write('colour = "red"\n')

    for asked in (
        ("list", "demo"),
        ("search", "demo", "x"),
        ("diff", "demo", *VERSIONS),
    ):
        assert run("spec", *asked).err.count("colour") == 1


def test_no_command_gives_more_than_the_policy_allows(run: Run, tmp_path: Path) -> None:
    two_snapshots(
        run,
        tmp_path,
        page_html(("a", "A", "secret " * 1000)),
        page_html(("a", "A", "secret " * 2000)),
    )

    asked = '{"language": "demo", "version": "latest", "section_id": "a"}'
    for arguments in (
        ("spec", "get", "demo", "a"),
        ("spec", "search", "demo", "secret"),
        ("spec", "plan", "demo"),
        ("spec", "diff", "demo", *VERSIONS),
        ("call", "get_section", asked),
        ("status",),
    ):
        for more in ((), ("--json",), ("--log-level", "debug")):
            done = run(*arguments, *more)
            assert done.code == 0, done.err
            # Twice an excerpt of 1,200 characters: as such, and as the snippet.
            assert (done.out + done.err).count("secret") <= 2 * 172


def test_a_specification_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    steering = "\x1b]0;title\x07 \x1b[31mred \x9b2J"
    write_files(
        tmp_path, {"p.html": page_html(("a", f"T{steering}", f"Words {steering}"))}
    )
    run("spec", "ingest", "demo")

    for asked in (("search", "demo", "words"), ("get", "demo", "a"), ("plan", "demo")):
        done = run("spec", *asked)

        assert done.code == 0
        assert "T\ufffd]0;title" in done.out
        assert not set("\x1b\x07\x9b") & set(done.out)


def test_a_base_that_cannot_begin_a_link_is_wrong_usage(
    run: Run, tmp_path: Path
) -> None:
    write_files(tmp_path, {"p.html": FIRST})

    assert run("spec", "ingest", "demo", "--base-url", "javascript:x").code == 2

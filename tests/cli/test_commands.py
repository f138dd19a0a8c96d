"""The commands in one process: what they print, and how they exit."""

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ubp import __version__
from ubp.cli import main

VAULT = Path(__file__).parents[2] / "examples/vault"
LATER = {"index": ["--no-embed"], "init": ["--skip-embedding"]}
"""Vectors are for the tests that are about them: they take most of the time."""


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(VAULT, tmp_path / "vault"))


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(
        *arguments: str, at: Path | None = None, embed: bool = False
    ) -> Done:
        capsys.readouterr()
        later = [] if embed else LATER.get(arguments[0], [])
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *later, "--root", str(at or root)])
        captured = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run_command


def test_index_counts_what_each_enabled_pack_holds(run: Run, root: Path) -> None:
    both = run("index").out
    assert "26 pages" in both
    assert "26 notes" in both

    settings = root / "ubp.toml"
    kept = settings.read_text(encoding="utf-8") if settings.exists() else ""
    settings.write_text(f'packs = ["notes"]\n{kept}', encoding="utf-8")
    only = run("index").out
    assert "26 notes" in only
    assert "pages" not in only


def test_settings_that_cannot_be_indexed_are_not_an_empty_answer(
    run: Run, root: Path
) -> None:
    run("index")
    with (root / "ubp.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[notes]\ndirs = ["../outside"]\nextra_tools = true\n')

    done = run("call", "list_all_docs")

    assert done.code != 0
    assert done.out == ""
    assert "notes.dirs" in done.err


def test_index_then_everything_else_works_for_people(run: Run) -> None:
    assert "26 pages" in run("index").out
    for command, shown in (
        (["search", "hold queue"], "specs/hold-queue.md"),
        (["search", "認証", "--fulltext"], "認証フロー"),
        (["search", "hold queue", "--depth", "1"], "linked:"),
        (["get-page", "specs/hold-queue.md"], "→"),
        (["get-context", "specs/hold-queue.md"], "characters"),
        (["list-pages"], "specs/hold-queue.md"),
        (["get-graph", "--center", "index.md"], "references"),
        (["stale"], "0 pages"),
        (["status"], "lead nowhere"),
        (["tools"], "ubp_get_context"),
        (["doctor"], "docs folder"),
        (["call", "ubp_list_pages"], "doc_id"),
        (["version"], __version__),
    ):
        done = run(*command)
        assert done.code == 0, done
        assert shown in done.out, command


def test_every_command_prints_one_json_document(run: Run) -> None:
    assert run("index", "--json").value["total_documents"] == 26
    for command, key in (
        (["search", "hold"], "search_type"),
        (["search", "hold", "--fulltext"], "total_found"),
        (["get-page", "index.md"], "content"),
        (["get-context", "index.md"], "center"),
        (["list-pages"], "pages"),
        (["get-graph"], "edges"),
        (["stale"], "stale_documents"),
        (["status"], "embedding_progress"),
        (["tools"], "tools"),
        (["tools", "--tokens"], "total"),
        (["doctor"], "checks"),
        (["call", "ubp_list_pages"], "pages"),
        (["version"], "version"),
    ):
        assert key in run(*command, "--json").value, command


def test_the_vault_has_exactly_one_link_that_leads_nowhere(run: Run) -> None:
    run("index")

    assert run("status", "--json").value["unresolved_links"] == 1
    assert run("status", "--check").code == 1


def test_stale_names_the_page_and_the_changed_source(run: Run, root: Path) -> None:
    run("index")
    (root / "src/loans.py").write_text("changed = True\n", encoding="utf-8")

    done = run("stale", "--json", "--exit-code")

    assert done.code == 1
    refs = {
        ref["source_path"]
        for d in done.value["stale_documents"]
        for ref in d["stale_refs"]
    }
    assert refs == {"src/loans.py"}
    assert "src/loans.py (modified)" in run("stale").out
    staleness = run("stale", "--json", "--days", "0").value["stale_documents"][0]
    assert staleness["staleness"] == "stale"


def test_reading_again_with_force_makes_pages_fresh(run: Run, root: Path) -> None:
    run("index")
    (root / "src/loans.py").write_text("changed = True\n", encoding="utf-8")

    run("index", "--force")

    assert run("stale", "--json").value["total"] == 0


def test_one_file_can_be_indexed_by_any_of_its_names(run: Run, root: Path) -> None:
    run("index")
    (root / "docs/index.md").write_text("# Changed\n", encoding="utf-8")

    for name in ("docs/index.md", "index.md", str(root / "docs/index.md")):
        assert run("index", "--file", name).code == 0

    assert run("get-page", "index.md", "--json").value["title"] == "Changed"
    assert run("status", "--json").value["total_documents"] == 26
    assert run("index", "--file", "docs/none.txt").code == 1


def test_a_project_never_indexed_is_an_error_that_says_what_to_do(run: Run) -> None:
    done = run("list-pages")

    assert done.code == 1
    assert [line.split(":")[0].strip() for line in done.err.splitlines()] == [
        "Error",
        "Cause",
        "Hint",
    ]
    assert "ubp index" in done.err
    assert run("status", "--json").value["initialized"] is False


def test_errors_in_json_have_the_same_three_parts(run: Run) -> None:
    run("index")

    done = run("get-page", "gone.md", "--json")

    assert done.code == 1
    assert "gone.md" in done.value["error"]["message"]
    assert set(done.value["error"]) == {"message", "cause", "hint"}


@pytest.mark.parametrize(
    "arguments",
    [["frobnicate"], ["search"], ["list-pages", "--nonsense"], ["call", "x", "{no"]],
)
def test_wrong_usage_exits_2_with_three_lines(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)

    assert done.code == 2
    assert len(done.err.splitlines()) == 3
    assert run(*arguments, "--json").value["error"]["hint"].startswith("Run `ubp")


def test_call_tells_what_a_client_would_be_told(run: Run) -> None:
    run("index")

    done = run("call", "ubp_search", '{"query": "x", "limit": 99}')

    assert done.code == 1
    assert "limit" in done.err
    assert "-32602" in done.err
    assert run("call", "no_such_tool").code == 1


def test_settings_that_cannot_be_used_name_the_key(run: Run, root: Path) -> None:
    (root / "ubp.toml").write_text("[search]\ndefault_limit = 99\n", encoding="utf-8")

    done = run("index")

    assert done.code == 1
    assert "search.default_limit" in done.err
    assert run("doctor").code == 1


def test_unknown_settings_are_ignored_with_a_warning(run: Run, root: Path) -> None:
    (root / "ubp.toml").write_text("[serach]\nlimit = 1\n", encoding="utf-8")

    done = run("index", "--log-level", "warn")

    assert done.code == 0
    assert "serach" in done.err
    assert "serach" in run("doctor").out


def test_a_default_limit_in_the_settings_is_used(run: Run, root: Path) -> None:
    (root / "ubp.toml").write_text("[search]\ndefault_limit = 2\n", encoding="utf-8")
    run("index")

    assert len(run("search", "loan", "--json").value["results"]) == 2


def test_init_writes_settings_once_and_ignores_its_own_files(
    run: Run, root: Path
) -> None:
    (root / ".gitignore").write_text("build/", encoding="utf-8")

    first = run("init", "--docs-dir", "docs", "--exclude", "todo/**")

    assert first.code == 0
    assert "claude mcp add" in first.out
    settings = tomllib.loads((root / "ubp.toml").read_text(encoding="utf-8"))
    assert settings == {"docs_dir": "docs", "source": {"exclude": ["todo/**"]}}
    assert (root / ".gitignore").read_text(encoding="utf-8") == "build/\n.ubp/\n"
    (root / "ubp.toml").write_text("", encoding="utf-8")
    assert run("init", "--quiet").out == "Kept ubp.toml.\n"
    assert run("init", "--json").value["documents_found"] == 26
    assert (root / "ubp.toml").read_text(encoding="utf-8") == ""
    assert (root / ".gitignore").read_text(encoding="utf-8") == "build/\n.ubp/\n"


def test_a_docs_folder_outside_the_project_is_refused(run: Run, root: Path) -> None:
    (root / "ubp.toml").write_text('docs_dir = ".."\n', encoding="utf-8")

    done = run("index")

    assert done.code == 1
    assert "docs_dir" in done.err


def test_a_root_that_is_no_folder_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("index", at=tmp_path / "nowhere").code == 1


def test_a_damaged_index_is_found_by_the_doctor(run: Run, root: Path) -> None:
    run("index")
    (root / ".ubp/index.db").write_bytes(b"no database at all" * 100)

    done = run("doctor", "--json")

    assert done.code == 1
    [index] = [c for c in done.value["checks"] if c["name"] == "index"]
    assert index["verdict"] == "fail"
    assert "ubp index" in index["hint"]

    assert "26 pages" in run("index").out
    [index] = [
        c for c in run("doctor", "--json").value["checks"] if c["name"] == "index"
    ]
    assert index["verdict"] == "warn"
    assert "index.db.damaged" in index["hint"]


def test_the_doctor_notices_a_full_disk(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage("/")._replace(free=4_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)

    done = run("doctor", "--json")

    assert done.code == 1
    [writing] = [c for c in done.value["checks"] if c["name"] == "writing"]
    assert "disk is full" in writing["finding"]


def test_failures_and_warnings_are_shown_with_their_reasons(
    run: Run, root: Path
) -> None:
    (root / "docs/latin.md").write_bytes(b"caf\xe9")
    (root / "docs/broken.md").write_text(
        "---\na: [b\n---\n# Broken\n", encoding="utf-8"
    )
    run("index")

    status = run("status", "--json").value

    assert [f["path"] for f in status["failures"]] == ["latin.md"]
    assert [w["path"] for w in status["warnings"]] == ["broken.md"]
    shown = run("status").out
    assert "latin.md: Not UTF-8" in shown
    assert "broken.md: The front matter" in shown


def test_waiting_files_are_those_the_index_does_not_have_yet(
    run: Run, root: Path
) -> None:
    run("index")
    assert run("status", "--json").value["waiting_files"] == 0

    (root / "docs/new.md").write_text("# New\n", encoding="utf-8")
    (root / "docs/index.md").unlink()

    assert run("status", "--json").value["waiting_files"] == 2


def test_json_logs_have_their_four_fields(run: Run) -> None:
    done = run("index", "--log-level", "debug", "--log-format", "json")

    entries = [json.loads(line) for line in done.err.splitlines()]
    assert entries
    for entry in entries:
        assert {"ts", "level", "component", "msg"} <= set(entry)


def test_a_log_file_gets_json_lines_too(run: Run, root: Path) -> None:
    (root / "ubp.toml").write_text('[log]\nfile = "logs/ubp.log"\n', encoding="utf-8")

    run("index", "--log-level", "info")

    lines = (root / "logs/ubp.log").read_text(encoding="utf-8").splitlines()
    assert any(json.loads(line)["msg"] == "index.updated" for line in lines)


def test_options_may_stand_before_the_command(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["index", "--no-embed"], ["list-pages"]):
        with pytest.raises(SystemExit) as ended:
            main(["--root", str(root), "--json", *arguments])
        assert ended.value.code == 0

    assert '"total": 26' in capsys.readouterr().out


def test_documents_may_contain_what_looks_like_our_marks(run: Run, root: Path) -> None:
    odd = "# Odd\n\nquokka </mark> <mark> [red]quokka[/red] [/] \\\n"
    (root / "docs/odd.md").write_text(odd, encoding="utf-8")
    run("index")

    for arguments in (["search", "quokka"], ["search", "quokka", "--fulltext"]):
        done = run(*arguments)
        assert done.code == 0
        assert "quokka" in done.out
        assert "[red]" in done.out
    assert run("get-page", "odd.md").code == 0


def test_a_docs_folder_that_is_not_there_is_an_error_not_an_empty_index(
    run: Run, root: Path
) -> None:
    run("index")
    (root / "ubp.toml").write_text('docs_dir = "nope"\n', encoding="utf-8")

    done = run("index")

    assert done.code == 1
    assert "docs_dir" in done.err
    (root / "ubp.toml").unlink()
    assert run("status", "--json").value["total_documents"] == 26


def test_no_packs_at_all_is_still_a_project(run: Run, root: Path) -> None:
    (root / "ubp.toml").write_text("packs = []\n", encoding="utf-8")

    assert run("index", "--json").value["total_documents"] == 0
    (root / "ubp.toml").write_text('packs = ["nothing"]\n', encoding="utf-8")
    assert run("index").code == 1


def test_a_file_in_the_place_of_our_folder_is_an_error_that_says_so(
    run: Run, root: Path
) -> None:
    (root / ".ubp").write_text("in the way", encoding="utf-8")

    done = run("index")

    assert done.code == 1
    assert ".ubp" in done.err
    assert "Internal" not in done.err


def test_an_error_with_json_and_json_logs_is_still_on_stdout(run: Run) -> None:
    run("index")

    done = run("get-page", "gone.md", "--json", "--log-format", "json")

    assert "gone.md" in done.value["error"]["message"]
    assert json.loads(done.err)["hint"]


def test_a_deleted_file_can_be_forgotten_by_name_and_an_unknown_one_is_an_error(
    run: Run, root: Path
) -> None:
    run("index")
    (root / "docs/index.md").unlink()

    assert run("index", "--file", "index.md").code == 0
    assert run("status", "--json").value["total_documents"] == 25
    assert run("index", "--file", "never.md").code == 1


def test_another_site_prefix_reads_every_page_again_and_keeps_it_stale(
    run: Run, root: Path
) -> None:
    (root / "docs/site.md").write_text("[x](/handbook/index)\n", encoding="utf-8")
    run("index")
    (root / "src/loans.py").write_text("changed = True\n", encoding="utf-8")
    stale = run("stale", "--json").value["total"]
    (root / "ubp.toml").write_text(
        '[docs]\nsite_prefix = "/handbook/"\n', encoding="utf-8"
    )

    done = run("index", "--json").value

    assert done["documents_processed"] == 27
    links = run("get-page", "site.md", "--json").value["outlinks"]
    assert [link["filepath"] for link in links] == ["index.md"]
    assert run("stale", "--json").value["total"] == stale > 0
    assert run("index", "--json").value["documents_processed"] == 0


def test_index_counts_what_is_new_changed_unchanged_and_gone(
    run: Run, root: Path
) -> None:
    first = _counters(run("index", "--json"))
    (root / "docs/new.md").write_text("# New\n", encoding="utf-8")
    (root / "docs/index.md").write_text("# Changed\n", encoding="utf-8")
    (root / "docs/guides/getting-started.md").unlink()

    assert first == {"added": 26, "updated": 0, "skipped": 0, "removed": 0}
    assert _counters(run("index", "--json")) == {
        "added": 1,
        "updated": 1,
        "skipped": 24,
        "removed": 1,
    }
    told = run("index").out
    assert "0 new, 0 changed, 26 unchanged, 0 removed" in told
    assert "skill" not in told  # of what nobody uses here
    assert "card" not in told


def _counters(done: Done) -> dict[str, int]:
    names = ("added", "updated", "skipped", "removed")
    return {name: done.value[f"documents_{name}"] for name in names}


def test_pages_that_git_comes_to_ignore_leave_the_index_and_come_back(
    run: Run, root: Path
) -> None:
    run("index")
    (root / ".gitignore").write_text("/docs/specs/\n", encoding="utf-8")
    specs = len(list((root / "docs/specs").rglob("*.md")))

    assert run("status", "--json").value["waiting_files"] == specs > 0
    assert run("index", "--json").value["documents_removed"] == specs
    assert run("index", "--file", "specs/hold-queue.md").code == 1
    (root / "ubp.toml").write_text("[source]\ngitignore = false\n", encoding="utf-8")
    assert run("index", "--json").value["total_documents"] == 26


def test_a_moved_page_keeps_its_id(run: Run, root: Path) -> None:
    run("index")
    before = run("get-page", "specs/hold-queue.md", "--json").value["doc_id"]
    (root / "docs/specs").rename(root / "docs/moved")

    run("index")

    assert run("get-page", "moved/hold-queue.md", "--json").value["doc_id"] == before
    assert run("status", "--json").value["total_documents"] == 26


def test_doctor_says_where_the_pages_are_and_why_there_are_none(
    run: Run, root: Path
) -> None:
    def docs_folder() -> dict[str, str]:
        checks = run("doctor", "--json").value["checks"]
        return next(each for each in checks if each["name"] == "docs folder")

    (root / ".gitignore").write_text("*.md\n", encoding="utf-8")
    assert docs_folder()["verdict"] == "warn"
    assert "git" in docs_folder()["hint"]
    globs = f"include = ['{'{a,b}' * 12}']"
    (root / "ubp.toml").write_text(f"[source]\n{globs}\n", encoding="utf-8")
    assert docs_folder()["verdict"] == "fail"


def test_tokens_of_tools_add_up_to_those_of_their_packs(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "ubp.toml").write_text('packs = ["docs", "notes"]\n', encoding="utf-8")

    told = run("tools", "--tokens", "--json", at=tmp_path).value

    assert set(told["packs"]) == {"docs", "notes"}
    assert told["total"] < 5_000
    apart = sum(told["tools"].values())
    # Each is rounded up, and brackets and commas are counted with the whole.
    assert abs(apart - told["total"]) <= len(told["tools"])
    assert abs(sum(told["packs"].values()) - told["total"]) <= len(told["packs"]) + 3

"""Specifications through the real commands, and beside a running server."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from clients import UBP, serving
from file_server import file_server
from models import OFF
from spec_books import page_html
from vaults import write_files

pytestmark = pytest.mark.slow

QUICK = {
    **os.environ,
    "NO_PROXY": "127.0.0.1",
    "UBP_RETRY_BASE_MS": "1",
    "UBP_PAGE_DELAY_MS": "0",
}
FIRST = page_html(
    ("start", "Start", "Every journey begins."), ("end", "End", "It ends.")
)
SECOND = page_html(("start", "Start", "A new beginning."), ("more", "More", "Words."))


def run(root: Path, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*UBP, *arguments, "--root", str(root)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**QUICK, **env},
        timeout=100,
        check=False,
    )


def value(root: Path, *arguments: str) -> Any:
    done = run(root, *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def source(root: Path, url: str, policy: str = "excerpt_only") -> None:
    settings = f'[specs.sources.demo]\nstrategy = "single-html"\nurl = "{url}"\npolicy = "{policy}"\n'
    write_files(root, {"ubp.toml": OFF + settings})


def test_a_specification_is_ingested_searched_read_planned_and_compared(
    tmp_path: Path,
) -> None:
    with file_server() as server:
        server.files["/spec"] = FIRST.encode()
        source(tmp_path, f"{server.url}/spec")
        assert value(tmp_path, "spec", "list") == []
        day = ("--date", "2026-01-01")
        [done] = value(tmp_path, "spec", "ingest", "DEMO", *day)["documents"]
        assert (done["inserted"], done["error"]) == (2, None)
        server.files["/spec"], server.tag = SECOND.encode(), '"second"'
        told = run(tmp_path, "spec", "ingest", "demo", "--date", "2026-01-02")
        assert "1 new, 1 changed, 1 removed" in told.stdout

    versions = [each["version"] for each in value(tmp_path, "spec", "list", "demo")]
    assert versions == ["snapshot-20260102", "snapshot-20260101"]
    [hit] = value(tmp_path, "spec", "search", "demo", "beginning")
    assert hit["url"] == f"{server.url}/spec#start"
    section = value(tmp_path, "spec", "get", "demo", "end", "--version", versions[1])
    assert section["content"]["excerpt"] == "It ends."
    plan = value(tmp_path, "spec", "plan", "demo", "--weeks", "2")
    assert plan["total_weeks"] == 2
    difference = value(tmp_path, "spec", "diff", "demo", versions[1], "latest")
    assert difference == {
        "added": [{"section_id": "more", "title": "More"}],
        "removed": [{"section_id": "end", "title": "End"}],
        "changed": [{"section_id": "start", "title": "Start"}],
    }


def test_a_running_server_answers_from_what_is_ingested_meanwhile(
    tmp_path: Path,
) -> None:
    page = tmp_path / "spec.html"
    page.write_text(FIRST, encoding="utf-8")
    root = tmp_path / "project"
    root.mkdir()
    source(root, "https://nowhere.example/spec", "local_fulltext_ok")
    with serving(root, environment=QUICK) as client:
        assert client.call("list_languages") == {"result": []}
        value(root, "spec", "ingest", "demo", "--from", str(page))
        [hit] = client.call("search_spec", language="demo", query="journeys")["result"]
        assert hit["url"] == "https://nowhere.example/spec#start"
        section = client.call(
            "get_section", language="demo", version="latest", section_id="start"
        )
        assert section["content"]["fulltext"] == "Every journey begins."

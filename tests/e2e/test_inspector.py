"""The official TypeScript client, through the Inspector's command line, in both eras."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from compat_tools import compat_tool
from models import without_model
from vaults import write_files

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("era", ["legacy", "modern"])]

PAGE = "ubp://docs/" + quote("鍵.md")
SKILL = "---\nname: knots\ndescription: How to tie a bowline.\n---\n\n# Knots\n\nTie.\n"
SETTINGS = '[registry]\nskills_dirs = ["skills"]\n'

Inspect = Callable[..., dict[str, Any]]


@pytest.fixture
def inspect(tmp_path: Path, era: str) -> Inspect:
    """Start the client, have it start the server, ask one thing, and end both."""
    inspector = compat_tool("mcp-inspector")
    root = tmp_path / "project"
    files = {
        "docs/hold.md": "# Hold queue\n\nWho is next in line.\n",
        "docs/鍵.md": "# 鍵\n\n延滞した人は鍵を回す。\n",
        "skills/knots/SKILL.md": SKILL,
        "ubp.toml": SETTINGS,
    }
    write_files(root, files)
    without_model(root)
    ubp = [sys.executable, "-m", "ubp"]
    subprocess.run([*ubp, "index", "--quiet", "--root", str(root)], check=True)
    own = {
        "HOME": str(tmp_path),  # the Inspector keeps things there
        "MCP_CATALOG_PATH": str(tmp_path / "catalog.json"),
        "MCP_CLIENT_CONFIG_PATH": str(tmp_path / "client.json"),
    }
    passed = [
        f"-e{name}={os.environ[name]}"
        for name in ("PYTHONPATH", "XDG_CACHE_HOME")
        if name in os.environ
    ]

    def ask(method: str, *options: str, code: int = 0) -> dict[str, Any]:
        asked = ["--cli", "--format", "json", "--protocol-era", era, "--method", method]
        served = [*ubp, "serve", "--quiet", "--root", str(root)]
        done = subprocess.run(
            [*inspector, *asked, *options, *passed, *served],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **own},
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        said = done.stdout if code == 0 else done.stderr.strip().splitlines()[-1]
        value: dict[str, Any] = json.loads(said)["result" if code == 0 else "error"]
        return value

    return ask


def test_it_is_greeted_in_its_era(inspect: Inspect, era: str) -> None:
    greeting = inspect("initialize")

    expected = {"legacy": "2025-11-25", "modern": "2026-07-28"}
    assert greeting["protocolVersion"] == expected[era]
    assert greeting["serverInfo"]["name"] == "ubp"
    assert greeting["instructions"]


def test_it_finds_no_fault_in_any_schema_of_a_tool(inspect: Inspect) -> None:
    tools = {tool["name"] for tool in inspect("tools/list", "--strict")["tools"]}
    assert {"ubp_search", "search_docs", "kanban_list"} <= tools


@pytest.mark.parametrize(
    ("query", "page"), [("hold queue", "hold.md"), ("延滞", "鍵.md")]
)
def test_it_searches_in_two_languages(inspect: Inspect, query: str, page: str) -> None:
    arguments = json.dumps({"query": query}, ensure_ascii=False)
    asked = ["--tool-name", "ubp_search", "--tool-args-json", arguments]

    answer = inspect("tools/call", *asked)

    assert answer["structuredContent"]["results"][0]["filepath"] == page
    assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]


def test_it_lists_and_reads_pages(inspect: Inspect) -> None:
    assert PAGE in {each["uri"] for each in inspect("resources/list")["resources"]}
    assert inspect("resources/templates/list")["resourceTemplates"]
    [contents] = inspect("resources/read", "--uri", PAGE)["contents"]
    assert contents["text"].startswith("# 鍵")


def test_it_gets_a_prompt(inspect: Inspect) -> None:
    assert inspect("prompts/list")["prompts"]
    added = json.dumps({"title": "鍵を作る"}, ensure_ascii=False)
    tool = ["--tool-name", "kanban_new", "--tool-args-json", added]
    made = inspect("tools/call", *tool)["structuredContent"]
    asked = ["--prompt-name", "kanban_split_card", "--prompt-args"]

    messages = inspect("prompts/get", *asked, f"cardId={made['cardId']}")["messages"]

    assert "鍵を作る" in messages[0]["content"]["text"]


def test_it_lists_and_gets_skills(inspect: Inspect) -> None:
    [skill] = inspect("skills/list")["skills"]
    assert skill["frontmatter"]["name"] == "knots"
    inspect("skills/get", "--uri", skill["uri"])


def test_it_is_told_what_is_wrong(inspect: Inspect) -> None:
    tool = ["--tool-name", "ubp_get_page", "--tool-args-json", '{"filepath": "no.md"}']
    assert "no.md" in inspect("tools/call", *tool, code=1)["message"]
    assert inspect("resources/read", "--uri", "ubp://docs/no.md", code=1)["message"]

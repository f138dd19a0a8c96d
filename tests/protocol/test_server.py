"""The server through the SDK's own client, in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from contributions import skill_text, trace
from mcp import Client
from mcp.shared.exceptions import MCPError
from waiting import until

from ubp.actors.wiring import serving
from ubp.packs import discover
from ubp.project import open_project
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.server import build


@asynccontextmanager
async def connected(root: Path) -> AsyncIterator[Client]:
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs/a.md").write_text("# Alpha\n\nA walrus. [[b]]\n", encoding="utf-8")
    (root / "docs/b.md").write_text("# Beta\n\n鍵を回す。\n", encoding="utf-8")
    packs = discover()
    async with serving(open_project(root), packs) as service:
        async with Client(build(Dispatcher(service, packs), packs)) as client:

            async def indexed() -> bool:
                return await pages(client) == 2

            await until(indexed)
            yield client


async def pages(client: Client) -> int:
    answer = await client.call_tool("ubp_list_pages", {})
    total: int = value(answer)["total"]
    return total


def value(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer.structured_content
    return found


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("ubp_search", {"query": "walrus", "include_linked": True}),
    ("ubp_get_page", {"filepath": "a.md"}),
    ("ubp_get_context", {"filepath": "a.md"}),
    ("ubp_fulltext_search", {"query": "鍵"}),
    ("ubp_list_pages", {}),
    ("ubp_get_graph", {"center": "a.md"}),
    ("search_docs", {"query": "anything"}),
    ("list_tags", {}),
    ("list_languages", {}),
    ("list_versions", {"language": "go"}),
    ("kp_contribute_skill", {"skill_md_content": skill_text()}),
    ("kp_contribute_knowledge", {"unit": trace(), "visibility": "network"}),
    ("kp_search_skill", {"query": ""}),
    ("kp_search_knowledge", {"query": "figures"}),
    ("kp_reputation_query", {"agent_id": "kp:agent:local"}),
    ("kanban_new", {"title": "A card"}),
    ("kanban_list", {"query": "card"}),
    ("kanban_relations_set", {}),
    ("kanban_watch", {}),
]
ELSEWHERE = {
    "get_doc",
    "search_spec",
    "get_section",
    "build_learning_plan",
    "kp_validate_unit",
    "kanban_get",
    "kanban_move",
    "kanban_done",
    "kanban_update",
    "kanban_tree",
    "kanban_notes_append",
    "kanban_notes_list",
}
"""Tools with nothing to answer from in this project; their packs' tests do the same."""


async def test_every_tool_answers_what_its_schema_promises(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {name for name, _ in CALLS} | ELSEWHERE

        for name, arguments in CALLS:
            answer = await client.call_tool(name, arguments)
            jsonschema.validate(value(answer), tools[name].output_schema or {})


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("ubp_nothing", {}, -32602),
        ("ubp_search", {"query": 1}, -32602),
        ("ubp_get_page", {"filepath": "gone.md"}, -32001),
        ("ubp_get_graph", {"center": "gone.md"}, -32001),
    ],
)
async def test_an_error_has_its_code(
    tmp_path: Path, name: str, arguments: dict[str, Any], code: int
) -> None:
    async with connected(tmp_path) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool(name, arguments)

        assert caught.value.code == code


async def test_the_server_says_when_to_use_what(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        assert "ubp_search" in (client.instructions or "")


async def test_a_fault_of_ours_is_internal_and_says_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(tmp_path) as client:

        async def broken(*_: object) -> None:
            raise KeyError("secret/path")

        monkeypatch.setattr(Dispatcher, "call", broken)
        with pytest.raises(MCPError) as caught:
            await client.call_tool("ubp_list_pages", {})

        assert caught.value.code == -32603
        assert caught.value.message == "Internal error."
        assert caught.value.data == {"code": "internal"}

"""Prompts through the SDK's own client, in both eras of the protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from boards import BOARDS
from hearing import ERAS, Era
from mcp import Client
from mcp.shared.exceptions import MCPError
from services import answering
from vaults import vault

from ubp.packs.docs import PACK

pytestmark = pytest.mark.parametrize("era", ERAS)


@asynccontextmanager
async def connected(root: Path, era: Era) -> AsyncIterator[Client]:
    project = vault(root, {"boards/b1/c1.bin": "1", "boards/b2/c2.bin": ""})
    async with answering(project, [PACK, BOARDS]) as it:
        async with it.client(mode=era) as client:
            yield client


async def refused(call: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await call
    return caught.value


async def test_prompts_are_listed_with_their_arguments(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        listed = await client.list_prompts()

        assert listed.next_cursor is None
        [prompt] = [each for each in listed.prompts if each.name == "board_split"]
        assert prompt.description == "Split a card. Into several."
        assert prompt.arguments == [
            types.PromptArgument(name="card", description="The card.", required=True),
            types.PromptArgument(name="count", description="How many.", required=False),
        ]


async def test_a_prompt_comes_to_messages_and_numbers_may_be_text(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        made = await client.get_prompt("board_split", {"card": "c1", "count": "4"})

        assert [(each.role, each.content) for each in made.messages] == [
            ("user", types.TextContent(text="Split c1 into 4.")),
            ("assistant", types.TextContent(text="Gladly.")),
        ]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nothing", {}),
        ("board_split", None),
        ("board_split", {"card": "gone"}),
        ("board_split", {"card": "c1", "count": "1"}),
        ("board_split", {"card": "c1", "count": "many"}),
        ("board_split", {"card": "c1", "color": "red"}),
        ("board_nothing", {}),
        ("board.complete_argument", {}),
    ],
)
async def test_a_prompt_that_cannot_be_made_is_an_invalid_parameter(
    tmp_path: Path, era: Era, name: str, arguments: dict[str, str] | None
) -> None:
    async with connected(tmp_path, era) as client:
        error = await refused(client.get_prompt(name, arguments))

        assert error.code == -32602


async def test_a_cursor_nobody_gave_is_an_invalid_parameter(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        assert (await refused(client.list_prompts(cursor="x"))).code == -32602


async def test_arguments_are_completed(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as client:
        about = types.PromptReference(name="board_split")
        found = await client.complete(about, {"name": "card", "value": "c2"})

        assert found.completion.values == ["c2"]
        assert (found.completion.total, found.completion.has_more) == (2, True)


@pytest.mark.parametrize(
    ("prompt", "argument"), [("nothing", "card"), ("board_split", "nothing")]
)
async def test_what_cannot_be_completed_is_an_invalid_parameter(
    tmp_path: Path, era: Era, prompt: str, argument: str
) -> None:
    async with connected(tmp_path, era) as client:
        about = types.PromptReference(name=prompt)
        error = await refused(client.complete(about, {"name": argument, "value": ""}))

        assert error.code == -32602


async def test_a_prompt_is_no_tool(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "board_split" not in listed
        error = await refused(client.call_tool("board_split", {"card": "c1"}))
        assert error.code == -32602


async def test_prompts_are_promised_only_where_there_are_some(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path / "with", era) as client:
        assert client.server_capabilities is not None
        assert client.server_capabilities.prompts is not None
    (tmp_path / "without").mkdir()
    async with answering(
        vault(tmp_path / "without", {}), [replace(PACK, prompts=None)]
    ) as it:
        async with it.client(mode=era) as client:
            assert client.server_capabilities is not None
            assert client.server_capabilities.prompts is None
            assert (await refused(client.list_prompts())).code == -32601

"""The prompts of the docs pack: they begin with what the index knows."""

from collections.abc import AsyncIterator
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from models import OFF
from services import answering
from vaults import vault

from ubp.packs import enabled

PAGES = {
    "auth.md": '---\nsource_refs: ["src/auth.py"]\n---\n# Sign in\n\nTokens. [k](keys.md)\n',
    "keys.md": "---\ndoc_type: guide\n---\n# Keys\n\nKeys are renewed each month.\n",
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    project = vault(tmp_path, {"ubp.toml": OFF, "src/auth.py": "old\n"})
    async with answering(project, enabled(["docs"], project.settings)) as service:
        for path, text in PAGES.items():
            service.write(path, text)
        service.settle()
        async with service.client() as connected:
            yield connected


async def told(client: Client, prompt: str, **arguments: str) -> str:
    made = await client.get_prompt(prompt, arguments)
    (message,) = made.messages
    assert isinstance(message.content, types.TextContent)
    assert message.role == "user"
    return message.content.text


async def test_context_is_gathered_from_the_pages_that_a_search_finds(
    client: Client,
) -> None:
    text = await told(client, "ubp_gather_context", task="renew the keys")

    assert "renew the keys" in text
    assert "keys.md: Keys" in text
    assert "ubp_get_context" in text


async def test_exploring_begins_with_kinds_and_the_pages_that_link_most(
    client: Client,
) -> None:
    text = await told(client, "ubp_explore")

    assert "There are 2 pages" in text
    assert "- guide: 1" in text
    assert "auth.md: Sign in" in text


async def test_exploring_a_page_begins_with_its_neighbours(client: Client) -> None:
    assert "auth.md: Sign in" in await told(client, "ubp_explore", filepath="keys.md")
    with pytest.raises(MCPError) as caught:
        await told(client, "ubp_explore", filepath="gone.md")
    assert caught.value.code == -32001


async def test_freshness_is_checked_where_sources_changed(
    client: Client, tmp_path: Path
) -> None:
    before = await told(client, "ubp_check_freshness")
    (tmp_path / "src/auth.py").write_text("another thing\n", encoding="utf-8")

    after = await told(client, "ubp_check_freshness")
    other = await told(client, "ubp_check_freshness", filepath="keys.md")

    assert "nothing is out of date" in before
    assert "ask me which" in before
    assert "ask me which" not in after + other
    assert "auth.md is possibly_stale: src/auth.py modified" in after
    assert "nothing is out of date" in other


async def test_a_path_is_completed(client: Client) -> None:
    found = await client.complete(
        types.PromptReference(name="ubp_explore"), {"name": "filepath", "value": "ke"}
    )

    assert found.completion.values == ["keys.md"]

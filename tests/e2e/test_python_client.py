"""The official Python client, over a real pipe, in both eras."""

import os
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hearing import ERAS, Era
from mcp import Client, StdioServerParameters
from models import without_model
from vaults import write_files
from waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("era", ERAS)]

PAGES = {
    "docs/hold.md": "# Hold queue\n\nWho is next in line.\n",
    "docs/鍵.md": "# 鍵\n\n延滞した人は鍵を回す。\n",
}


async def test_it_lists_calls_and_reads(tmp_path: Path, era: Era) -> None:
    without_model(tmp_path)
    write_files(tmp_path, PAGES)
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ubp", "serve", "--quiet", "--root", str(tmp_path)],
        env=dict(os.environ),
    )
    async with Client(server, mode=era) as client:

        async def indexed() -> bool:
            pages = (await client.call_tool("ubp_list_pages", {})).structured_content
            return pages is not None and pages["total"] == 2

        await until(indexed)
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"ubp_search", "kanban_list"} <= names
        for query, page in (("hold queue", "hold.md"), ("延滞", "鍵.md")):
            answer = await client.call_tool("ubp_search", {"query": query})
            assert answer.structured_content is not None
            assert answer.structured_content["results"][0]["filepath"] == page
        [contents] = (
            await client.read_resource(f"ubp://docs/{quote('鍵.md')}")
        ).contents
        assert contents.model_dump()["text"] == PAGES["docs/鍵.md"]
        assert (await client.list_prompts()).prompts
        assert (client.protocol_version >= "2026") == (era == "auto")

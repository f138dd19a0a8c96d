"""Several agents at one registry, and a server for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from models import OFF
from vaults import vault

from ubp.actors.wiring import serving
from ubp.packs import enabled
from ubp.project import open_project
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.server import build

__all__ = ("Agents", "registry")


class Agents:
    """Agents who take turns at one server: whoever is named acts from then on."""

    def __init__(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client = client
        self._environment = monkeypatch

    def becomes(self, agent: str, org: str = "") -> None:
        self._environment.setenv("KP_AGENT_ID", f"kp:agent:{agent}")
        self._environment.setenv("KP_ORG_ID", org)

    async def answer(self, tool: str, **arguments: Any) -> Any:
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer
        schemas = {each.name: each for each in (await self.client.list_tools()).tools}
        jsonschema.validate(
            answer.structured_content, schemas[tool].output_schema or {}
        )
        return answer

    async def value(self, tool: str, **arguments: Any) -> Any:
        answer = await self.answer(tool, **arguments)
        return answer.structured_content.get("result", answer.structured_content)

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer
        [block] = answer.content
        text: str = block.text  # type: ignore[union-attr]
        assert text.startswith("Error: ")
        return text

    async def share(self, unit: dict[str, Any], visibility: str = "network") -> Any:
        return await self.value(
            "kp_contribute_knowledge", unit=unit, visibility=visibility
        )

    async def skill(self, text: str, **more: Any) -> Any:
        return await self.value("kp_contribute_skill", skill_md_content=text, **more)

    async def units(self, query: str, **more: Any) -> dict[str, Any]:
        arguments = {"query": query, "limit": 10, "min_quality": 0, **more}
        found = await self.value("kp_search_knowledge", **arguments)
        return {each["id"]: each for each in found}

    async def skills(self, query: str, **more: Any) -> dict[str, Any]:
        arguments = {"query": query, "limit": 20, "min_quality": 0, **more}
        found = await self.value("kp_search_skill", **arguments)
        return {each["id"]: each for each in found}

    async def vote(self, ident: str, valid: bool, **more: Any) -> Any:
        return await self.value("kp_validate_unit", unit_id=ident, valid=valid, **more)

    async def reputation(self, agent: str) -> Any:
        return await self.value("kp_reputation_query", agent_id=f"kp:agent:{agent}")


@asynccontextmanager
async def registry(
    root: Path, monkeypatch: pytest.MonkeyPatch, settings: str = "", **options: Any
) -> AsyncIterator[Agents]:
    vault(root, {"ubp.toml": OFF + settings})
    project = open_project(root)
    packs = enabled(["registry"], project.settings)
    async with serving(project, packs) as service:
        server = build(Dispatcher(service, packs), packs)
        async with Client(server, **options) as client:
            agents = Agents(client, monkeypatch)
            agents.becomes("ann", "one")
            yield agents

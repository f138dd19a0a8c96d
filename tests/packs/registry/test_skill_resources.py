"""Skills as clients attach them, in both eras of the protocol."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from agents import Agents, registry
from contributions import good_skill_text, skill_text, trace
from hearing import ERAS, Era, Heard, following
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict

from ubp.packs.registry.uris import ident_and_name, is_standard_name, uri
from ubp.protocol import skills as skill_requests

pytestmark = pytest.mark.parametrize("era", ERAS)


class Answer(BaseModel):
    """Whatever comes back: the SDK knows nothing of these methods."""

    model_config = ConfigDict(extra="allow")


class Request(types.Request[dict[str, Any], str]):
    """A request of such a method."""


@asynccontextmanager
async def two_agents(
    root: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> AsyncIterator[Agents]:
    async with registry(root, monkeypatch, mode=era) as agents:
        yield agents


async def asked(agents: Agents, method: str, **params: Any) -> dict[str, Any]:
    request = Request(method=method, params=params)
    answer = await agents.client.session.send_request(request, Answer)
    return answer.model_dump(by_alias=True)


async def refused(call: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await call
    return caught.value


async def all_skills(agents: Agents) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    while True:
        answer = await asked(agents, "skills/list", **params)
        found += answer["skills"]
        if "nextCursor" not in answer:
            return found
        params = {"cursor": answer["nextCursor"]}


async def read(agents: Agents, address: str) -> str:
    [contents] = (await agents.client.read_resource(address)).contents
    assert isinstance(contents, types.TextResourceContents)
    assert contents.mime_type == "text/markdown"
    return contents.text


async def resources(agents: Agents) -> list[types.Resource]:
    return (await agents.client.list_resources()).resources


async def test_the_extension_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        promised = agents.client.server_capabilities
        assert promised is not None
        assert (promised.extensions or {}).get(skill_requests.EXTENSION) == {}
        assert promised.resources is not None


async def test_a_skill_is_listed_got_and_read_as_its_entry_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        front = "license: MIT\nmetadata:\n  version: 3.10\n  day: 2026-01-02\n"
        ident = (await agents.skill(good_skill_text("check-it", front=front)))["id"]

        [entry] = await all_skills(agents)
        again = await asked(agents, "skills/get", uri=entry["uri"])
        text = await read(agents, entry["uri"])

        assert entry["uri"] == uri(ident, "check-it")
        assert entry["frontmatter"]["name"] == "check-it"
        assert entry["frontmatter"]["license"] == "MIT"
        # The number any other reader of YAML sees, and what is no JSON as text.
        assert entry["frontmatter"]["metadata"] == {
            "version": 3.1,
            "day": "2026-01-02",
        }
        assert entry["resources"] == [
            {
                "uri": entry["uri"],
                "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
                "size": len(text.encode()),
            }
        ]
        assert again["skill"] == entry
        assert (again["ttlMs"], again["cacheScope"]) == (0, "private")
        [resource] = await resources(agents)
        assert (resource.uri, resource.name) == (entry["uri"], "check-it")
        assert resource.size == len(text.encode())


async def test_a_list_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    monkeypatch.setattr(skill_requests, "AT_ONCE", 2)
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        names = ["a", "b", "c", "d", "e"]
        for name in reversed(names):
            await agents.skill(skill_text(name))

        found = await all_skills(agents)

        assert [each["frontmatter"]["name"] for each in found] == names
        listed = await asked(agents, "skills/list")
        assert len(listed["skills"]) == 2


async def test_names_no_client_takes_are_resources_but_not_listed_as_skills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        await agents.skill(skill_text("Über alles / nichts"))
        await agents.skill(skill_text("帳簿の確認"))
        await agents.skill(skill_text("too-much", description="x" * 1025))

        listed = [each["frontmatter"]["name"] for each in await all_skills(agents)]

        assert listed == ["帳簿の確認"]
        for resource in await resources(agents):
            assert resource.name in await read(agents, resource.uri)
            if resource.name != "帳簿の確認":
                got = asked(agents, "skills/get", uri=resource.uri)
                assert (await refused(got)).code == -32602


async def test_of_a_private_skill_another_agent_learns_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        ident = (await agents.skill(skill_text("mine"), visibility="private"))["id"]
        hidden = uri(ident, "mine")
        never = uri("kp:skill:0", "mine")
        agents.becomes("bob", "one")

        assert await all_skills(agents) == []
        assert await resources(agents) == []
        for address in (hidden, never):
            got = await refused(asked(agents, "skills/get", uri=address))
            assert (got.code, address in got.message) == (-32602, True)
            gone = await refused(agents.client.read_resource(address))
            assert gone.code == (-32002 if era == "legacy" else -32602)
            prompt = agents.client.get_prompt("kp_few_shot", {"unit_id": ident})
            assert (await refused(prompt)).code == -32602
        for about in (
            types.PromptReference(name="kp_few_shot"),
            types.ResourceTemplateReference(uri="skill://{+path}/SKILL.md"),
        ):
            name = "unit_id" if about.type == "ref/prompt" else "path"
            found = await agents.client.complete(about, {"name": name, "value": ""})
            assert (found.completion.values, found.completion.total) == ([], 0)


async def test_what_is_quarantined_is_served_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        ident = (await agents.skill(skill_text("doubtful")))["id"]
        for judge in ("bob", "cid", "dan"):
            agents.becomes(judge)
            await agents.vote(ident, valid=False)
        for anybody in ("ann", "bob"):
            agents.becomes(anybody)

            assert await all_skills(agents) == []
            assert await resources(agents) == []
            gone = agents.client.read_resource(uri(ident, "doubtful"))
            assert (await refused(gone)).code in (-32002, -32602)
            prompt = agents.client.get_prompt("kp_few_shot", {"unit_id": ident})
            assert (await refused(prompt)).code == -32602


@pytest.mark.parametrize(
    "address",
    [
        "skill://",
        "skill:///SKILL.md",
        "skill://x/SKILL.md",
        "skill://x/y/z/SKILL.md",
        "skill://x/%ff/SKILL.md",
        "skill://x/../../etc/passwd",
        "skill://x/y/scripts/run.sh",
        "ubp://docs/a.md",
        "",
    ],
)
async def test_what_is_no_skill_is_an_invalid_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era, address: str
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        await agents.skill(skill_text("y"))
        assert (await refused(asked(agents, "skills/get", uri=address))).code == -32602


@pytest.mark.parametrize(
    "cursor", ["x", "", "WyJyZWdpc3RyeSIsIngiXQ==", "WyJkb2NzIixudWxsXQ=="]
)
async def test_a_cursor_nobody_gave_is_an_invalid_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era, cursor: str
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        listed = asked(agents, "skills/list", cursor=cursor)
        assert (await refused(listed)).code == -32602
        others = agents.client.list_resources(cursor=cursor)
        assert (await refused(others)).code == -32602


async def test_a_new_version_is_announced_and_a_private_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    heard = Heard()
    async with registry(
        tmp_path, monkeypatch, mode=era, message_handler=heard.message
    ) as agents:
        ident = (await agents.skill(skill_text("one")))["id"]
        address = uri(ident, "one")
        await agents.client.list_resources()
        async with following(agents.client, heard, [address]):
            await agents.skill(skill_text("one", body="Do it in another way."))
            await heard.update_of(address)

            agents.becomes("bob")
            await agents.skill(skill_text("secret"), visibility="private")
            agents.becomes("ann", "one")
            await agents.skill(skill_text("one", body="Do it in a third way."))
            await heard.update_of(address)
            assert heard.list_changes == 0

            await agents.skill(skill_text("two"))
            await heard.until(lambda it: it.list_changes > 0)


async def test_a_unit_becomes_an_example_to_begin_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    async with two_agents(tmp_path, monkeypatch, era) as agents:
        ident = (await agents.share(trace()))["id"]
        agents.becomes("bob")

        arguments = {"unit_id": ident, "task": "Check the yearly figures."}
        made = await agents.client.get_prompt("kp_few_shot", arguments)

        [message] = made.messages
        assert message.role == "user"
        assert isinstance(message.content, types.TextContent)
        text = message.content.text
        assert "[THOUGHT] Look at the figures." in text
        assert "kp:agent:ann" in text
        assert text.endswith("Now do this: Check the yearly figures.")
        about = types.PromptReference(name="kp_few_shot")
        for typed in ("mOnthly", "kp:trace:"):
            found = await agents.client.complete(
                about, {"name": "unit_id", "value": typed}
            )
            assert found.completion.values == [ident]


@given(st.text(min_size=1).filter(lambda name: name.isprintable()))
def test_every_name_comes_back_from_its_uri(era: Era, name: str) -> None:
    del era
    assert ident_and_name(uri("kp:skill:1", name)) == ("kp:skill:1", name)


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        ("git-workflow", True),
        ("a", True),
        ("帳簿", True),
        ("", False),
        ("Git", False),
        ("a b", False),
        ("-a", False),
        ("a--b", False),
        ("ﾁｮｳ", False),
        ("a_b", False),
        ("x" * 65, False),
    ],
)
def test_names_are_judged_by_the_standard(era: Era, name: str, standard: bool) -> None:
    del era
    assert is_standard_name(name) is standard

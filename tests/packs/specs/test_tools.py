"""The specs tools, as a client sees them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from databases import fresh
from mcp import Client
from models import OFF
from services import answering
from spec_books import keep
from vaults import vault

from ubp.packs import enabled
from ubp.packs.specs.languages import Policy

PAGES = {
    "a.md": "# Types\n\nKinds.\n\n## Slice types\n\nA slice is a view.\n\n## Examples\n\nOne.\n",
    "b.md": f"# Long\n\n{'secret word ' * 300}\n\n## Examples\n\nTwo.\n",
}
SOURCE = '[specs.sources.demo]\nstrategy = "local"\npath = "x"\nnotes = "Mine."\n'


@asynccontextmanager
async def connected(
    root: Path, stored: Policy = "local_fulltext_ok", now: Policy = "local_fulltext_ok"
) -> AsyncIterator[Client]:
    settings = f'{OFF}{SOURCE}policy = "{now}"\n'
    project = vault(root, {"ubp.toml": settings})
    packs = enabled(["specs"], project.settings)
    project.prepare()
    db = fresh(project.database)
    keep(db, PAGES, policy=stored)
    db.close()
    async with answering(project, packs) as service:
        async with service.client() as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    schema = {each.name: each for each in (await client.list_tools()).tools}[tool]
    jsonschema.validate(answer.structured_content, schema.output_schema or {})
    shown = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    content = answer.structured_content
    assert content is not None
    assert shown == content.get("result", content)
    return shown


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    text: str = answer.content[0].text  # type: ignore[union-attr]
    assert text.startswith("Error: ")
    return text


async def test_the_languages_to_choose_from_are_in_the_schema(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        tools = {each.name: each for each in (await client.list_tools()).tools}

    for name in ("list_versions", "search_spec", "get_section", "build_learning_plan"):
        offered = tools[name].input_schema["properties"]["language"]["enum"]
        assert offered == ["go", "java", "rust", "typescript", "demo"]


async def test_what_is_there_is_listed(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        assert await call(client, "list_languages") == [
            {"language": "demo", "docs": ["demo-spec"], "notes": "Mine."}
        ]
        [version] = await call(client, "list_versions", language="demo")
        assert version["version"] == "snapshot-20260101"
        assert await call(client, "list_versions", language="go") == []


async def test_a_hit_is_a_citation(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        [hit] = await call(client, "search_spec", language="demo", query="slices")

    assert hit.pop("score") < 0
    assert hit == {
        "language": "demo",
        "doc": "demo-spec",
        "version": "snapshot-20260101",
        "section_id": "slice-types",
        "title": "Slice types",
        "section_path": "Types > Slice types",
        "url": "https://demo.example/a.md#slice-types",
        "snippet": {"text": "A slice is a view.", "start_char": 0, "end_char": 18},
        "source_policy": "local_fulltext_ok",
    }


async def test_a_partial_match_is_marked(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        partial = await client.call_tool(
            "search_spec", {"language": "demo", "query": "slice zebra"}
        )
        whole = await client.call_tool(
            "search_spec", {"language": "demo", "query": "slice"}
        )

    assert partial.meta is not None
    assert partial.meta["match"] == "any"
    assert partial.structured_content is not None
    assert [hit["match"] for hit in partial.structured_content["result"]] == ["any"]
    assert not (whole.meta or {}).get("match")


async def test_a_section_is_had_by_either_of_its_names(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        named = {"language": "demo", "version": "latest"}
        first = await call(client, "get_section", section_id="examples", **named)
        same = await call(client, "get_section", section_id="a#examples", **named)
        other = await call(client, "get_section", section_id="b#examples", **named)

    assert first["alternatives"] == ["b#examples"]
    assert "alternatives" not in same
    assert first["citation"] == same["citation"]
    assert other["content"]["fulltext"] == "Two."
    assert "score" not in first["citation"]


@pytest.mark.parametrize(
    ("stored", "now"),
    [
        ("excerpt_only", "excerpt_only"),
        ("excerpt_only", "local_fulltext_ok"),
        ("local_fulltext_ok", "excerpt_only"),
    ],
)
async def test_no_tool_gives_more_than_the_policy_allows(
    tmp_path: Path, stored: Policy, now: Policy
) -> None:
    async with connected(tmp_path, stored, now) as client:
        answers = [
            await client.call_tool(tool, {"language": "demo", **arguments})
            for tool, arguments in (
                ("get_section", {"version": "latest", "section_id": "long"}),
                ("search_spec", {"query": "secret"}),
                ("search_spec", {"query": '"secret word"'}),
                ("build_learning_plan", {}),
            )
        ]
        found = answers[0].structured_content

    assert found is not None
    assert "fulltext" not in found["content"]
    assert found["content"]["fulltext_available"] is False
    assert found["content"]["is_truncated"] is True
    assert found["citation"]["source_policy"] == "excerpt_only"
    for answer in answers:
        text = answer.content[0].text  # type: ignore[union-attr]
        # An excerpt and the snippet that repeats it, each of 1,200 characters.
        assert text.count("secret") <= 2 * 101


async def test_a_plan_has_every_section(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        plan = await call(client, "build_learning_plan", language="demo", total_weeks=2)

    assert (plan["total_weeks"], plan["total_sections"]) == (2, 5)
    assert [week["theme"] for week in plan["weeks"]] == ["Types", "Long"]


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("list_versions", {"language": "cobol"}, "typescript"),
        ("search_spec", {"language": "demo", "query": ""}, "query"),
        ("search_spec", {"language": "rust", "query": "x"}, "ubp spec ingest rust"),
        (
            "search_spec",
            {"language": "demo", "query": "x", "version": "v9"},
            "snapshot-20260101",
        ),
        (
            "search_spec",
            {"language": "demo", "query": "x", "filters": {"doc": "no"}},
            "demo-spec",
        ),
        (
            "get_section",
            {"language": "demo", "version": "latest", "section_id": "zz"},
            "demo/snapshot-20260101/zz",
        ),
        ("build_learning_plan", {"language": "go"}, "ubp spec ingest go"),
    ],
)
async def test_an_error_says_what_to_do(
    tmp_path: Path, tool: str, arguments: dict[str, Any], named: str
) -> None:
    async with connected(tmp_path) as client:
        assert named in await refused(client, tool, **arguments)


async def test_many_long_citations_are_told_in_six_thousand_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(
        f"# Slices {n}\n\n{'A slice is a view of an array. ' * 40}\n\n"
        for n in range(20)
    )
    monkeypatch.setitem(PAGES, "c.md", text)
    monkeypatch.setitem(
        PAGES, "d.md", "# Huge\n\n" + "word of the specification\n" * 4000
    )
    async with connected(tmp_path) as client:
        answer = await client.call_tool(
            "search_spec", {"language": "demo", "query": "slices"}
        )
        assert len(answer.content[0].text.encode()) <= 6_000  # type: ignore[union-attr]
        assert answer.structured_content is not None
        assert len(answer.structured_content["result"]) == 10
        parts: list[str] = []
        more: dict[str, str] = {}
        while True:
            section = await call(
                client,
                "get_section",
                language="demo",
                version="latest",
                section_id="huge",
                **more,
            )
            parts.append(section["content"]["fulltext"])
            if "next_cursor" not in section:
                break
            more = {"cursor": section["next_cursor"]}

    assert len(parts) > 1
    assert max(map(len, parts)) <= 50_000
    assert "".join(parts).count("word of the specification") == 4000

"""The notes tools, as a client sees them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from models import OFF
from vaults import vault

from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan
from ubp.actors.wiring import index_once, serving
from ubp.errors import ConfigError
from ubp.packs import enabled
from ubp.packs.notes.folders import source_of
from ubp.project import open_project
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.server import build
from ubp.reading.walk import Found, walk

NOTES = {
    "docs/tech/docker.md": "---\ntitle: Docker\ntags: [docker, dev]\ncreated: 2025-01-02\n---\n\n# Compose\n\n## Volumes\n\nNamed volumes keep it.\n",
    "docs/20250305_tea.md": "---\ntags: tea\ncreated: 2025-03-05\n---\nGreen tea, brewed twice.\n",
    "docs/20240101_old.md": "---\ntitle: Old plan\ntags: [dev]\n---\nPaint the fence.\n",
    "README.md": "Not a note about volumes.\n",
}
EXTRA = "[notes]\nextra_tools = true\nsimilarity_threshold = 0.2\n"


@asynccontextmanager
async def connected(
    root: Path, files: dict[str, str], settings: str = ""
) -> AsyncIterator[Client]:
    project = vault(root, {**files, "ubp.toml": OFF + settings})
    packs = enabled(["notes"], project.settings)
    await index_once(project, packs, Scan(), Progress(), embed=False)
    async with serving(project, packs) as service:
        async with Client(build(Dispatcher(service, packs), packs)) as client:
            yield client


async def said(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    schema = {each.name: each for each in (await client.list_tools()).tools}[tool]
    jsonschema.validate(answer.structured_content, schema.output_schema or {})
    text: str = answer.content[0].text  # type: ignore[union-attr]
    return text


async def value(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert answer.structured_content is not None, answer
    return answer.structured_content.get("result", answer.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    [block] = answer.content
    text: str = block.text  # type: ignore[union-attr]
    assert text.startswith("Error: ")
    return text


def files_of(found: Any) -> list[str]:
    return [each["file_path"] for each in found]


async def test_a_search_says_where_and_what(tmp_path: Path) -> None:
    async with connected(tmp_path, NOTES) as client:
        assert await said(client, "search_docs", query="named volumes") == (
            "[\n  {\n"
            '    "title": "Docker",\n'
            '    "heading": "Volumes",\n'
            '    "content": "Named volumes keep it.",\n'
            '    "file_path": "docs/tech/docker.md",\n'
            '    "similarity": "0.700"\n'
            "  }\n]"
        )
        [hit] = await value(client, "search_docs", query="named volumes")
        assert (hit["similarity"], hit["parent_heading"]) == (0.7, "Compose")
        assert await said(client, "search_docs", query="quarks") == "[]"
        answer = await client.call_tool("search_docs", {"query": "quarks"})
        assert answer.structured_content is not None
        assert "switched off" in answer.structured_content["notice"]


async def test_a_note_is_shown_in_its_layout(tmp_path: Path) -> None:
    async with connected(tmp_path, NOTES) as client:
        text = "# (untitled)\n\nTags: tea\n\n---\n\nGreen tea, brewed twice."
        assert await said(client, "get_doc", file_path="docs/20250305_tea.md") == text
        assert await said(client, "get_doc", file_path="20250305_tea.md") == text


async def test_an_unknown_path_is_refused_with_what_may_be_meant(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, NOTES) as client:
        first, second = (
            await refused(client, "get_doc", file_path="docs/docke.md")
        ).splitlines()
        assert first == "Error: Document not found: docs/docke.md"
        assert "docs/tech/docker.md" in second
        alone = await refused(client, "get_doc", file_path="README.md")
        assert alone == "Error: Document not found: README.md"
        await refused(client, "get_doc", file_path="\ud800")


async def test_tags_come_by_use(tmp_path: Path) -> None:
    async with connected(tmp_path, NOTES) as client:
        assert await said(client, "list_tags") == "dev (2)\ndocker (1)\ntea (1)"
    async with connected(tmp_path / "none", {"docs/a.md": "x"}) as client:
        assert await said(client, "list_tags") == ""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_docs", {"query": " "}),
        ("search_docs", {"query": "x", "limit": 51}),
        ("search_docs", {"query": "x", "limit": 0}),
        ("search_docs", {"query": "x", "tags": "docker"}),
        ("search_docs", {"query": "x", "tags": [1]}),
        ("get_doc", {}),
        ("list_tags", {"more": 1}),
        ("list_docs_by_tag", {"tag": ""}),
        ("list_all_docs", {"limit": 101}),
        ("search_by_keyword", {"keywords": []}),
        ("search_by_keyword", {"keywords": ["a", ""]}),
        ("search_by_title", {"query": "\t"}),
        ("list_docs_by_date", {"after": "last week"}),
        ("list_docs_by_frontmatter_date", {"date_field": "born"}),
    ],
)
async def test_what_does_not_fit_is_an_error_result(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async with connected(tmp_path, NOTES, EXTRA) as client:
        await refused(client, tool, **arguments)


async def test_the_further_tools_are_there_only_when_asked_for(tmp_path: Path) -> None:
    async with connected(tmp_path / "a", NOTES) as client:
        assert len((await client.list_tools()).tools) == 3
    async with connected(tmp_path / "b", NOTES, EXTRA) as client:
        assert len((await client.list_tools()).tools) == 9


async def test_notes_can_be_browsed(tmp_path: Path) -> None:
    async with connected(tmp_path, NOTES, EXTRA) as client:
        old, tea, docker = sorted(path for path in NOTES if path != "README.md")

        tagged = await value(client, "list_docs_by_tag", tag="Dev", limit=1)
        assert tagged == [{"title": "Old plan", "file_path": old, "tags": ["dev"]}]
        both = await value(client, "list_docs_by_tag", tag="dev", random=True)
        assert sorted(files_of(both)) == [old, docker]

        page = await value(client, "list_all_docs", offset=1, limit=1)
        assert files_of(page["docs"]) == [tea]
        assert page["pagination"] == {
            "offset": 1,
            "limit": 1,
            "total_count": 3,
            "has_more": True,
        }

        far = await value(client, "list_all_docs", offset=2**63 - 1)
        assert (far["docs"], far["pagination"]["has_more"]) == ([], False)
        assert "offset" in await refused(client, "list_all_docs", offset=2**63)

        titles = await value(client, "search_by_title", query="old P")
        assert files_of(titles) == [old]

        by_path = await value(client, "list_docs_by_date")
        assert [each["date"] for each in by_path] == ["20250305", "20240101"]
        bounded = await value(
            client, "list_docs_by_date", after="20240101", before="2025-12-31"
        )
        assert files_of(bounded) == [tea]

        created = await value(client, "list_docs_by_frontmatter_date", sort="asc")
        assert files_of(created) == [docker, tea]
        later = await value(client, "list_docs_by_frontmatter_date", after="2025-01-02")
        assert files_of(later) == [tea]


async def test_a_keyword_is_shown_with_what_stands_around_it(tmp_path: Path) -> None:
    text = f"{'x' * 60}Kettle{'y' * 120}"
    files = {"docs/a.md": text, "docs/b.md": "---\ntitle: Kettles\n---\nShort."}
    async with connected(tmp_path, files, EXTRA) as client:
        one, two = await value(client, "search_by_keyword", keywords=["no", "kettle"])

        assert one["snippet"] == f"...{'x' * 50}Kettle{'y' * 100}..."
        assert (two["title"], two["snippet"]) == ("Kettles", "Short.")


# -- which files -----------------------------------------------------------------------


def read(root: Path) -> list[str]:
    found = walk(source_of(open_project(root)))
    return sorted(each.path for each in found if isinstance(each, Found))


def test_notes_are_in_the_docs_folder_or_in_the_project(tmp_path: Path) -> None:
    files = {"a.md": "", "README.md": "", "sub/README.md": "", ".kanban/c.md": ""}
    vault(tmp_path, files)
    assert read(tmp_path) == ["a.md", "sub/README.md"]

    vault(tmp_path, {"docs/b.md": "", "docs/README.md": ""})
    assert read(tmp_path) == ["docs/README.md", "docs/b.md"]


def test_the_settings_name_other_folders(tmp_path: Path) -> None:
    settings = '[notes]\ndirs = ["journal", "journal/2025", "ideas/", "away"]\n'
    settings += '[source]\ninclude = ["x/**"]\nexclude = ["drafts/**"]\n'
    files = {
        "journal/2025/a.md": "",
        "journal/drafts/b.md": "",
        "ideas/c.md": "",
        "ideas/d.txt": "",
        "docs/e.md": "",
        ".gitignore": "/journal/\n",
    }
    vault(tmp_path, {**files, "ubp.toml": settings})

    assert read(tmp_path) == ["ideas/c.md", "journal/2025/a.md"]


@pytest.mark.parametrize("folder", ["..", "/", "", ".kanban", "a/../../b", "a\\u0000"])
def test_a_folder_that_is_not_in_the_project_is_refused(
    tmp_path: Path, folder: str
) -> None:
    vault(tmp_path, {"ubp.toml": f'[notes]\ndirs = ["{folder}"]\n'})

    with pytest.raises(ConfigError):
        source_of(open_project(tmp_path))

"""Resources through the SDK's own client, in both eras of the protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from boards import BOARDS, CARD
from hearing import ERAS, Era
from mcp import Client
from mcp.shared.exceptions import MCPError
from services import answering
from vaults import vault

from ubp.packs.docs import PACK, page_files
from ubp.packs.docs.uris import TEMPLATE, page_uri
from ubp.protocol import resources
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.server import build, options

pytestmark = pytest.mark.parametrize("era", ERAS)

PAGES = {
    "a.md": "# Alpha\n\nA walrus.\n",
    "guides/認証 フロー.md": "# 認証\n\n鍵を回す。\n",
    "what?#100%.md": "# Odd\n",
}
NOT_FOUND = {"legacy": -32002, "auto": -32602}


@asynccontextmanager
async def connected(root: Path, era: Era) -> AsyncIterator[Client]:
    (root / "project/docs").mkdir(parents=True)
    project = vault(root / "project", {"boards/b1/c1.bin": "1", "boards/b2/c2.bin": ""})
    async with answering(project, [PACK, BOARDS]) as it:
        for path, text in PAGES.items():
            it.write(path, text)
        async with it.client(mode=era) as client:
            yield client


async def refused(call: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await call
    return caught.value


def ref(uri: str) -> types.ResourceTemplateReference:
    return types.ResourceTemplateReference(uri=uri)


async def test_every_page_is_listed_with_what_is_known_of_it(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        listed = (await client.list_resources()).resources

        pages = [each for each in listed if each.uri.startswith("ubp:")]
        assert [each.name for each in pages] == sorted(PAGES)
        assert [each.uri for each in pages] == [
            page_uri(path) for path in sorted(PAGES)
        ]
        alpha = pages[0]
        assert (alpha.title, alpha.mime_type) == ("Alpha", "text/markdown")
        assert alpha.size == len(PAGES["a.md"])
        assert alpha.annotations is not None
        assert (alpha.annotations.last_modified or "").endswith("Z")


async def test_a_list_goes_on_where_it_stopped_and_from_pack_to_pack(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (1, 2, 3, 4, 5, 6):
        monkeypatch.setattr(resources, "AT_ONCE", size)
        async with connected(tmp_path / str(size), era) as client:
            found: list[str] = []
            cursor: str | None = None
            while True:
                page = await client.list_resources(cursor=cursor)
                assert len(page.resources) <= size
                found += [each.uri for each in page.resources]
                if (cursor := page.next_cursor) is None:
                    break

            assert found == [
                *(page_uri(path) for path in sorted(PAGES)),
                "kanban://b1/cards/c1",
                "kanban://b2/cards/c2",
            ]


@pytest.mark.parametrize(
    "cursor",
    ["", "nonsense", "ünsinn", "WyJkb2NzIl0=", "WyJub3RlcyIsbnVsbF0=", "a" * 9],
)
async def test_a_cursor_nobody_gave_is_an_invalid_parameter(
    tmp_path: Path, era: Era, cursor: str
) -> None:
    async with connected(tmp_path, era) as client:
        assert (await refused(client.list_resources(cursor=cursor))).code == -32602
        templates = client.list_resource_templates(cursor=cursor)
        assert (await refused(templates)).code == -32602


async def test_the_templates_are_those_of_all_packs(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as client:
        listed = (await client.list_resource_templates()).resource_templates

        assert [each.uri_template for each in listed] == [
            "ubp://docs/{+path}",
            "kanban://{boardId}",
            "kanban://{boardId}/cards/{cardId}",
        ]
        assert listed[0].mime_type == "text/markdown"


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_read_under_its_uri(
    tmp_path: Path, era: Era, path: str
) -> None:
    async with connected(tmp_path, era) as client:
        for uri in (page_uri(path), f"ubp://docs/{path.replace('%', '%25')}"):
            [contents] = (await client.read_resource(uri)).contents

            assert isinstance(contents, types.TextResourceContents)
            assert contents.text == PAGES[path]
            assert contents.uri == uri
            assert contents.mime_type == "text/markdown"


async def test_a_resource_may_be_bytes(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as client:
        [contents] = (await client.read_resource("kanban://b1/cards/c1")).contents

        assert isinstance(contents, types.BlobResourceContents)
        assert contents.blob == "MQ=="


@pytest.mark.parametrize(
    "uri",
    [
        "ubp://docs/gone.md",
        "ubp://docs/",
        "ubp://docs/../secret.md",
        "ubp://docs/%2e%2e/secret.md",
        "ubp://docs/%2Fetc%2Fpasswd",
        "ubp://docs//etc/passwd",
        "ubp://docs/a.md%00",
        "ubp://docs/a%.md",
        "ubp://docs/%ff.md",
        "file:///etc/passwd",
        "a.md",
        "",
        "kanban://b1/cards/gone",
        "ubp://docs/" + "x" * 20_000,
    ],
)
async def test_what_is_no_resource_is_not_found_and_named(
    tmp_path: Path, era: Era, uri: str
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/secret.md").write_text("secret", encoding="utf-8")
    async with connected(tmp_path, era) as client:
        error = await refused(client.read_resource(uri))

        assert error.code == NOT_FOUND[era]
        assert error.message == "Resource not found"
        assert error.data["uri"].rstrip("…") == uri[:16_384]


async def test_a_page_that_became_a_link_to_elsewhere_is_not_found(
    tmp_path: Path, era: Era
) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    async with connected(tmp_path, era) as client:
        page = tmp_path / "project/docs/a.md"
        page.unlink()
        page.symlink_to(tmp_path / "secret.md")

        error = await refused(client.read_resource("ubp://docs/a.md"))

        assert error.code == NOT_FOUND[era]
        listed = (await client.list_resources()).resources[0]
        assert (listed.name, listed.size) == ("a.md", None)


async def test_a_page_that_is_too_large_is_an_error_that_says_so(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "LARGEST", 5)
    async with connected(tmp_path, era) as client:
        error = await refused(client.read_resource("ubp://docs/a.md"))

        assert error.code == -32004
        assert error.data == {"code": "resource_too_large"}


async def test_paths_are_completed(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as client:
        found = await client.complete(ref(TEMPLATE), {"name": "path", "value": "認証"})

        completion = found.completion
        assert completion.values == ["guides/認証 フロー.md"]
        assert (completion.total, completion.has_more) == (1, False)


async def test_a_completion_may_depend_on_what_was_chosen_before(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        boards = await client.complete(ref(CARD), {"name": "boardId", "value": ""})
        assert boards.completion.values == ["b1", "b2"]
        cards = await client.complete(
            ref(CARD),
            {"name": "cardId", "value": ""},
            context_arguments={"boardId": "b2"},
        )
        assert cards.completion.values == ["c2"]


@pytest.mark.parametrize(
    ("about", "variable"),
    [
        (ref(TEMPLATE), "nothing"),
        (ref("ubp://docs/a.md"), "path"),
        (ref("file:///{path}"), "path"),
    ],
)
async def test_what_cannot_be_completed_is_an_invalid_parameter(
    tmp_path: Path, era: Era, about: Any, variable: str
) -> None:
    async with connected(tmp_path, era) as client:
        error = await refused(client.complete(about, {"name": variable, "value": "a"}))

        assert error.code == -32602


async def test_clients_are_told_what_can_be_done_with_resources(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        capabilities = client.server_capabilities

        assert capabilities is not None
        assert capabilities.resources is not None
        assert capabilities.resources.subscribe
        assert capabilities.completions is not None


async def test_the_tools_behind_resources_cannot_be_called(
    tmp_path: Path, era: Era
) -> None:
    async with connected(tmp_path, era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert not [name for name in listed if "." in name]
        arguments = {"uri": "ubp://docs/a.md"}
        error = await refused(client.call_tool("docs.read_resource", arguments))
        assert error.code == -32602


async def test_a_fault_of_ours_is_internal_and_says_nothing_more(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(tmp_path, era) as client:

        async def broken(*_: object) -> None:
            raise KeyError("secret/path")

        monkeypatch.setattr(Dispatcher, "run", broken)
        error = await refused(client.read_resource("ubp://docs/a.md"))

        assert (error.code, error.message) == (-32603, "Internal error.")
        assert error.data == {"code": "internal"}


async def test_packs_without_resources_have_none_to_offer(
    tmp_path: Path, era: Era
) -> None:
    project = vault(tmp_path, {})
    async with answering(project, [replace(PACK, resources=None)]) as it:
        async with it.client(mode=era) as client:
            assert client.server_capabilities is not None
            assert client.server_capabilities.resources is None
            assert (await refused(client.list_resources())).code == -32601


async def test_a_handshake_promises_news_of_the_list(tmp_path: Path, era: Era) -> None:
    del era
    async with answering(vault(tmp_path, {}), [PACK]) as it:
        server = build(Dispatcher(it.service, [PACK]), [PACK])

        found = options(server).capabilities.resources

        assert found == types.ResourcesCapability(subscribe=True, list_changed=True)

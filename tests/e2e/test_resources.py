"""Pages as resources of a real server, whoever it is that changes them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import mcp_types as types
import pytest
from anyio import to_thread
from hearing import ERAS, Era, Heard, following
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from models import without_model
from vaults import write_files
from waiting import until

from ubp.packs.docs.uris import page_uri

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("era", ERAS)]

UBP = [sys.executable, "-m", "ubp"]
_ALONE = ["--quiet", "--packs", "docs"]
"""Of other packs there would be other resources in the lists."""

A, KEY = "ubp://docs/a.md", "ubp://docs/guides/%E9%8D%B5%20100%25.md"
PAGES = {
    "docs/a.md": "---\nsource_refs: [src/a.py]\n---\n# Alpha\n",
    "docs/guides/鍵 100%.md": "# 鍵\n\n回す。\n",
    "src/a.py": "print()\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    without_model(tmp_path)
    write_files(tmp_path, PAGES)
    return tmp_path


@asynccontextmanager
async def connected(
    root: Path, era: Era, heard: Heard, *options: str, pages: int = 2
) -> AsyncIterator[Client]:
    """A client of a server that knows so many pages, or more than fit one list."""
    server = StdioServerParameters(
        command=UBP[0],
        args=[*UBP[1:], "serve", "--root", str(root), *_ALONE, *options],
        env=dict(os.environ),
    )
    async with Client(server, mode=era, message_handler=heard.message) as client:

        async def indexed() -> bool:
            return len((await client.list_resources()).resources) == pages

        await until(indexed)
        yield client


async def index(root: Path) -> None:
    """As somebody else would, in a process of its own."""
    command = [*UBP, "index", "--quiet", "--root", str(root)]
    await to_thread.run_sync(lambda: subprocess.run(command, check=True))


async def test_a_page_is_followed_from_edit_to_return(root: Path, era: Era) -> None:
    heard = Heard()
    page = root / "docs/guides/鍵 100%.md"
    async with connected(root, era, heard) as client, following(client, heard, [KEY]):
        page.write_text("# 鍵\n\n二度回す。\n", encoding="utf-8")
        await index(root)
        await heard.update_of(KEY)
        [contents] = (await client.read_resource(KEY)).contents
        assert contents.model_dump()["text"] == "# 鍵\n\n二度回す。\n"

        page.unlink()
        await index(root)
        await heard.update_of(KEY)
        await heard.until(lambda heard: heard.list_changes > 0)
        with pytest.raises(MCPError) as caught:
            await client.read_resource(KEY)
        assert caught.value.data["uri"] == KEY

        page.write_text("# 鍵\n", encoding="utf-8")
        await index(root)
        await heard.update_of(KEY)
        [contents] = (await client.read_resource(KEY)).contents
        assert contents.model_dump()["text"] == "# 鍵\n"


async def test_an_edit_is_heard_in_every_server_of_the_project(
    root: Path, era: Era
) -> None:
    """Only the first of them writes; the second finds out by looking."""
    first, second = Heard(), Heard()
    async with (
        connected(root, era, first) as writer,
        connected(root, era, second, "--shared") as reader,
        following(writer, first, [KEY]),
        following(reader, second, [KEY]),
    ):
        page = root / "docs/guides/鍵 100%.md"
        page.write_text("# 鍵\n\n二度回す。\n", encoding="utf-8")

        await first.update_of(KEY)
        await second.update_of(KEY)


async def test_who_follows_a_page_goes_on_when_the_index_is_replaced(
    root: Path, era: Era
) -> None:
    heard = Heard()
    async with connected(root, era, heard) as client, following(client, heard, [KEY]):
        for part in (root / ".ubp").glob("index.db*"):
            part.unlink()
        await heard.update_of(KEY)  # it is not there, or there again

        async def there() -> bool:
            return len((await client.list_resources()).resources) == 2

        await until(there)
        text = "# 鍵\n\n三度回す。\n"
        page = root / "docs/guides/鍵 100%.md"
        page.write_text(text, encoding="utf-8")

        async def read() -> bool:
            await heard.update_of(KEY)
            [contents] = (await client.read_resource(KEY)).contents
            return bool(contents.model_dump()["text"] == text)

        await until(read)


async def test_a_change_of_a_source_file_is_news_about_its_page(
    root: Path, era: Era
) -> None:
    heard = Heard()
    async with connected(root, era, heard) as client, following(client, heard, [A]):
        (root / "src/a.py").write_text("print('another')\n", encoding="utf-8")
        await heard.update_of(A)

        (root / "src/a.py").unlink()
        await heard.update_of(A)


async def test_twelve_hundred_pages_are_listed_and_completed_in_pieces(
    root: Path, era: Era
) -> None:
    for number in range(1_198):
        (root / f"docs/{number:04}.md").write_text("", encoding="utf-8")
    await index(root)
    async with connected(root, era, Heard(), pages=500) as client:
        found: list[str] = []
        sizes: list[int] = []
        cursor: str | None = None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [each.name for each in page.resources]
            sizes.append(len(page.resources))
            if (cursor := page.next_cursor) is None:
                break
        about = types.ResourceTemplateReference(uri="ubp://docs/{+path}")
        typed = {"name": "path", "value": ".MD"}
        completion = (await client.complete(about, typed)).completion

        assert sizes == [500, 500, 200]
        assert found == sorted(found)
        assert len(set(found)) == 1_200
        assert completion.values == found[:100]
        assert (completion.total, completion.has_more) == (1_200, True)


async def test_nothing_but_pages_can_be_read_or_followed(root: Path, era: Era) -> None:
    (root / "secret.md").write_text("secret", encoding="utf-8")
    (root / "docs/out.md").symlink_to("../secret.md")
    async with connected(root, era, Heard()) as client:
        (root / "docs/a.md").unlink()
        (root / "docs/a.md").symlink_to("../secret.md")
        for uri in (
            A,
            "ubp://docs/out.md",
            "ubp://docs/../secret.md",
            "ubp://docs/%2e%2e%2fsecret.md",
            f"ubp://docs/{root}/secret.md",
            f"file://{root}/secret.md",
            "ubp://docs/%",
        ):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.code == (-32002 if era == "legacy" else -32602)
            assert caught.value.data["uri"] == uri


async def test_the_server_says_what_it_can_do_and_no_more(root: Path, era: Era) -> None:
    async with connected(root, era, Heard()) as client:
        able = client.server_capabilities
        assert able is not None
        assert able.resources == types.ResourcesCapability(
            subscribe=True, list_changed=True
        )
        assert able.tools == types.ToolsCapability(list_changed=False)
        assert able.prompts == types.PromptsCapability(list_changed=False)
        assert (able.logging is not None) == (era == "legacy")
        assert able.completions is not None


async def test_who_follows_many_pages_and_reads_nothing_stops_nobody(
    root: Path, era: Era
) -> None:
    """What it would be told fills its pipe many times over."""
    paths = [f"{'鍵' * 80}{number}.md" for number in range(400)]
    write_files(root / "docs", dict.fromkeys(paths, "# 1"))
    await index(root)
    messages = conversation(era, [page_uri(path) for path in paths])
    with told(root, messages) as (process, answers):
        for _ in range(len(paths) + 1 if era == "legacy" else 1):
            await to_thread.run_sync(answers.readline)  # and nothing after that
        for text in ("# 2", "# 3"):
            write_files(root / "docs", dict.fromkeys(paths, text))
            await index(root)

        process.send_signal(signal.SIGTERM)

        assert await to_thread.run_sync(process.wait, 60) == 0


async def test_a_signal_ends_a_server_that_is_listened_to(root: Path, era: Era) -> None:
    """In order: a stream is answered before the server leaves."""
    await index(root)
    with told(root, conversation(era, [A])) as (process, answers):
        for _ in range(2 if era == "legacy" else 1):
            await to_thread.run_sync(answers.readline)

        process.send_signal(signal.SIGTERM)
        rest = await to_thread.run_sync(answers.readlines)

        assert await to_thread.run_sync(process.wait, 60) == 0
    last = [json.loads(line) for line in rest]
    assert [each["id"] for each in last] == ([] if era == "legacy" else [0])
    assert all("result" in each for each in last)


@contextmanager
def told(
    root: Path, messages: Iterator[dict[str, Any]]
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A server that was told these things, and what it answers."""
    process = subprocess.Popen(
        [*UBP, "serve", "--root", str(root), "--quiet"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for message in messages:
                process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            yield process, process.stdout
        finally:
            process.kill()


def conversation(era: Era, uris: list[str]) -> Iterator[dict[str, Any]]:
    """What a client says to follow *uris*."""
    client = {"name": "deaf", "version": "1"}
    if era == "legacy":
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
        params: dict[str, Any] = {**hello, "clientInfo": client}
        yield {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
        for number, uri in enumerate(uris, 1):
            about = {"id": number, "params": {"uri": uri}}
            yield {"jsonrpc": "2.0", "method": "resources/subscribe", **about}
        return
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": client,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "notifications": {"resourceSubscriptions": uris}}
    yield {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "subscriptions/listen",
        "params": params,
    }

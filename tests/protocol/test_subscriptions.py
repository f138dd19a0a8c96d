"""Following resources through the SDK's own client, in both eras of the protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from boards import BOARDS
from hearing import ERAS, Era, Heard, following, subscribe, unsubscribe
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from services import Vault, answering
from vaults import vault
from waiting import PATIENCE, until

from ubp.actors import announcer
from ubp.packs.docs import PACK
from ubp.packs.docs.uris import page_uri
from ubp.protocol import subscriptions

both = pytest.mark.parametrize("era", ERAS)

A, B = "ubp://docs/a.md", "ubp://docs/b.md"
GONE, BROKEN = "ubp://docs/gone.md", "ubp://docs/%.md"
CARD = "kanban://b1/cards/c1"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcer, "LOOK_EVERY", 0.02)


@asynccontextmanager
async def connected(
    root: Path, era: Era, heard: Heard | None = None
) -> AsyncIterator[tuple[Vault, Client]]:
    project = vault(root, {"boards/b1/c1.bin": "1", "docs/a.md": "", "src/a.py": ""})
    async with answering(project, [PACK, BOARDS]) as it:
        it.write("a.md", "# A")
        it.write("b.md", "# B")
        handler = heard.message if heard else None
        async with it.client(mode=era, message_handler=handler) as client:
            yield it, client


async def refused(call: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await call
    return caught.value


def followed(it: Vault) -> set[str]:
    """What the announcer looks after."""
    return set(it.followed.resources)


@both
async def test_an_edit_a_deletion_and_a_return_are_heard(
    tmp_path: Path, era: Era
) -> None:
    heard = Heard()
    async with connected(tmp_path, era, heard) as (it, client):
        async with following(client, heard, [A]):
            it.write("a.md", "# Other")
            await heard.update_of(A)
            assert heard.list_changes == 0

            it.delete("a.md")
            await heard.update_of(A)
            await heard.until(lambda heard: heard.list_changes == 1)

            it.write("a.md", "# A")
            await heard.update_of(A)
            await heard.until(lambda heard: heard.list_changes == 2)


@both
async def test_only_what_is_followed_is_heard_and_only_while_it_is(
    tmp_path: Path, era: Era
) -> None:
    heard = Heard()
    async with connected(tmp_path, era, heard) as (it, client):
        async with following(client, heard, [B]):
            async with following(client, heard, [A]):
                it.write("a.md", "# 1")
                await heard.update_of(A)
            it.write("a.md", "# 2")
            it.write("b.md", "# 2")
            await heard.until(lambda heard: B in heard.updated)

        assert heard.updated == [B]


@both
async def test_another_pack_has_its_own_notion_of_a_change(
    tmp_path: Path, era: Era
) -> None:
    heard = Heard()
    async with connected(tmp_path, era, heard) as (_, client):
        async with following(client, heard, [CARD, A]):
            (tmp_path / "boards/b1/c1.bin").write_text("2", encoding="utf-8")
            await heard.update_of(CARD)


@both
async def test_a_uri_is_announced_as_it_was_given(tmp_path: Path, era: Era) -> None:
    heard = Heard()
    other = "ubp://docs/%61.md"
    async with connected(tmp_path, era, heard) as (it, client):
        async with following(client, heard, [other]):
            it.write("a.md", "# Other")
            await heard.update_of(other)


@both
async def test_a_storm_is_a_few_notifications(tmp_path: Path, era: Era) -> None:
    heard = Heard()
    async with connected(tmp_path, era, heard) as (it, client):
        async with following(client, heard, [A]):
            for number in range(300):
                it.write("a.md", f"# {number}")
                it.write(f"{number}.md", "")
            # The loop had no chance to look while they were written.
            await heard.until(lambda heard: heard.list_changes > 0)
            await heard.until(lambda heard: bool(heard.updated))

            assert len(heard.updated) < 10
            assert heard.list_changes == 1


@both
async def test_nothing_is_looked_after_when_the_client_has_gone(
    tmp_path: Path, era: Era
) -> None:
    heard = Heard()
    project = vault(tmp_path, {"docs/a.md": ""})
    async with answering(project, [PACK]) as it:
        it.write("a.md", "# A")
        async with it.client(mode=era, message_handler=heard.message) as client:
            await client.list_resources()
            async with following(client, heard, [A]):
                assert followed(it) == {A}

        async def forgotten() -> bool:
            return not it.followed

        await until(forgotten)


@both
async def test_another_client_of_the_same_service_begins_with_nothing(
    tmp_path: Path, era: Era
) -> None:
    first, second = Heard(), Heard()
    project = vault(tmp_path, {"docs/a.md": ""})
    async with answering(project, [PACK]) as it:
        it.write("a.md", "# A")
        it.write("b.md", "# B")
        async with it.client(mode=era, message_handler=first.message) as client:
            async with following(client, first, [A]):
                pass
        async with it.client(mode=era, message_handler=second.message) as client:
            async with following(client, second, [B]):
                it.write("a.md", "# 1")
                it.write("b.md", "# 1")
                await second.until(lambda heard: bool(heard.updated))
                assert second.updated == [B]
        assert first.updated == []


# -- until 2025-11-25 ------------------------------------------------------------------


@pytest.mark.parametrize("uri", [GONE, BROKEN, "file:///etc/passwd", "", CARD + "/x"])
@pytest.mark.parametrize("request_", [subscribe, unsubscribe])
async def test_what_is_no_resource_cannot_be_subscribed_to(
    tmp_path: Path, uri: str, request_: Any
) -> None:
    async with connected(tmp_path, "legacy") as (it, client):
        error = await refused(request_(client, uri))

        assert error.code == -32002
        assert error.data["uri"] == uri
        assert not it.followed


async def test_subscribing_twice_is_subscribing_once(tmp_path: Path) -> None:
    heard = Heard()
    async with connected(tmp_path, "legacy", heard) as (it, client):
        await subscribe(client, A)
        await subscribe(client, A)
        it.write("a.md", "# Other")
        await heard.until(lambda heard: heard.updated == [A])

        await unsubscribe(client, A)
        assert followed(it) == set()
        await unsubscribe(client, A)


async def test_a_deleted_page_can_be_unsubscribed_from(tmp_path: Path) -> None:
    heard = Heard()
    async with connected(tmp_path, "legacy", heard) as (it, client):
        await subscribe(client, A)
        it.delete("a.md")
        await heard.update_of(A)

        await unsubscribe(client, A)

        assert (await refused(unsubscribe(client, A))).code == -32002


async def test_there_is_an_end_to_what_can_be_subscribed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "MOST_FOLLOWED", 2)
    async with connected(tmp_path, "legacy") as (it, client):
        it.write("c.md", "")
        for uri in (A, B, A):
            await subscribe(client, uri)

        error = await refused(subscribe(client, page_uri("c.md")))

        assert error.code == -32005
        assert error.data == {"code": "too_many_subscriptions"}
        await unsubscribe(client, A)
        await subscribe(client, page_uri("c.md"))


async def test_a_client_that_has_listed_hears_when_the_list_is_another(
    tmp_path: Path,
) -> None:
    heard = Heard()
    async with connected(tmp_path, "legacy", heard) as (it, client):
        assert not it.followed
        await client.list_resources()

        it.write("new.md", "")

        await heard.until(lambda heard: heard.list_changes == 1)


async def test_who_unsubscribes_from_all_and_never_listed_wants_nothing(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, "legacy") as (it, client):
        await subscribe(client, A)
        assert it.followed.listed
        await unsubscribe(client, A)

        assert not it.followed


async def test_subscribing_all_at_once_loses_nobody(tmp_path: Path) -> None:
    heard = Heard()
    async with connected(tmp_path, "legacy", heard) as (it, client):
        uris = [page_uri(f"{number}.md") for number in range(30)]
        for number in range(30):
            it.write(f"{number}.md", "")
        async with anyio.create_task_group() as group:
            for uri in uris:
                group.start_soon(subscribe, client, uri)

        for number in range(30):
            it.write(f"{number}.md", "# Other")

        await heard.until(lambda heard: set(heard.updated) == set(uris))


async def test_without_an_announcer_pages_are_listed_and_nothing_is_promised(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, "legacy") as (it, client):
        it.service.follows.close()

        assert (await client.list_resources()).resources
        error = await refused(subscribe(client, A))
        assert error.data == {"code": "actor_stopped"}


# -- since 2026-07-28 ------------------------------------------------------------------


async def test_a_stream_says_what_it_is_about(tmp_path: Path) -> None:
    async with connected(tmp_path, "auto") as (_, client):
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resource_subscriptions=[B, GONE, A, BROKEN, B],
        ) as stream:
            assert stream.honored.resource_subscriptions == [B, A]
            assert not stream.honored.tools_list_changed
            assert not stream.honored.prompts_list_changed
            assert not stream.honored.resources_list_changed


async def test_streams_are_told_apart(tmp_path: Path) -> None:
    first, second = Heard(), Heard()
    async with connected(tmp_path, "auto") as (it, client):
        async with following(client, first, [A]), following(client, second, [A, B]):
            it.write("b.md", "# 1")
            await second.update_of(B)
            it.write("a.md", "# 1")
            await first.update_of(A)
            await second.update_of(A)

        assert first.updated == []


async def test_all_streams_together_have_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "MOST_FOLLOWED", 1)
    async with connected(tmp_path, "auto") as (it, client):
        async with client.listen(resource_subscriptions=[A]):
            with pytest.raises(MCPError) as caught:
                async with client.listen(resource_subscriptions=[A, B]):
                    pass
            assert caught.value.code == -32005

            assert followed(it) == {A}


async def test_more_streams_than_there_is_room_for_are_refused(tmp_path: Path) -> None:
    async with connected(tmp_path, "auto") as (_, client):
        async with anyio.create_task_group() as group:
            opened = 0

            async def listen() -> None:
                nonlocal opened
                async with client.listen(resource_subscriptions=[A]):
                    opened += 1
                    await anyio.sleep_forever()

            for _number in range(subscriptions.MOST_STREAMS):
                group.start_soon(listen)

            async def all_open() -> bool:
                return opened == subscriptions.MOST_STREAMS

            await until(all_open)
            with pytest.raises(MCPError) as caught:
                async with client.listen(resource_subscriptions=[A]):
                    pass
            assert caught.value.code == -32603
            group.cancel_scope.cancel()


async def test_a_server_that_stops_ends_its_streams_in_order(tmp_path: Path) -> None:
    async with connected(tmp_path, "auto") as (it, client):
        async with client.listen(resource_subscriptions=[A]) as stream:
            it.write("a.md", "# Other")
            with anyio.fail_after(PATIENCE):
                assert await anext(stream) == ResourceUpdated(A)
                it.stop.set()

                assert [event async for event in stream] == []


async def test_the_old_way_is_gone_and_no_news_come_unasked(tmp_path: Path) -> None:
    heard = Heard()
    async with connected(tmp_path, "auto", heard) as (it, client):
        await client.list_resources()
        assert not it.followed
        params = types.SubscribeRequestParams(uri=A)
        request = types.SubscribeRequest(params=params)
        error = await refused(client.session.send_request(request, types.EmptyResult))
        assert error.code == -32601

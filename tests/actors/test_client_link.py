"""The client, as tools may know it."""

from pathlib import Path
from typing import Any

import anyio

from ubp.actors.client_link import ClientLink


async def test_a_client_that_cannot_name_roots_has_none() -> None:
    assert await ClientLink().roots() is None


async def test_who_asks_for_roots_waits_until_the_client_has_answered() -> None:
    link = ClientLink()
    link.expect_roots()
    found: list[Any] = []

    async def ask() -> None:
        found.append(await link.roots())

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert found == []
        link.set_roots([Path("/a")])

    assert found == [(Path("/a"),)]


async def test_roots_may_be_others_later() -> None:
    link = ClientLink()
    link.set_roots([Path("/a")])
    link.set_roots([Path("/b")])

    assert await link.roots() == (Path("/b"),)


async def test_a_notification_reaches_the_client_that_asked_last() -> None:
    link = ClientLink()
    told: list[tuple[str, dict[str, Any]]] = []

    async def send(method: str, params: dict[str, Any]) -> None:
        told.append((method, params))

    await link.notify("early", {})
    link.reached_by(send)
    await link.notify("late", {"x": 1})

    assert told == [("late", {"x": 1})]

"""A client that follows resources, in either era of the protocol, and what it heard."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated, Subscription
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from waiting import PATIENCE

__all__ = ("ERAS", "Era", "Heard", "following", "subscribe", "unsubscribe")

Era = Literal["legacy", "auto"]
"""As the SDK's client calls them; ``auto`` finds the modern one."""

ERAS: tuple[Era, ...] = ("legacy", "auto")


class Heard:
    """Notifications in the order in which they came."""

    def __init__(self) -> None:
        self.updated: list[str] = []
        self.list_changes = 0
        self._more = anyio.Event()

    async def message(self, message: Any) -> None:
        """For a client that is told on the connection."""
        params = getattr(message, "params", None)
        if SUBSCRIPTION_ID_META_KEY in (getattr(params, "meta", None) or {}):
            return  # it is of a stream, whose listeners hear it themselves
        if isinstance(message, types.ResourceUpdatedNotification):
            self._note(message.params.uri)
        elif isinstance(message, types.ResourceListChangedNotification):
            self._note(None)

    async def stream(self, events: Subscription) -> None:
        """For one that listens to a stream."""
        async for event in events:
            self._note(event.uri if isinstance(event, ResourceUpdated) else None)

    def _note(self, uri: str | None) -> None:
        if uri is None:
            self.list_changes += 1
        else:
            self.updated.append(uri)
        self._more.set()
        self._more = anyio.Event()

    async def until(self, condition: Callable[["Heard"], bool]) -> None:
        """Wait until enough has been heard."""
        with anyio.fail_after(PATIENCE):
            while not condition(self):
                await self._more.wait()

    async def update_of(self, uri: str) -> None:
        """Wait for one more notification about *uri*, and forget those before."""
        await self.until(lambda heard: uri in heard.updated)
        self.updated.clear()


async def subscribe(client: Client, uri: str) -> None:
    """As until 2025-11-25."""
    params = types.SubscribeRequestParams(uri=uri)
    request = types.SubscribeRequest(params=params)
    await client.session.send_request(request, types.EmptyResult)


async def unsubscribe(client: Client, uri: str) -> None:
    params = types.UnsubscribeRequestParams(uri=uri)
    request = types.UnsubscribeRequest(params=params)
    await client.session.send_request(request, types.EmptyResult)


@asynccontextmanager
async def following(
    client: Client, heard: Heard, uris: Sequence[str]
) -> AsyncIterator[None]:
    """What changes is heard while inside, and whether pages come or go."""
    if client.protocol_version < "2026":
        for uri in uris:
            await subscribe(client, uri)
        yield
        for uri in uris:
            await unsubscribe(client, uri)
        return
    async with (
        client.listen(resource_subscriptions=uris, resources_list_changed=True) as sub,
        anyio.create_task_group() as group,
    ):
        assert sub.honored.resource_subscriptions == list(uris)
        group.start_soon(heard.stream, sub)
        yield
        group.cancel_scope.cancel()

"""What a client follows, and how it hears of changes, in both eras of the protocol.

Until 2025-11-25 a client subscribes to one resource at a time, and is told on the
connection. Since 2026-07-28 it opens streams, each with all it wants to hear of, and
every notification names its stream; those are served by the SDK.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ubp.actors.ports import ask_current
from ubp.actors.wiring import Service
from ubp.errors import ResourceNotFound, ServiceError, TooManySubscriptions
from ubp.messages import FollowResources

__all__ = ("Subscriptions", "following")

MOST_FOLLOWED = 1_000
"""Resources a client may follow: each is looked at twice a second."""

MOST_STREAMS = 16
"""Open at a time. Each is a request in flight, and there must be room for others."""

_MOST_WAITING = 2 * MOST_FOLLOWED
"""Notifications that wait in a stream. With more the SDK ends it: nobody reads."""

_FOLLOW_WITHIN = 10.0
"""Seconds the announcer has to look at what is to be followed."""

_LET_GO_WITHIN = 1.0
"""Seconds it has to let go of something: what it then still holds, it lets go of with
the next request."""

_Request = ServerRequestContext[Any, Any]


class _Wanted(NamedTuple):
    """What is to be heard of: these resources, and whether there are others."""

    uris: frozenset[str] = frozenset()
    listed: bool = False


_NOTHING_MORE = _Wanted()


class Subscriptions:
    """Those of the one client that a service has."""

    def __init__(self, service: Service) -> None:
        self._service = service
        # One at a time: the announcer is always told everything that is wanted.
        self._turn = anyio.Lock()
        self._uris: frozenset[str] = frozenset()
        """What was subscribed to one by one."""
        self._has_listed = False
        self._session: ServerSession | None = None
        """How to reach the client that did so."""
        self._streams: dict[object, _Wanted] = {}
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(
            self._bus,
            max_subscriptions=MOST_STREAMS,
            max_buffered_events=_MOST_WAITING,
        )

    # -- until 2025-11-25 --------------------------------------------------------------

    async def list_asked_for(self, ctx: _Request) -> None:
        """From now on the client hears when the list is another one."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or self._has_listed:
            return
        async with self._turn:
            # A client that cannot be told still gets its list.
            with suppress(ServiceError):
                await self._follow(_Wanted(listed=True))
                self._has_listed = True
                self._session = ctx.session

    async def subscribe(
        self, ctx: _Request, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """From now on the client hears of every change of this resource."""
        async with self._turn:
            await self._follow_known(params.uri)
            self._uris |= {params.uri}
            self._session = ctx.session
        return types.EmptyResult()

    async def unsubscribe(
        self, _: _Request, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Silence, from now on."""
        async with self._turn:
            if params.uri not in self._uris:
                await self._follow_known(params.uri)
            self._uris -= {params.uri}
            await self._follow()
        return types.EmptyResult()

    async def _follow_known(self, uri: str) -> None:
        """Have one more resource looked after.

        Raises:
            ResourceNotFound: There is no such thing.
        """
        if uri not in await self._follow(_Wanted(frozenset({uri}), listed=True)):
            await self._follow()
            raise ResourceNotFound(uri)

    # -- since 2026-07-28 --------------------------------------------------------------

    async def listen(
        self, ctx: _Request, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream, until either side ends it; what it is about is agreed first."""
        asked = params.notifications
        uris = list(dict.fromkeys(asked.resource_subscriptions or ()))
        wanted = _Wanted(frozenset(uris), bool(asked.resources_list_changed))
        stream = object()
        try:
            async with self._turn:
                known = await self._follow(wanted)
                self._streams[stream] = wanted._replace(uris=wanted.uris & known)
            honoured = types.SubscriptionFilter(
                # Not those of tools and prompts, which never change.
                resources_list_changed=asked.resources_list_changed,
                resource_subscriptions=[uri for uri in uris if uri in known],
            )
            return await self._listen(
                ctx, params.model_copy(update={"notifications": honoured})
            )
        finally:
            self._streams.pop(stream, None)
            await self._let_go()

    # -- both --------------------------------------------------------------------------

    async def _follow(self, more: _Wanted = _NOTHING_MORE) -> frozenset[str]:
        """Have everything looked after that is wanted; all of it that exists."""
        one_by_one = _Wanted(self._uris, self._has_listed or bool(self._uris))
        wanted = _together([one_by_one, *self._streams.values(), more])
        if more.uris and len(wanted.uris) > MOST_FOLLOWED:
            raise TooManySubscriptions(MOST_FOLLOWED)
        request = FollowResources(wanted.uris, wanted.listed)
        return await ask_current(
            lambda: self._service.follows, request, within=_FOLLOW_WITHIN
        )

    async def _let_go(self) -> None:
        """Have what is no longer wanted forgotten, cancelled or not."""
        with anyio.move_on_after(_LET_GO_WITHIN, shield=True):
            async with self._turn:
                with suppress(ServiceError):
                    await self._follow()

    async def announce(self) -> None:
        """Tell the client what changes, as fast as it reads."""
        async for changed in self._service.announcements:
            for uri in changed.uris:
                await self._bus.publish(ResourceUpdated(uri))
                if self._session is not None and uri in self._uris:
                    await self._session.send_resource_updated(uri)
            if changed.listed:
                await self._bus.publish(ResourcesListChanged())
                if self._session is not None and (self._has_listed or self._uris):
                    await self._session.send_resource_list_changed()

    async def end_streams(self, stop: anyio.Event) -> None:
        """Tell the client, when we stop, that its streams end in order."""
        await stop.wait()
        self._listen.close()

    async def end(self) -> None:
        """Nobody follows anything any more."""
        self._uris, self._has_listed, self._session = frozenset(), False, None
        await self._let_go()


@asynccontextmanager
async def following(
    service: Service, stop: anyio.Event
) -> AsyncIterator[Subscriptions]:
    """The subscriptions of a client, for as long as it is connected."""
    subscriptions = Subscriptions(service)
    async with anyio.create_task_group() as group:
        group.start_soon(subscriptions.announce)
        group.start_soon(subscriptions.end_streams, stop)
        try:
            yield subscriptions
        finally:
            await subscriptions.end()
            group.cancel_scope.cancel()


def _together(wanted: Iterable[_Wanted]) -> _Wanted:
    all_of_it = list(wanted)
    return _Wanted(
        frozenset().union(*(each.uris for each in all_of_it)),
        any(each.listed for each in all_of_it),
    )

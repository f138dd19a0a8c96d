"""Answers clients with the low-level server of the MCP SDK."""

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from ubp import __version__
from ubp.errors import InternalError, UbpError
from ubp.protocol.catalog import entries
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.instructions import instructions
from ubp.protocol.replies import WireError, failure, refusal, success
from ubp.protocol.resources import ResourceRequests
from ubp.protocol.subscriptions import Subscriptions, following
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = ("build", "options")

log = get_logger("server")

_Request = ServerRequestContext[Any, Any]
_ParamsT = TypeVar("_ParamsT", bound=BaseModel)
_Handler = Callable[[_Request, _ParamsT], Awaitable[BaseModel]]


def build(
    dispatcher: Dispatcher, packs: Sequence[Pack], stop: anyio.Event | None = None
) -> Server[Any]:
    """An MCP server for one client; *stop* tells that no more requests are read."""
    listed = types.ListToolsResult(
        tools=[types.Tool.model_validate(entry) for entry in entries(packs)]
    )

    async def list_tools(
        _: _Request, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(ctx: _Request, params: types.CallToolRequestParams) -> Any:
        reply = await _answer(dispatcher, params, str(ctx.request_id))
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            reply["resultType"] = "complete"
        # Plain data: as a model of the SDK it would be checked and copied twice more.
        return reply

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[Subscriptions]:
        async with following(dispatcher.service, stop or anyio.Event()) as followed:
            yield followed

    server: Server[Any] = Server(
        "ubp",
        version=__version__,
        title="Unified Blueprint",
        instructions=instructions(packs),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(_decode_arguments)
    if any(pack.resources is not None for pack in packs):
        _serve_resources(server, ResourceRequests(dispatcher, packs))
    return server


def options(server: Server[Any]) -> InitializationOptions:
    """What a client is told on connecting, until 2025-11-25."""
    return server.create_initialization_options(
        NotificationOptions(resources_changed=True)
    )


def _serve_resources(server: Server[Any], requests: ResourceRequests) -> None:
    def followed(ctx: _Request) -> Subscriptions:
        subscriptions: Subscriptions = ctx.lifespan_context
        return subscriptions

    async def list_resources(
        ctx: _Request, params: types.PaginatedRequestParams
    ) -> BaseModel:
        await followed(ctx).list_asked_for(ctx)
        return await requests.listing(ctx, params)

    async def subscribe(
        ctx: _Request, params: types.SubscribeRequestParams
    ) -> BaseModel:
        return await followed(ctx).subscribe(ctx, params)

    async def unsubscribe(
        ctx: _Request, params: types.UnsubscribeRequestParams
    ) -> BaseModel:
        return await followed(ctx).unsubscribe(ctx, params)

    async def listen(
        ctx: _Request, params: types.SubscriptionsListenRequestParams
    ) -> BaseModel:
        return await followed(ctx).listen(ctx, params)

    def serve(method: str, params: type[_ParamsT], handler: _Handler[_ParamsT]) -> None:
        server.add_request_handler(method, params, _guarded(handler))

    serve("resources/list", types.PaginatedRequestParams, list_resources)
    serve("resources/templates/list", types.PaginatedRequestParams, requests.templates)
    serve("resources/read", types.ReadResourceRequestParams, requests.read)
    serve("completion/complete", types.CompleteRequestParams, requests.complete)
    serve("resources/subscribe", types.SubscribeRequestParams, subscribe)
    serve("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    serve("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)


def _guarded(handler: _Handler[_ParamsT]) -> _Handler[_ParamsT]:
    """*handler*, with our errors as they look on the wire."""

    async def answer(ctx: _Request, params: _ParamsT) -> BaseModel:
        try:
            return await handler(ctx, params)
        except MCPError:
            raise
        except UbpError as error:
            reply = refusal(error, ctx.protocol_version)
        except Exception:
            log.exception("request.crashed", method=ctx.method)
            reply = refusal(InternalError(), ctx.protocol_version)
        raise MCPError(code=reply.code, message=reply.message, data=reply.data)

    return answer


async def _answer(
    dispatcher: Dispatcher, params: types.CallToolRequestParams, request_id: str
) -> dict[str, Any]:
    pack: Pack | None = None
    try:
        pack, tool = dispatcher.find(params.name)
        value = await dispatcher.call(tool, params.arguments, request_id)
        return success(pack, value)
    except UbpError as error:
        reply = failure(pack, error)
    except Exception:
        # The SDK would put the text of the exception on the wire.
        log.exception("call.crashed", tool=params.name)
        reply = failure(pack, InternalError())
    if isinstance(reply, WireError):
        raise MCPError(code=reply.code, message=reply.message, data=reply.data)
    return reply


async def _decode_arguments(ctx: _Request, call_next: CallNext) -> HandlerResult:
    """Let ``arguments`` be a JSON string, as some clients send them."""
    params = ctx.params
    if ctx.method == "tools/call" and isinstance(params, Mapping):
        given = params.get("arguments")
        if isinstance(given, str):
            try:
                decoded = msgspec.json.decode(given)
            except msgspec.DecodeError:
                decoded = given
            if isinstance(decoded, dict):
                ctx = dataclasses.replace(ctx, params={**params, "arguments": decoded})
    return await call_next(ctx)

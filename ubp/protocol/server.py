"""Answers clients with the low-level server of the MCP SDK."""

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.abc
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
from ubp.actors.client_link import ClientLink
from ubp.errors import InternalError, InvalidArguments, UbpError
from ubp.protocol.catalog import entries
from ubp.protocol.client_log import ClientLog, telling
from ubp.protocol.client_roots import ask_for_roots, keep_in_touch
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.instructions import instructions
from ubp.protocol.progress import SignsOfLife
from ubp.protocol.prompts import PromptRequests
from ubp.protocol.replies import WireError, failure, refusal, success
from ubp.protocol.resources import ResourceRequests
from ubp.protocol.skills import EXTENSION, GetSkillParams, SkillRequests
from ubp.protocol.subscriptions import Subscriptions, following
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = ("build", "options")

log = get_logger("server")

_Request = ServerRequestContext[Any, Any]
_ParamsT = TypeVar("_ParamsT", bound=BaseModel)
_Handler = Callable[[_Request, _ParamsT], Awaitable[BaseModel | dict[str, Any]]]


@dataclasses.dataclass(frozen=True, slots=True)
class _Connected:
    """What there is for as long as a client is connected."""

    subscriptions: Subscriptions
    tasks: anyio.abc.TaskGroup
    log: ClientLog
    signs: SignsOfLife


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

    link = dispatcher.service.client

    async def call_tool(ctx: _Request, params: types.CallToolRequestParams) -> Any:
        keep_in_touch(link, ctx)
        connected: _Connected = ctx.lifespan_context
        with connected.signs.during(ctx):
            reply = await _outcome(dispatcher, params, str(ctx.request_id))
        if isinstance(reply, WireError):
            raise _error(reply)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            reply["resultType"] = "complete"
        # Plain data: as a model of the SDK it would be checked and copied twice more.
        return reply

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[_Connected]:
        async with (
            following(dispatcher.service, stop or anyio.Event()) as followed,
            telling(link) as client_log,
            anyio.create_task_group() as tasks,
        ):
            signs = SignsOfLife()
            tasks.start_soon(signs.run)
            yield _Connected(followed, tasks, client_log, signs)
            tasks.cancel_scope.cancel()

    server: Server[Any] = Server(
        "ubp",
        version=__version__,
        title="Unified Blueprint",
        instructions=instructions(packs),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    _serve_discovery(server)
    _follow_roots(server, link)
    _serve_log(server, link)
    server.middleware.append(partial(_decode_arguments, dispatcher))
    resources = ResourceRequests(dispatcher, packs)
    prompts = PromptRequests(dispatcher, packs)
    with_resources = any(pack.resources is not None for pack in packs)
    with_prompts = any(pack.prompts is not None for pack in packs)
    if with_resources:
        _serve_resources(server, resources)
    if with_prompts:
        _serve_prompts(server, prompts)
    if any(pack.skills is not None for pack in packs):
        _serve_skills(server, SkillRequests(dispatcher, packs))
    if with_resources or with_prompts:
        _serve_completions(server, resources, prompts)
    return server


def options(server: Server[Any]) -> InitializationOptions:
    """What a client is told on connecting, until 2025-11-25.

    Tools and prompts are the same for as long as a server runs, so no news of their
    lists is promised; resources come and go.
    """
    return server.create_initialization_options(
        NotificationOptions(resources_changed=True)
    )


def _serve_discovery(server: Server[Any]) -> None:
    """Promise since 2026-07-28 what a handshake does; of itself the SDK says more."""

    async def discover(_: _Request, __: types.RequestParams) -> types.DiscoverResult:
        able = options(server).capabilities
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            # Without logging: there is no `logging/setLevel` any more to ask for it.
            capabilities=able.model_copy(update={"logging": None}),
            instructions=server.instructions,
        )

    _serve(server, "server/discover", types.RequestParams, discover)


def _follow_roots(server: Server[Any], link: ClientLink) -> None:
    """Ask the client for its roots when it has connected, and when they are others."""

    async def ask(ctx: _Request, _: types.NotificationParams | None) -> None:
        keep_in_touch(link, ctx)
        ask_for_roots(link, ctx, ctx.lifespan_context.tasks)

    for method in ("notifications/initialized", "notifications/roots/list_changed"):
        server.add_notification_handler(method, types.NotificationParams, ask)


def _serve_log(server: Server[Any], link: ClientLink) -> None:
    async def set_level(
        ctx: _Request, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        keep_in_touch(link, ctx)
        ctx.lifespan_context.log.set_level(params.level)
        return types.EmptyResult()

    _serve(server, "logging/setLevel", types.SetLevelRequestParams, set_level)


def _serve_resources(server: Server[Any], requests: ResourceRequests) -> None:
    def followed(ctx: _Request) -> Subscriptions:
        subscriptions: Subscriptions = ctx.lifespan_context.subscriptions
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

    serve = partial(_serve, server)
    serve("resources/list", types.PaginatedRequestParams, list_resources)
    serve("resources/templates/list", types.PaginatedRequestParams, requests.templates)
    serve("resources/read", types.ReadResourceRequestParams, requests.read)
    serve("resources/subscribe", types.SubscribeRequestParams, subscribe)
    serve("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    serve("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)


def _serve_prompts(server: Server[Any], requests: PromptRequests) -> None:
    _serve(server, "prompts/list", types.PaginatedRequestParams, requests.listing)
    _serve(server, "prompts/get", types.GetPromptRequestParams, requests.get)


def _serve_skills(server: Server[Any], requests: SkillRequests) -> None:
    async def promise(ctx: _Request, call_next: CallNext) -> HandlerResult:
        """Until 2025-11-25 the SDK leaves extensions out of a handshake."""
        result = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(result, dict):
            capabilities = {**result["capabilities"], "extensions": server.extensions}
            return {**result, "capabilities": capabilities}
        return result

    server.extensions[EXTENSION] = {}
    server.middleware.append(promise)
    _serve(server, "skills/list", types.PaginatedRequestParams, requests.listing)
    _serve(server, "skills/get", GetSkillParams, requests.get)


def _serve_completions(
    server: Server[Any], resources: ResourceRequests, prompts: PromptRequests
) -> None:
    async def complete(ctx: _Request, params: types.CompleteRequestParams) -> BaseModel:
        if isinstance(params.ref, types.PromptReference):
            return await prompts.complete(ctx, params, params.ref.name)
        return await resources.complete(ctx, params, params.ref.uri)

    _serve(server, "completion/complete", types.CompleteRequestParams, complete)


def _serve(
    server: Server[Any],
    method: str,
    params: type[_ParamsT],
    handler: _Handler[_ParamsT],
) -> None:
    server.add_request_handler(method, params, _guarded(handler))


def _guarded(handler: _Handler[_ParamsT]) -> _Handler[_ParamsT]:
    """*handler*, with our errors as they look on the wire."""

    async def answer(ctx: _Request, params: _ParamsT) -> BaseModel | dict[str, Any]:
        try:
            return await handler(ctx, params)
        except MCPError:
            raise
        except UbpError as error:
            reply = refusal(error, ctx.protocol_version)
        except Exception:
            log.exception("request.crashed", method=ctx.method)
            reply = refusal(InternalError(), ctx.protocol_version)
        raise _error(reply)

    return answer


async def _outcome(
    dispatcher: Dispatcher, params: types.CallToolRequestParams, request_id: str
) -> dict[str, Any] | WireError:
    pack: Pack | None = None
    try:
        pack, tool = dispatcher.find(params.name)
        value = await dispatcher.call(tool, params.arguments, request_id)
        return success(pack, value)
    except UbpError as error:
        return failure(pack, error)
    except Exception:
        # The SDK would put the text of the exception on the wire.
        log.exception("call.crashed", tool=params.name)
        return failure(pack, InternalError())


def _error(reply: WireError) -> MCPError:
    return MCPError(code=reply.code, message=reply.message, data=reply.data)


async def _decode_arguments(
    dispatcher: Dispatcher, ctx: _Request, call_next: CallNext
) -> HandlerResult:
    """Let ``arguments`` be a JSON string, as some clients send them."""
    params = ctx.params
    if ctx.method == "tools/call" and isinstance(params, Mapping):
        given = params.get("arguments")
        if isinstance(given, str):
            try:
                decoded = msgspec.json.decode(given)
            except msgspec.DecodeError:
                return _not_json(dispatcher, params.get("name"))
            if isinstance(decoded, dict):
                ctx = dataclasses.replace(ctx, params={**params, "arguments": decoded})
    return await call_next(ctx)


def _not_json(dispatcher: Dispatcher, name: Any) -> HandlerResult:
    """The answer to arguments in text that is not JSON, in the style of the family."""
    try:
        pack: Pack | None = dispatcher.find(str(name))[0]
    except UbpError as error:
        reply = failure(None, error)
    else:
        reply = failure(pack, InvalidArguments("`arguments` is text that is not JSON."))
    if isinstance(reply, WireError):
        raise _error(reply)
    return reply

"""Answers tools/list and tools/call with the low-level server of the MCP SDK."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ubp import __version__
from ubp.errors import InternalError, UbpError
from ubp.protocol.catalog import entries
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.instructions import instructions
from ubp.protocol.replies import WireError, failure, success
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = ("build",)

log = get_logger("server")

_Request = ServerRequestContext[Any, Any]


def build(dispatcher: Dispatcher, packs: Sequence[Pack]) -> Server[Any]:
    """An MCP server over *dispatcher*."""
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

    server: Server[Any] = Server(
        "ubp",
        version=__version__,
        title="Unified Blueprint",
        instructions=instructions(packs),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(_decode_arguments)
    return server


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

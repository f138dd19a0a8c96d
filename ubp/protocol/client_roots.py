"""Who is at the other end: how tools reach it, and which folders it lets us use."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.abc
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from ubp.actors.client_link import ClientLink
from ubp.telemetry import get_logger

__all__ = ("ask_for_roots", "keep_in_touch", "path_of")

log = get_logger("roots")

ANSWER_WITHIN = 30.0
"""Seconds a client has to answer; people may be asked."""

_Request = ServerRequestContext[Any, Any]


class _Told(BaseModel):
    """A notification that MCP knows nothing of."""

    method: str
    params: dict[str, Any]


def keep_in_touch(link: ClientLink, ctx: _Request) -> None:
    """Let tools reach the client that is asking."""
    session = ctx.session

    async def send(method: str, params: dict[str, Any]) -> None:
        told: Any = _Told(method=method, params=params)
        await session.send_notification(told)

    link.reached_by(send)
    can = session.client_capabilities
    if can is not None and can.roots is not None:
        link.expect_roots()


def ask_for_roots(link: ClientLink, ctx: _Request, tasks: anyio.abc.TaskGroup) -> None:
    """Have the client asked, if it can be; what it says counts from then on."""
    can = ctx.session.client_capabilities
    if can is None or can.roots is None:
        return
    link.expect_roots()
    tasks.start_soon(_ask, link, ctx)


async def _ask(link: ClientLink, ctx: _Request) -> None:
    try:
        with anyio.fail_after(ANSWER_WITHIN):
            # Not list_roots(), which warns that the next protocol does without.
            answer = await ctx.session.send_request(
                types.ListRootsRequest(), types.ListRootsResult
            )
    except (MCPError, ValidationError, TimeoutError) as error:
        log.info("roots.unknown", reason=type(error).__name__)
        link.set_roots(None)
        return
    found = [path_of(str(root.uri)) for root in answer.roots]
    link.set_roots([path for path in found if path is not None])


def path_of(uri: str) -> Path | None:
    """The folder that a root names; None if it names none on this machine."""
    try:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            return None
        path = Path(url2pathname(parts.path))
    except ValueError:
        return None
    return path if path.is_absolute() and "\x00" not in str(path) else None

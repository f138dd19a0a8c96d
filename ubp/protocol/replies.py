"""Results and errors -> what goes over the wire.

The only module that knows what a family's errors look like.
"""

from typing import Any, NamedTuple

import msgspec
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ubp.errors import (
    CallerError,
    DatabaseError,
    IndexNotReady,
    InvalidArguments,
    PageNotFound,
    ResourceNotFound,
    ResourceTooLarge,
    TooManySubscriptions,
    UbpError,
    UnknownTool,
)
from ubp.toolkit import ArrayResult, ErrorStyle, Pack, TextResult

__all__ = (
    "INVALID_PARAMS",
    "WireError",
    "categorised",
    "failure",
    "refusal",
    "success",
    "text_of",
)

INVALID_PARAMS = -32602
INTERNAL = -32603
CATEGORISED = -32000
NO_RESOURCE = -32002
"""Of MCP until 2025-11-25. Since 2026-07-28 a wrong URI is an invalid parameter."""

_CODES: list[tuple[type[UbpError], int]] = [
    (InvalidArguments, INVALID_PARAMS),
    (UnknownTool, INVALID_PARAMS),
    (PageNotFound, -32001),
    (IndexNotReady, -32002),
    (DatabaseError, -32003),
    (ResourceTooLarge, -32004),
    (TooManySubscriptions, -32005),
]


class WireError(NamedTuple):
    """A JSON-RPC error."""

    code: int
    message: str
    data: Any = None


def success(pack: Pack, result: Any) -> dict[str, Any]:
    """A tool's result as an MCP result: structured, and the same as one text block."""
    reply = {
        "content": [{"type": "text", "text": text_of(pack, result)}],
        "structuredContent": msgspec.to_builtins(result),
        "isError": False,
    }
    meta = result.meta() if isinstance(result, ArrayResult) else {}
    for key in meta:  # said there, it is not said again
        reply["structuredContent"].pop(key, None)
    return {**reply, "_meta": meta} if meta else reply


def failure(pack: Pack | None, error: UbpError) -> dict[str, Any] | WireError:
    """An error in the style of the tool's family; of no family, as a code."""
    style = pack.errors if pack is not None else ErrorStyle.CODES
    if isinstance(error, UnknownTool):
        style = ErrorStyle.CODES
    match style:
        case ErrorStyle.CODES:
            code = _first(_CODES, error, INTERNAL)
            return WireError(code, error.message, {"code": error.code})
        case ErrorStyle.CATEGORIES:
            return WireError(CATEGORISED, error.category, {"detail": error.message})
        case ErrorStyle.RESULTS:
            text = f"Error: {error.message}"
            return {"content": [{"type": "text", "text": text}], "isError": True}


def categorised(error: UbpError) -> UbpError:
    """*error* with its category before its message, as commands show it."""
    error.message = f"{error.category}: {error.message}"
    return error


def refusal(error: UbpError, protocol_version: str) -> WireError:
    """An error in answer to anything but a tool call: always a code."""
    if isinstance(error, ResourceNotFound):
        modern = protocol_version in MODERN_PROTOCOL_VERSIONS
        data = {"uri": error.uri, "code": error.code}
        return WireError(INVALID_PARAMS if modern else NO_RESOURCE, error.message, data)
    unlisted = INVALID_PARAMS if isinstance(error, CallerError) else INTERNAL
    code = _first(_CODES, error, unlisted)
    return WireError(code, error.message, {"code": error.code})


def text_of(pack: Pack, result: Any) -> str:
    """The text block of a result."""
    if isinstance(result, TextResult):
        return result.text()
    shown = result.shown() if isinstance(result, ArrayResult) else result
    encoded = msgspec.json.encode(shown)
    if pack.indented_text:
        encoded = msgspec.json.format(encoded, indent=2)
    return encoded.decode()


def _first(
    table: list[tuple[type[UbpError], Any]], error: UbpError, default: Any
) -> Any:
    return next((value for kind, value in table if isinstance(error, kind)), default)

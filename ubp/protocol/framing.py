"""A line of input -> a JSON-RPC message, or the error its sender should get.

Stricter than the SDK, which passes over what it cannot parse: here every line that
is no message is answered, except where JSON-RPC says that nothing should be.
"""

import json
import math
from typing import Any, NamedTuple

import mcp_types as types
import msgspec

__all__ = ("PARSE_ERROR", "Refusal", "parse")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

_Message = (
    types.JSONRPCRequest
    | types.JSONRPCNotification
    | types.JSONRPCResponse
    | types.JSONRPCError
)

_decode = msgspec.json.Decoder().decode


class Refusal(NamedTuple):
    """The error to answer with."""

    code: int
    message: str
    id: str | int | None = None

    def encoded(self) -> bytes:
        error = {"code": self.code, "message": self.message}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": self.id, "error": error})


def parse(line: bytes) -> _Message | Refusal | None:
    """What a line says; None where it calls for nothing."""
    if not line.strip():
        return None
    try:
        value = _decoded(line)
    except (ValueError, RecursionError):
        return Refusal(PARSE_ERROR, "Parse error: the line is not JSON.")
    if not isinstance(value, dict):
        what = "a batch" if isinstance(value, list) else "no object"
        return Refusal(INVALID_REQUEST, f"Invalid request: the message is {what}.")
    return _message(value)


def _decoded(line: bytes) -> Any:
    try:
        return _decode(line)
    except msgspec.DecodeError:
        # Half a surrogate pair is JSON, and what a cut emoji becomes in JavaScript.
        # Nothing can store it; the rest of the message can be answered.
        return _scrubbed(json.loads(line))


def _scrubbed(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_scrubbed(inner) for inner in value]
        case dict():
            return {_scrubbed(key): _scrubbed(inner) for key, inner in value.items()}
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _message(value: dict[str, Any]) -> _Message | Refusal | None:
    given = value.get("id")
    ident = (
        given if isinstance(given, str | int) and not isinstance(given, bool) else None
    )
    if value.get("jsonrpc") != "2.0":
        return Refusal(INVALID_REQUEST, 'Invalid request: jsonrpc is not "2.0".', ident)
    if "method" not in value and ("result" in value or "error" in value):
        return _response(value, ident)
    method, params = value.get("method"), value.get("params")
    if not isinstance(method, str):
        reason = "Invalid request: there is no method."
        return Refusal(INVALID_REQUEST, reason, ident)
    well_formed = params is None or isinstance(params, dict)
    if "id" not in value:
        return (
            types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
            if well_formed
            else None
        )
    if ident is None:
        reason = "Invalid request: the id is neither a string nor an integer."
        return Refusal(INVALID_REQUEST, reason)
    if not well_formed:
        return Refusal(INVALID_REQUEST, "Invalid request: params is no object.", ident)
    return types.JSONRPCRequest(jsonrpc="2.0", id=ident, method=method, params=params)


def _response(
    value: dict[str, Any], ident: str | int | None
) -> types.JSONRPCResponse | types.JSONRPCError | None:
    """A response, if it is one; a malformed one is nobody's."""
    if ident is None:
        return None
    if isinstance(result := value.get("result"), dict):
        return types.JSONRPCResponse(jsonrpc="2.0", id=ident, result=result)
    match value.get("error"):
        case {"code": int(code), "message": str(message), **more}:
            error = types.ErrorData(code=code, message=message, data=more.get("data"))
            return types.JSONRPCError(jsonrpc="2.0", id=ident, error=error)
        case _:
            return None

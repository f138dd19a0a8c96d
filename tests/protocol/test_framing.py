"""A line of input: a message, a refusal, or nothing."""

import json
from typing import Any

import mcp_types as types
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.protocol.framing import Refusal, parse


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def test_a_request_is_a_request() -> None:
    assert parse(line(id=1, method="ping", params={"a": 1})) == types.JSONRPCRequest(
        jsonrpc="2.0", id=1, method="ping", params={"a": 1}
    )


@pytest.mark.parametrize("raw", [b"{", b"not json", b"\xff\xfe", b"}{", b"[" * 10_000])
def test_what_is_no_json_is_a_parse_error_without_id(raw: bytes) -> None:
    assert parse(raw) == Refusal(-32700, "Parse error: the line is not JSON.")


@pytest.mark.parametrize(
    "raw",
    [
        b'"text"',
        b"42",
        b"null",
        b"[]",
        line(id="x"),
        line(id="x", method=5),
        b'{"id": "x", "method": "ping"}',
        line(id="x", method="ping", params=[1]),
        line(id=1.5, method="ping"),
        line(id=True, method="ping"),
        line(id=None, method="ping"),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(raw: bytes) -> None:
    refusal = parse(raw)

    assert isinstance(refusal, Refusal)
    assert refusal.code == -32600
    assert refusal.id in ("x", None)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"  ",
        line(method="notifications/x", params=[1]),
        line(id=1.5, result={}),
        line(id=1, result=5),
        line(id=1, error="no"),
    ],
)
def test_what_calls_for_nothing_gets_nothing(raw: bytes) -> None:
    assert parse(raw) is None


def test_responses_are_passed_on() -> None:
    assert isinstance(parse(line(id=1, result={})), types.JSONRPCResponse)
    error = {"code": -1, "message": "no", "data": [1]}
    assert isinstance(parse(line(id=1, error=error)), types.JSONRPCError)


def test_a_refusal_is_a_json_rpc_error() -> None:
    assert msgspec.json.decode(Refusal(-32600, "No.", "x").encoded()) == {
        "jsonrpc": "2.0",
        "id": "x",
        "error": {"code": -32600, "message": "No."},
    }


@given(st.binary())
def test_any_bytes_are_an_answer(raw: bytes) -> None:
    parse(raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), JSON))
def test_any_object_is_an_answer(message: dict[str, Any]) -> None:
    parse(json.dumps({"jsonrpc": "2.0", **message}).encode())


def test_half_a_surrogate_pair_does_not_cost_the_answer() -> None:
    """What a cut emoji becomes in JavaScript is JSON, and somebody waits for its id."""
    raw = b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"q":"a \\ud83d","n":1e999}}'

    assert parse(raw) == types.JSONRPCRequest(
        jsonrpc="2.0", id=7, method="m", params={"q": "a ?", "n": None}
    )

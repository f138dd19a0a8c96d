"""Each family's results and errors, as they look on the wire."""

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from ubp.errors import (
    Busy,
    DatabaseError,
    IndexNotReady,
    InternalError,
    InvalidArguments,
    PageNotFound,
    ResourceNotFound,
    ResourceTooLarge,
    TooManySubscriptions,
    UbpError,
    UnknownTool,
)
from ubp.protocol.replies import WireError, failure, refusal, success
from ubp.toolkit import ErrorStyle, Pack


def pack(style: ErrorStyle, *, indented: bool = False) -> Pack:
    return Pack("p", "s", (), style, Path(), indented_text=indented)


class Value(Struct):
    """A result."""

    n: int


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidArguments("x"), -32602),
        (UnknownTool("x"), -32602),
        (PageNotFound("x"), -32001),
        (IndexNotReady(), -32002),
        (DatabaseError("x"), -32003),
        (InternalError(), -32603),
        (Busy("x"), -32603),
    ],
)
def test_a_family_with_codes_has_one_for_each_kind(error: UbpError, code: int) -> None:
    reply = failure(pack(ErrorStyle.CODES), error)

    assert isinstance(reply, WireError)
    assert reply.code == code


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (InvalidArguments("x"), "invalid-argument"),
        (PageNotFound("x"), "not-found"),
        (InternalError(), "internal"),
    ],
)
def test_a_family_with_categories_says_which_and_why(
    error: UbpError, category: str
) -> None:
    reply = failure(pack(ErrorStyle.CATEGORIES), error)

    assert reply == WireError(-32000, category, {"detail": error.message})


def test_a_family_with_results_answers_with_a_flagged_result() -> None:
    assert failure(pack(ErrorStyle.RESULTS), InvalidArguments("No.")) == {
        "content": [{"type": "text", "text": "Error: No."}],
        "isError": True,
    }


@pytest.mark.parametrize("style", ErrorStyle)
def test_an_unknown_tool_is_a_code_in_every_family(style: ErrorStyle) -> None:
    reply = failure(pack(style), UnknownTool("x"))

    assert isinstance(reply, WireError)
    assert reply.code == -32602


@pytest.mark.parametrize(
    ("indented", "text"), [(False, '{"n":1}'), (True, '{\n  "n": 1\n}')]
)
def test_the_text_says_what_the_structure_says(indented: bool, text: str) -> None:
    result = success(pack(ErrorStyle.CODES, indented=indented), Value(1))

    assert result["content"] == [{"type": "text", "text": text}]
    assert result["structuredContent"] == msgspec.json.decode(text)


def test_an_error_never_repeats_megabytes() -> None:
    assert len(PageNotFound("x" * 1_000_000).message) < 1_000
    assert len(UnknownTool("x" * 1_000_000).message) < 1_000


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidArguments("x"), -32602),
        (ResourceTooLarge(2, 1), -32004),
        (TooManySubscriptions(1), -32005),
        (InternalError(), -32603),
        (Busy("x"), -32603),
    ],
)
def test_other_requests_are_refused_with_a_code(error: UbpError, code: int) -> None:
    for version in ("2024-11-05", "2025-11-25", "2026-07-28"):
        reply = refusal(error, version)

        assert (reply.code, reply.data) == (code, {"code": error.code})


@pytest.mark.parametrize(
    ("version", "code"),
    [("2024-11-05", -32002), ("2025-11-25", -32002), ("2026-07-28", -32602)],
)
def test_a_resource_that_is_not_there_has_the_code_of_its_time(
    version: str, code: int
) -> None:
    reply = refusal(ResourceNotFound("ubp://docs/x.md"), version)

    assert reply == WireError(
        code,
        "Resource not found",
        {"uri": "ubp://docs/x.md", "code": "resource_not_found"},
    )

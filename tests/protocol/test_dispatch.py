"""Arguments are checked before any actor is asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.errors import InvalidArguments
from ubp.packs import discover, tools_of
from ubp.protocol.dispatch import checked

TOOLS = tools_of(discover())


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("ubp_search", {}, "query"),
        ("ubp_search", {"query": 5}, "query"),
        ("ubp_search", {"query": "x", "limit": 21}, "limit"),
        ("ubp_search", {"query": "x", "limit": "5"}, "limit"),
        ("ubp_search", {"query": "x", "link_types": ["likes"]}, "link_types"),
        ("ubp_search", {"query": "x", "surprise": 1}, "surprise"),
        ("ubp_get_context", {"filepath": "x", "max_size": 0}, "max_size"),
        ("ubp_list_pages", {"sort": "size"}, "sort"),
        ("list_versions", {"language": "cobol"}, "typescript"),
        ("list_versions", {"language": 5}, "language"),
    ],
)
def test_a_bad_argument_is_named(
    tool: str, arguments: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        checked(TOOLS[tool][1], arguments)

    assert named in caught.value.message


@pytest.mark.parametrize("arguments", [[], 5, "text", [1]])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    with pytest.raises(InvalidArguments):
        checked(TOOLS["ubp_list_pages"][1], arguments)


def test_no_arguments_are_an_empty_object() -> None:
    checked(TOOLS["ubp_list_pages"][1], None)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(st.sampled_from(sorted(TOOLS)), ANY)
def test_any_arguments_are_accepted_or_refused(name: str, arguments: Any) -> None:
    try:
        checked(TOOLS[name][1], arguments)
    except InvalidArguments as error:
        assert len(error.message) < 1_000


def test_null_is_absent_and_a_whole_float_is_an_integer() -> None:
    """Some clients send every optional argument, and numbers as they please."""
    args = checked(TOOLS["ubp_fulltext_search"][1], {"query": "x", "limit": None})
    assert args.limit == 10

    args = checked(TOOLS["ubp_fulltext_search"][1], {"query": "x", "limit": 3.0})
    assert args.limit == 3

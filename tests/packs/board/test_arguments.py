"""What callers give the board's tools."""

from typing import Any

import pytest

from ubp.packs.board.arguments import checked_text, checked_values
from ubp.packs.board.failures import InvalidValue


@pytest.mark.parametrize("value", [1e30, 10**30, "a\0b", {"a": ["\0"]}, {"": 1e30}])
def test_a_value_that_front_matter_cannot_hold_is_the_callers_mistake(
    value: Any,
) -> None:
    with pytest.raises(InvalidValue, match="`own`"):
        checked_values({"own": value})


@pytest.mark.parametrize(
    "value", [True, 0, -3, 1.5, "3.10", "no", "a: b\n- c", [], {}, {"a": [1, "二"]}]
)
def test_any_other_value_of_ones_own_is_taken(value: Any) -> None:
    assert checked_values({"own": value}) == {"own": value}


@pytest.mark.parametrize("text", ["\0", "half a pair \ud83d", "bytes \udcff"])
def test_a_text_that_no_file_can_hold_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="`body`"):
        checked_text(text, "body")

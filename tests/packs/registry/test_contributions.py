"""What is stored of a unit is what was checked, whatever it was sent as."""

from typing import Any

import pytest
from contributions import (
    GONE,
    change,
    full_pattern,
    full_procedure,
    metadata,
    trace,
)

from ubp.packs.registry.contributions import Contribution, unit_contribution
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.problems import InvalidContribution

ANN = "kp:agent:ann"
BEL = "\x07"
"""A control character: it is taken out wherever it stands."""


def contributed(unit: dict[str, Any]) -> Contribution:
    return unit_contribution(unit, None, ANN, Thresholds())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metadata", metadata(agent_id="kp:agent:somebody-else")),
        ("metadata", "no mapping"),
        ("id", "kp:trace:of-somebody-else"),
        ("@type", "ExpertSOP"),
        ("steps", []),
    ],
)
def test_no_field_takes_the_place_of_one_that_was_checked(
    name: str, value: object
) -> None:
    with pytest.raises(InvalidContribution, match="cannot be seen"):
        contributed({**trace(), f"{name}{BEL}": value})


def test_nor_one_that_is_filled_in() -> None:
    unit = change(trace(), "id", GONE)
    with pytest.raises(InvalidContribution, match="cannot be seen"):
        contributed({**unit, f"id{BEL}": "kp:trace:of-somebody-else"})


def test_a_text_of_nothing_that_can_be_seen_is_empty() -> None:
    with pytest.raises(InvalidContribution, match=r"task\.objective: must not be"):
        contributed(change(trace(), "task.objective", BEL))


def test_control_characters_are_taken_out_of_ids_too() -> None:
    item = contributed(change(trace(), "id", f"kp:trace:one{BEL}"))
    assert (item.ident, item.unit["id"]) == ("kp:trace:one", "kp:trace:one")


def test_secrets_are_in_nothing_that_is_stored_beside_the_content() -> None:
    told = "mail to bob@corp.test, password=hunter2hunter2"
    unit = change(trace(task_domain=told), "task.objective", told)
    item = contributed(unit)
    redacted = "mail to [REDACTED:email], password=[REDACTED:password]"
    assert (item.domain, item.name) == (redacted, redacted)
    assert "hunter2" not in repr(item)


@pytest.mark.parametrize(
    "number", [10**400, float("inf"), float("nan")], ids=["huge", "inf", "nan"]
)
@pytest.mark.parametrize(
    ("unit", "path"),
    [
        (full_pattern(), "performance.uses"),
        (full_pattern(), "performance.avg_ms"),
        (full_procedure(), "decision_tree.0.conditions.angry.sla_min"),
        (trace(), "outcome.confidence"),
        (trace(), "steps.0.note"),
    ],
)
def test_a_number_that_others_cannot_read_is_refused(
    unit: dict[str, Any], path: str, number: float
) -> None:
    with pytest.raises(InvalidContribution, match="too large"):
        contributed(change(unit, path, number))


def test_an_id_is_one_line() -> None:
    with pytest.raises(InvalidContribution, match="id: has to match"):
        contributed(change(trace(), "id", "kp:trace:one\n"))

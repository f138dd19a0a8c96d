from typing import Any

import pytest
from contributions import (
    LONG_BODY,
    change,
    full_pattern,
    full_procedure,
    good_skill_text,
    pattern,
    procedure,
    skill_text,
    trace,
)

from ubp.packs.registry.quality import of_skill, of_unit
from ubp.packs.registry.skill_file import parse
from ubp.packs.registry.standing import standing


def steps(*types: str, tools: str = "") -> list[dict[str, Any]]:
    names = iter(tools)
    return [
        {"step_id": number, "type": kind}
        | ({"tool": {"name": next(names)}} if kind == "tool_call" else {})
        for number, kind in enumerate(types)
    ]


TWO_TOOLS = steps("thought", "tool_call", "tool_call", "observation", tools="ab")
RECOVERIES = steps(
    "thought", *["error_recovery"] * 3, "tool_call", "tool_call", tools="ab"
)


@pytest.mark.parametrize(
    ("unit", "confidence", "score"),
    [
        (trace(), 1, 0.57625),
        (trace(steps("thought")), 1, 0.1),
        (trace(TWO_TOOLS), 0.9, 0.65375),
        (trace(TWO_TOOLS, success=False), 0.9, 0.49625),
        (trace(steps("thought", "observation")), 0.8, 0.4425),
        (trace(RECOVERIES), 0.8, 0.80875),
        (trace(TWO_TOOLS, task_domain="finance"), 0.9, 0.713),
        (trace(TWO_TOOLS, task_domain="code"), 0.9, 0.713),
        (trace(TWO_TOOLS, task_domain="medical"), 0.9, 0.75725),
        (trace(TWO_TOOLS, task_domain="customer_service"), 0.9, 0.703),
        (trace(TWO_TOOLS, task_domain="Finance"), 0.9, 0.65375),
    ],
)
def test_a_trace_has_the_quality_of_the_formula(
    unit: dict[str, Any], confidence: float, score: float
) -> None:
    assert of_unit(change(unit, "outcome.confidence", confidence)) == pytest.approx(
        score, abs=1e-6
    )


def test_a_novel_trace_is_better_than_a_repeated_one() -> None:
    assert of_unit(trace(), novelty=1.0) == pytest.approx(0.57625 + 0.175)
    assert of_unit(trace(), novelty=0.0) == pytest.approx(0.57625 - 0.175)


def performing(unit: dict[str, Any], success: float, uses: int) -> dict[str, Any]:
    unit = change(unit, "performance.success_rate", success)
    return change(unit, "performance.uses", uses)


@pytest.mark.parametrize(
    ("unit", "score"),
    [
        (performing(pattern(), 0, 0), 0.05),
        (performing(pattern(), 1, 50), 0.75),
        (performing(pattern(), 1, 5000), 0.75),
        (performing(pattern(), 1, 25), 0.625),
        (change(pattern(), "tool_sequence", pattern()["tool_sequence"] * 3), 0.75),
        (change(pattern(), "trigger_conditions.required_tools", ["a"]), 0.80),
        (full_pattern(), 1.0),
    ],
)
def test_a_pattern_has_the_quality_of_the_formula(
    unit: dict[str, Any], score: float
) -> None:
    assert of_unit(unit) == pytest.approx(score)


def nodes(count: int, rich: int) -> list[dict[str, Any]]:
    extra = {"criteria": {"a": "b"}, "tool_suggestions": [{"name": "c", "when": "d"}]}
    return [
        {"step": "s", "instruction": "i", **(extra if number < rich else {})}
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("unit", "score"),
    [
        (procedure(), 0.05),
        (change(procedure(), "decision_tree", nodes(6, 0)), 0.30),
        (change(procedure(), "decision_tree", nodes(12, 0)), 0.30),
        (change(procedure(), "decision_tree", nodes(4, 2)), 0.375),
        (change(procedure(), "source.credentials", ["kp:sbt:1"]), 0.20),
        (full_procedure(), 1.0),
    ],
)
def test_a_procedure_has_the_quality_of_the_formula(
    unit: dict[str, Any], score: float
) -> None:
    assert of_unit(unit) == pytest.approx(score)


def test_the_reported_quality_is_not_believed() -> None:
    assert of_unit(pattern(quality_score=0.0)) == of_unit(pattern(quality_score=1.0))


ALL_FRONT = "version: v1\nauthor: A\nlicense: MIT\ntags: [a]\nallowed-tools: [Read]\nkp:\n  domain: code\n"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (skill_text(), 0.50),
        (skill_text(description="d" * 39), 0.50),
        (skill_text(description="d" * 40), 0.60),
        (skill_text(front="version: v1\n"), 0.55),
        (skill_text(front="author: Ann\n"), 0.55),
        (skill_text(front="license: MIT\n"), 0.55),
        (skill_text(front="tags: [a, b]\n"), 0.55),
        (skill_text(front="tags: []\n"), 0.50),
        (skill_text(front="allowed-tools: [Read]\n"), 0.55),
        (skill_text(front="kp:\n  domain: code\n"), 0.55),
        (skill_text(body=LONG_BODY), 0.60),
        (skill_text(body="# Title\n\nText."), 0.55),
        (skill_text(body="```\n# no title\n```"), 0.50),
        (good_skill_text(), 0.75),
        (good_skill_text(front=ALL_FRONT), 1.0),
    ],
)
def test_a_skill_is_scored_by_its_parts(text: str, score: float) -> None:
    assert of_skill(parse(text), suspicious=False) == pytest.approx(score)


def test_a_suspicious_skill_is_worth_less() -> None:
    assert of_skill(parse(skill_text()), suspicious=True) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("positive", "negative", "quality", "status"),
    [
        (0, 0, 0.6, "active"),
        (1, 0, 0.65, "active"),
        (0, 1, 0.55, "active"),
        (2, 1, 0.65, "active"),
        (9, 0, 0.85, "active"),
        (0, 2, 0.5, "flagged"),
        (2, 2, 0.6, "active"),
        (1, 2, 0.55, "flagged"),
        (0, 3, 0.45, "quarantined"),
        (2, 3, 0.55, "quarantined"),
        (3, 3, 0.6, "active"),
        (0, 9, 0.35, "quarantined"),
    ],
)
def test_votes_move_quality_and_decide_what_is_shown(
    positive: int, negative: int, quality: float, status: str
) -> None:
    stands = standing(0.6, positive, negative)

    assert stands.quality == pytest.approx(quality)
    assert stands.status == status


def test_quality_stays_between_zero_and_one() -> None:
    assert standing(0.9, 5, 0).quality == 1.0
    assert standing(0.1, 0, 5).quality == 0.0

"""How good is it? Computed for every kind; what contributors say is not believed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ubp.packs.registry.skill_file import Skill
from ubp.packs.registry.unit_check import kind_of
from ubp.reading.markdown import read

__all__ = ("UNKNOWN_NOVELTY", "of_skill", "of_unit")

UNKNOWN_NOVELTY = 0.5
"""Of a trace, where there is nothing to compare it with."""


class _Weights(NamedTuple):
    complexity: float
    novelty: float
    diversity: float
    outcome: float


_DEFAULT = _Weights(0.25, 0.35, 0.15, 0.25)
_BY_DOMAIN = {
    "finance": _Weights(0.20, 0.25, 0.10, 0.45),
    "code": _Weights(0.20, 0.30, 0.30, 0.20),
    "medical": _Weights(0.15, 0.20, 0.10, 0.55),
    "customer_service": _Weights(0.20, 0.30, 0.20, 0.30),
}

_STEP_TYPES = 4
_MANY_STEPS = 20
_FEW_RECOVERIES = 2

_LONG_DESCRIPTION = 40
_LONG_BODY = 200
_DOUBT = 0.2

_TEMPLATES = {"query_template", "input_template"}


def of_unit(unit: Mapping[str, Any], novelty: float = UNKNOWN_NOVELTY) -> float:
    """From 0 to 1; *novelty* matters to traces only. The unit has been checked."""
    match kind_of(unit):
        case "ReasoningTrace":
            score = _of_trace(unit, novelty)
        case "ToolCallPattern":
            score = _of_pattern(unit)
        case _:
            score = _of_procedure(unit)
    return _clamped(score)


def of_skill(skill: Skill, *, suspicious: bool) -> float:
    """From 0 to 1: how much of what a reader wants to know is there."""
    parts = (
        skill.version,
        skill.author,
        skill.license,
        skill.tags,
        skill.allowed_tools,
        skill.kp.domain,
        _has_heading(skill.body),
    )
    score = 0.5 + 0.05 * sum(bool(part) for part in parts)
    score += 0.10 * (len(skill.description) >= _LONG_DESCRIPTION)
    score += 0.10 * (len(skill.body.strip()) >= _LONG_BODY)
    return _clamped(score - _DOUBT * suspicious)


def _of_trace(unit: Mapping[str, Any], novelty: float) -> float:
    steps = unit["steps"]
    types = [step["type"] for step in steps]
    if types == ["thought"]:
        return 0.1
    recoveries = types.count("error_recovery")
    tools = [step["tool"]["name"] for step in steps if "tool" in step]
    success = unit["metadata"]["success"]
    weights = _BY_DOMAIN.get(unit["metadata"]["task_domain"], _DEFAULT)
    complexity = (
        0.5 * len(set(types)) / _STEP_TYPES
        + 0.3 * (recoveries > 0)
        + 0.2 * len(steps) / _MANY_STEPS
    )
    score: float = (
        weights.complexity * min(1.0, complexity)
        + weights.novelty * novelty
        + weights.diversity * min(1.0, 3 * len(set(tools)) / max(1, len(steps)))
        + weights.outcome * unit["outcome"]["confidence"] * (1 if success else 0.3)
    )
    if recoveries > _FEW_RECOVERIES and success:
        score = min(1.0, score + 0.1)
    if tools and len(set(tools)) <= 1:
        score = max(0.0, score - 0.1)
    return score


def _of_pattern(unit: Mapping[str, Any]) -> float:
    performance = unit["performance"]
    steps = unit["tool_sequence"]
    tools = [tool for step in steps for tool in step["tools"]]
    # How much is there of what may be left out: each of the three counts the same.
    optional = (
        float(bool(unit["trigger_conditions"].get("required_tools"))),
        _share([bool(_TEMPLATES & tool.keys()) for tool in tools]),
        _share([bool(step.get("condition")) for step in steps]),
    )
    return float(
        0.45 * performance["success_rate"]
        + 0.25 * min(1, performance["uses"] / 50)
        + 0.15 * min(1, len({tool["name"] for tool in tools}) / 3)
        + 0.15 * sum(optional) / len(optional)
    )


def _of_procedure(unit: Mapping[str, Any]) -> float:
    nodes = unit["decision_tree"]
    decides = [bool(node.get("conditions") or node.get("criteria")) for node in nodes]
    suggests = [bool(node.get("tool_suggestions")) for node in nodes]
    tests = unit.get("validation", {}).get("test_cases")
    return float(
        0.3 * min(1, len(nodes) / 6)
        + 0.2 * _share(decides)
        + 0.2 * bool(tests)
        + 0.15 * bool(unit["source"]["credentials"])
        + 0.15 * _share(suggests)
    )


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _has_heading(body: str) -> bool:
    return any(block.level for block in read(body).blocks)


def _clamped(score: float) -> float:
    # Rounded so that a sum of decimals is the decimal that people expect.
    return round(min(1.0, max(0.0, score)), 6)

"""A knowledge unit as text that a model can be shown as an example."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.packs.registry.unit_check import kind_of

__all__ = ("few_shot",)


def few_shot(unit: Mapping[str, Any]) -> str:
    """*unit*, which has been checked, in lines of text."""
    match kind_of(unit):
        case "ReasoningTrace":
            lines = _trace(unit)
        case "ToolCallPattern":
            lines = _pattern(unit)
        case _:
            lines = _procedure(unit)
    return "\n".join(lines)


def _trace(unit: Mapping[str, Any]) -> Iterator[str]:
    yield f"Task: {unit['task']['objective']}"
    for step in unit["steps"]:
        said = step.get("content") or step.get("output_summary") or ""
        yield f"[{step['type'].upper()}] {said}".rstrip()
    yield f"Result: {unit['outcome']['result_summary']}"


def _pattern(unit: Mapping[str, Any]) -> Iterator[str]:
    yield f"Pattern: {unit['name']}"
    yield unit["description"]
    for number, step in enumerate(unit["tool_sequence"], 1):
        tools = ", ".join(tool["name"] for tool in step["tools"])
        condition = f", if {step['condition']}" if step.get("condition") else ""
        yield f"{number}. {step['step']} ({step['execution']}{condition}): {tools}"


def _procedure(unit: Mapping[str, Any]) -> Iterator[str]:
    yield f"Procedure: {unit['name']} (domain: {unit['domain']})"
    for number, node in enumerate(unit["decision_tree"], 1):
        yield f"{number}. {node['step']}: {node['instruction']}"
        for name, wanted in node.get("criteria", {}).items():
            yield f"   - criterion {name}: {wanted}"
        for name, then in node.get("conditions", {}).items():
            within = f" within {then['sla_min']:g} min" if "sla_min" in then else ""
            yield f"   - if {name}: {then['action']}{within}"
        for tool in node.get("tool_suggestions", []):
            yield f"   - tool {tool['name']}: {tool['when']}"

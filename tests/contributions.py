"""Knowledge units and skills for tests of the registry."""

import copy
from typing import Any

from ubp.packs.registry.unit_schema import CONTEXT

GONE = object()
"""Stands for a field that is not there."""

LONG_BODY = "This body explains in many plain words how the work is done. " * 5


def metadata(**changes: Any) -> dict[str, Any]:
    return {
        "created_at": "2026-01-02T03:04:05Z",
        "task_domain": "general",
        "success": True,
        "quality_score": 0.5,
        "visibility": "network",
        "privacy_level": "aggregated",
        **changes,
    }


def trace(steps: list[dict[str, Any]] | None = None, **meta: Any) -> dict[str, Any]:
    """Three steps, one tool, full confidence."""
    return {
        "@context": CONTEXT,
        "@type": "ReasoningTrace",
        "id": "kp:trace:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9a11",
        "metadata": metadata(**meta),
        "task": {"objective": "Check the monthly figures"},
        "steps": steps
        or [
            {"step_id": 0, "type": "thought", "content": "Look at the figures."},
            {"step_id": 1, "type": "tool_call", "tool": {"name": "query"}},
            {"step_id": 2, "type": "observation", "content": "The figures agree."},
        ],
        "outcome": {"result_summary": "All figures agree.", "confidence": 1},
    }


def pattern(**meta: Any) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "@type": "ToolCallPattern",
        "id": "kp:pattern:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9a12",
        "name": "Fetch and compare",
        "description": "Fetch two sources and compare them.",
        "metadata": metadata(**meta),
        "trigger_conditions": {"task_types": ["comparison"]},
        "tool_sequence": [
            {"step": "fetch", "execution": "sequential", "tools": [{"name": "fetch"}]}
        ],
        "performance": {"avg_ms": 120, "success_rate": 1.0, "uses": 50},
    }


def procedure(**meta: Any) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "@type": "ExpertSOP",
        "id": "kp:sop:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9a13",
        "name": "Answer a complaint",
        "domain": "support",
        "metadata": metadata(**meta),
        "source": {
            "type": "human_expert",
            "expert_id": "kp:expert:1",
            "credentials": [],
        },
        "decision_tree": [{"step": "read", "instruction": "Read the letter twice."}],
    }


def full_trace() -> dict[str, Any]:
    unit = trace(
        agent_id="kp:agent:local",
        framework="langgraph",
        validated_by=["kp:validator:x"],
    )
    unit["source_skill"] = "kp:skill:1"
    unit["task"]["input_schema"] = {"type": "object"}
    unit["steps"] = [
        {"step_id": 0, "type": "thought", "content": "Think.", "latency_ms": 0},
        {
            "step_id": 1,
            "type": "tool_call",
            "tool": {"name": "sql", "mcp_server": "db"},
            "input": {"q": "select 1"},
            "output_summary": "1",
            "latency_ms": 12.5,
        },
        {"step_id": 2, "type": "error_recovery", "content": "Retry."},
    ]
    unit["knowledge_graph_delta"] = {
        "entities": [{"name": "Ledger", "type": "table"}],
        "relationships": [{"fact": "Ledger feeds report", "valid_from": "2026-01-01"}],
    }
    return unit


def full_pattern() -> dict[str, Any]:
    unit = pattern()
    unit["trigger_conditions"]["required_tools"] = ["fetch"]
    unit["tool_sequence"] = [
        {
            "step": "fetch",
            "execution": "parallel",
            "tools": [
                {"name": name, "query_template": "{q}", "input_template": {"a": "b"}}
                for name in ("fetch", "sort", "join")
            ],
            "condition": "always",
        }
    ]
    return unit


def full_procedure() -> dict[str, Any]:
    unit = procedure()
    unit["source"]["credentials"] = ["kp:sbt:1"]
    unit["decision_tree"] = [
        {
            "step": f"read {number}",
            "instruction": "Read the letter.",
            "criteria": {"tone": "calm"},
            "conditions": {"angry": {"action": "call back", "sla_min": 30}},
            "tool_suggestions": [{"name": "crm", "when": "the customer is known"}],
        }
        for number in range(6)
    ]
    unit["validation"] = {
        "test_cases": [
            {"input": {"letter": "x"}, "expected_output": {"action": "write"}}
        ]
    }
    return unit


def change(unit: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one field (dotted path) replaced, or removed when value is GONE."""
    unit = copy.deepcopy(unit)
    here: Any = unit
    *way, last = path.split(".")
    for step in way:
        here = here[int(step)] if step.isdigit() else here[step]
    if value is GONE:
        del here[last]
    else:
        here[int(last) if last.isdigit() else last] = value
    return unit


def skill_text(
    name: str = "a-skill",
    body: str = "Do the work.",
    description: str = "Does it.",
    front: str = "",
) -> str:
    return f"---\nname: {name}\ndescription: {description}\n{front}---\n{body}\n"


def good_skill_text(name: str = "a-skill", body: str = "", front: str = "") -> str:
    """Quality 0.75: a long description, a long body with a heading."""
    return skill_text(
        name,
        f"# {name}\n\n{LONG_BODY}\n\n{body}",
        "A description that is certainly longer than forty characters.",
        front,
    )

from typing import Any

import pytest
from contributions import (
    GONE,
    change,
    full_pattern,
    full_procedure,
    full_trace,
    pattern,
    procedure,
    trace,
)
from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.registry.unit_check import normal_date, problems

KINDS = {"trace": trace, "pattern": pattern, "sop": procedure}

REFUSED: list[tuple[str, str, Any]] = [
    ("trace", "@context", "https://example.org/schema/v1"),
    ("trace", "@type", GONE),
    ("trace", "@type", "Poem"),
    ("trace", "@type", ["ReasoningTrace"]),
    ("trace", "id", "kp:sop:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9a11"),
    ("trace", "id", "trace-1"),
    ("trace", "id", "kp:trace:a b"),
    ("trace", "metadata", GONE),
    ("trace", "metadata", []),
    ("trace", "metadata.created_at", "yesterday"),
    ("trace", "metadata.created_at", "2026-01-02"),
    ("trace", "metadata.created_at", "2026-13-02T03:04:05Z"),
    ("trace", "metadata.created_at", "2026-01-02T03:04:05"),
    ("trace", "metadata.created_at", 1767322800),
    ("trace", "metadata.task_domain", " "),
    ("trace", "metadata.task_domain", GONE),
    ("trace", "metadata.success", "yes"),
    ("trace", "metadata.success", GONE),
    ("trace", "metadata.quality_score", 1.5),
    ("trace", "metadata.quality_score", -0.1),
    ("trace", "metadata.quality_score", True),
    ("trace", "metadata.quality_score", GONE),
    ("trace", "metadata.visibility", "global"),
    ("trace", "metadata.privacy_level", "public"),
    ("trace", "metadata.privacy_level", GONE),
    ("trace", "metadata.validated_by", "somebody"),
    ("trace", "task", GONE),
    ("trace", "task.objective", ""),
    ("trace", "task.input_schema", "text"),
    ("trace", "steps", []),
    ("trace", "steps", GONE),
    ("trace", "steps.0.step_id", -1),
    ("trace", "steps.0.step_id", 1.5),
    ("trace", "steps.0.type", "guess"),
    ("trace", "steps.0.content", 7),
    ("trace", "steps.1.tool", {}),
    ("trace", "steps.0.latency_ms", -1),
    ("trace", "outcome", GONE),
    ("trace", "outcome.confidence", 1.1),
    ("trace", "outcome.confidence", -0.1),
    ("trace", "outcome.result_summary", GONE),
    ("pattern", "id", "kp:trace:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9a12"),
    ("pattern", "name", ""),
    ("pattern", "description", GONE),
    ("pattern", "trigger_conditions", GONE),
    ("pattern", "trigger_conditions.task_types", []),
    ("pattern", "tool_sequence", []),
    ("pattern", "tool_sequence.0.execution", "concurrent"),
    ("pattern", "tool_sequence.0.tools", GONE),
    ("pattern", "performance", GONE),
    ("pattern", "performance.avg_ms", -1),
    ("pattern", "performance.success_rate", 1.2),
    ("pattern", "performance.uses", 1.5),
    ("pattern", "performance.uses", -1),
    ("sop", "id", "kp:pattern:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9a13"),
    ("sop", "name", ""),
    ("sop", "domain", ""),
    ("sop", "source", GONE),
    ("sop", "source.type", "ai"),
    ("sop", "source.expert_id", GONE),
    ("sop", "decision_tree", []),
    ("sop", "decision_tree.0.instruction", GONE),
    ("sop", "decision_tree.0.criteria", {"tone": 5}),
    ("sop", "decision_tree.0.conditions", {"angry": {"sla_min": 5}}),
    ("sop", "validation", {"test_cases": [{"input": {}}]}),
]


@pytest.mark.parametrize(
    "make",
    [trace, pattern, procedure, full_trace, full_pattern, full_procedure],
    ids=lambda make: make.__name__,
)
def test_minimal_and_full_units_are_fine(make: Any) -> None:
    assert problems(make()) == []


@pytest.mark.parametrize(("kind", "path", "value"), REFUSED)
def test_what_breaks_the_schema_is_named_by_its_path(
    kind: str, path: str, value: Any
) -> None:
    found = problems(change(KINDS[kind](), path, value))

    assert found
    assert all(problem.path.startswith(path) for problem in found)
    assert all(problem.message for problem in found)


def test_everything_wrong_is_told_at_once() -> None:
    unit = change(change(trace(), "outcome.confidence", 2), "steps.0.type", "guess")
    unit = change(change(unit, "metadata.created_at", "soon"), "task.objective", GONE)

    assert {problem.path for problem in problems(unit)} == {
        "outcome.confidence",
        "steps.0.type",
        "metadata.created_at",
        "task.objective",
    }


def test_unknown_fields_are_allowed() -> None:
    assert problems({**pattern(), "x_origin": {"deep": [1]}}) == []


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T12:00:00+09:00", "2026-01-02T03:00:00Z"),
        ("2026-01-02t12:00:00.5+0900", "2026-01-02T03:00:00.500000Z"),
        ("2026-02-30T12:00:00Z", None),
        ("0001-01-01T00:00:00+09:00", None),
        ("2026-01-02T12:00:00", None),
        ("2026-01-02", None),
    ],
)
def test_a_date_is_brought_to_utc(text: str, normal: str | None) -> None:
    assert normal_date(text) == normal


anything = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(["metadata", "steps", "task", "outcome", "id"]), anything)
def test_any_value_is_an_answer(field: str, value: Any) -> None:
    for problem in problems({**trace(), field: value}):
        assert problem.path.startswith(field)

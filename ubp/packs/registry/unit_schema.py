"""The schemas of the three kinds of knowledge units, as JSON Schema.

Fields that are not named here are allowed and kept: a reader of version 1 has to
accept whatever a later 1.x adds.
"""

from typing import Any, Literal, get_args

__all__ = ("CONTEXT", "ID_PREFIXES", "SCHEMAS", "UnitKind", "Visibility", "opens")

CONTEXT = "https://openknowledgepulse.org/schema/v1"

UnitKind = Literal["ReasoningTrace", "ToolCallPattern", "ExpertSOP"]
Visibility = Literal["private", "org", "network"]


def opens(before: Visibility, after: Visibility) -> bool:
    """Whether more agents may see an item *after* than *before*."""
    order = get_args(Visibility)
    return order.index(after) > order.index(before)


ID_PREFIXES: dict[UnitKind, str] = {
    "ReasoningTrace": "kp:trace:",
    "ToolCallPattern": "kp:pattern:",
    "ExpertSOP": "kp:sop:",
}

Schema = dict[str, Any]


def _object(required: dict[str, Schema], optional: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
    }


def _array(items: Schema, at_least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": at_least}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


_TEXT: Schema = {"type": "string"}
_FILLED: Schema = {"type": "string", "pattern": r"\S"}
_FLAG: Schema = {"type": "boolean"}
_ANY_OBJECT: Schema = {"type": "object"}
_NOT_NEGATIVE: Schema = {"type": "number", "minimum": 0}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}

_METADATA = _object(
    {
        "created_at": _TEXT,
        "task_domain": _FILLED,
        "success": _FLAG,
        "quality_score": _SHARE,
        "visibility": _one_of(*get_args(Visibility)),
        "privacy_level": _one_of("aggregated", "federated", "private"),
    },
    {"agent_id": _FILLED, "framework": _TEXT, "validated_by": _array(_TEXT)},
)


def _unit(
    kind: UnitKind, required: dict[str, Schema], optional: dict[str, Schema]
) -> Schema:
    common: dict[str, Schema] = {
        "@context": {"const": CONTEXT},
        "@type": {"const": kind},
        # Whoever made the id may have used something else than a UUID.
        "id": {
            "type": "string",
            # In Python, `$` alone would let a line end follow.
            "pattern": f"^{ID_PREFIXES[kind]}[A-Za-z0-9._-]{{1,128}}$(?!\\n)",
        },
        "metadata": _METADATA,
    }
    return _object({**common, **required}, optional)


_TRACE = _unit(
    "ReasoningTrace",
    {
        "task": _object({"objective": _FILLED}, {"input_schema": _ANY_OBJECT}),
        "steps": _array(
            _object(
                {
                    "step_id": _COUNT,
                    "type": _one_of(
                        "thought", "tool_call", "observation", "error_recovery"
                    ),
                },
                {
                    "content": _TEXT,
                    "tool": _object({"name": _TEXT}, {"mcp_server": _TEXT}),
                    "input": _ANY_OBJECT,
                    "output_summary": _TEXT,
                    "latency_ms": _NOT_NEGATIVE,
                },
            ),
            at_least=1,
        ),
        "outcome": _object({"result_summary": _TEXT, "confidence": _SHARE}, {}),
    },
    {
        "source_skill": _TEXT,
        "knowledge_graph_delta": _object(
            {
                "entities": _array(_object({"name": _TEXT, "type": _TEXT}, {})),
                "relationships": _array(
                    _object({"fact": _TEXT, "valid_from": _TEXT}, {})
                ),
            },
            {},
        ),
    },
)

_PATTERN = _unit(
    "ToolCallPattern",
    {
        "name": _FILLED,
        "description": _TEXT,
        "trigger_conditions": _object(
            {"task_types": _array(_TEXT, at_least=1)},
            {"required_tools": _array(_TEXT)},
        ),
        "tool_sequence": _array(
            _object(
                {
                    "step": _TEXT,
                    "execution": _one_of("parallel", "sequential"),
                    "tools": _array(
                        _object(
                            {"name": _TEXT},
                            {"query_template": _TEXT, "input_template": _ANY_OBJECT},
                        )
                    ),
                },
                {"condition": _TEXT},
            ),
            at_least=1,
        ),
        "performance": _object(
            {"avg_ms": _NOT_NEGATIVE, "success_rate": _SHARE, "uses": _COUNT}, {}
        ),
    },
    {},
)

_SOP = _unit(
    "ExpertSOP",
    {
        "name": _FILLED,
        "domain": _FILLED,
        "source": _object(
            {
                "type": {"const": "human_expert"},
                "expert_id": _TEXT,
                "credentials": _array(_TEXT),
            },
            {},
        ),
        "decision_tree": _array(
            _object(
                {"step": _TEXT, "instruction": _TEXT},
                {
                    "criteria": _map(_TEXT),
                    "conditions": _map(
                        _object({"action": _TEXT}, {"sla_min": {"type": "number"}})
                    ),
                    "tool_suggestions": _array(
                        _object({"name": _TEXT, "when": _TEXT}, {})
                    ),
                },
            ),
            at_least=1,
        ),
    },
    {
        "validation": _object(
            {
                "test_cases": _array(
                    _object({"input": _ANY_OBJECT, "expected_output": _ANY_OBJECT}, {})
                )
            },
            {},
        )
    },
)

SCHEMAS: dict[UnitKind, Schema] = {
    "ReasoningTrace": _TRACE,
    "ToolCallPattern": _PATTERN,
    "ExpertSOP": _SOP,
}

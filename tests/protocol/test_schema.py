"""Derived schemas: an object at the root, and only what clients understand."""

from typing import Any

import jsonschema
import pytest

from ubp.packs import discover
from ubp.protocol.catalog import describe
from ubp.toolkit import AnyTool

TOOLS = [tool for pack in discover() for tool in pack.tools]


def parts(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, dict):
        return [schema, *(p for inner in schema.values() for p in parts(inner))]
    if isinstance(schema, list):
        return [p for inner in schema for p in parts(inner)]
    return []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("kind", ["inputSchema", "outputSchema"])
def test_a_schema_is_valid_with_an_object_at_the_root(tool: AnyTool, kind: str) -> None:
    schema = describe(tool)[kind]

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf", "$ref"} & set(schema)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_reference_of_a_schema_leads_somewhere(tool: AnyTool) -> None:
    for kind in ("inputSchema", "outputSchema"):
        schema = describe(tool)[kind]
        wanted = {p["$ref"] for p in parts(schema) if "$ref" in p}
        assert wanted <= {f"#/$defs/{name}" for name in schema.get("$defs", {})}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_the_schema_calls_valid_the_tool_accepts(tool: AnyTool) -> None:
    """The defaults in the schema are the tool's own."""
    schema = describe(tool)["inputSchema"]
    for name, field in schema["properties"].items():
        if "default" in field:
            jsonschema.validate(
                field["default"], {**field, "$defs": schema.get("$defs", {})}
            )
            assert name not in schema.get("required", [])

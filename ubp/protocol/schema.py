"""Struct -> JSON Schema, with an object at the root as MCP wants it."""

from typing import Any

import msgspec
from msgspec import Struct

__all__ = ("object_schema",)


def object_schema(type_: type[Struct]) -> dict[str, Any]:
    """The schema of *type_*, inlined at the root, without Python's names in it."""
    (reference,), definitions = msgspec.json.schema_components(
        (type_,), ref_template="#/$defs/{name}"
    )
    root: dict[str, Any] = definitions.pop(reference["$ref"].rpartition("/")[2])
    # The description stands beside the schema; clients pay for it once.
    root.pop("description", None)
    root.pop("title", None)
    for definition in definitions.values():
        definition.pop("title", None)
        definition.pop("description", None)
    if definitions:
        root["$defs"] = definitions
    return root

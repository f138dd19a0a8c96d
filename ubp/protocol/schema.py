"""Struct -> JSON Schema, with an object at the root as MCP wants it.

Clients put schemas before their model, so those of a tool say no more than is needed to
call it. What they leave out holds all the same, and is in the reference.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

__all__ = ("arguments_schema", "object_schema", "outline")

_REFERENCE = "#/$defs/"
_GUARD = 100
"""From this length on a limit is a guard, which no honest call meets."""


def object_schema(type_: type[Struct]) -> dict[str, Any]:
    """The schema of *type_*, inlined at the root, without Python's names in it."""
    (reference,), definitions = msgspec.json.schema_components(
        (type_,), ref_template=_REFERENCE + "{name}"
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


def arguments_schema(type_: type[Struct], *, closed: bool) -> dict[str, Any]:
    """What a caller has to know; if *closed*, also that nothing else is taken."""
    full = object_schema(type_)
    definitions = full.pop("$defs", {})
    used = [name for part in (full, definitions) for name in _references(part)]
    once = {name for name in definitions if used.count(name) == 1}
    root = _lean(full, {name: definitions[name] for name in once})
    if closed:
        root["additionalProperties"] = False
    shared = {
        name: _lean(definition, definitions)
        for name, definition in definitions.items()
        if name not in once
    }
    return {**root, "$defs": shared} if shared else root


def outline(type_: type[Struct]) -> dict[str, Any]:
    """What a result holds, one level deep."""
    fields = object_schema(type_)["properties"]
    return {"type": "object", "properties": {name: {} for name in fields}}


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference.removeprefix(_REFERENCE)
        for inner in part.values():
            yield from _references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _references(inner)


def _lean(schema: dict[str, Any], inlined: dict[str, Any]) -> dict[str, Any]:
    """*schema* without what goes without saying.

    What may be left out may be null as well, and is nothing, empty or false unless a
    default is named. Arguments of old are taken, but not shown to newcomers.
    """
    schema = _direct(schema, inlined)
    if "enum" in schema:  # some models take choices only where they are called text
        schema.setdefault("type", "string")
    schema = {key: value for key, value in schema.items() if _tells(key, value)}
    if "properties" in schema:
        schema["properties"] = {
            name: _lean(field, inlined)
            for name, field in schema["properties"].items()
            if not field.get("deprecated")
        }
    if "items" in schema:
        schema["items"] = _lean(schema["items"], inlined)
    return schema


def _direct(schema: dict[str, Any], inlined: dict[str, Any]) -> dict[str, Any]:
    """*schema* without a choice of one, and without references to what is inlined."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) == 1:
        schema = {**kinds[0], **schema}
        del schema["anyOf"]
    name = schema.get("$ref", "").removeprefix(_REFERENCE)
    if name in inlined:
        schema = {**inlined[name], **schema}
        del schema["$ref"]
    return schema


def _tells(key: str, value: Any) -> bool:
    match key:
        case "additionalProperties" | "minLength":
            return False
        case "maxLength" | "maxItems":
            return bool(value < _GUARD)
        case "default":
            return bool(value)
        case "required":
            return bool(value)
        case _:
            return True

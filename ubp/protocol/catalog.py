"""Tool -> what clients see of it."""

from collections.abc import Iterable
from typing import Any

from ubp.protocol.schema import object_schema
from ubp.toolkit import AnyTool, Effect, Pack

__all__ = ("annotations", "describe", "entries")


def describe(tool: AnyTool) -> dict[str, Any]:
    """The entry of *tool* in ``tools/list``."""
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": _input_schema(tool),
        "outputSchema": object_schema(tool.result),
        "annotations": annotations(tool),
    }


def _input_schema(tool: AnyTool) -> dict[str, Any]:
    schema = object_schema(tool.args)
    for name, values in tool.choices.items():
        schema["properties"][name]["enum"] = list(values)
    return schema


def annotations(tool: AnyTool) -> dict[str, bool]:
    """What a client may assume of a call, from the effect the tool declares."""
    return {
        "readOnlyHint": tool.effect is Effect.READ,
        "idempotentHint": tool.effect is not Effect.ADD,
        "destructiveHint": False,
        "openWorldHint": False,
    }


def entries(packs: Iterable[Pack]) -> list[dict[str, Any]]:
    """The whole list, in the order of the packs."""
    return [describe(tool) for pack in packs for tool in pack.tools]

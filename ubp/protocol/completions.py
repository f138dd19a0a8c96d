"""Completions as they go over the wire, of whatever it is that is completed."""

import mcp_types as types

from ubp.resources import Completions

__all__ = ("answer", "known_values")


def known_values(params: types.CompleteRequestParams) -> dict[str, str]:
    """What has been chosen already, by name."""
    return (params.context.arguments if params.context else None) or {}


def answer(found: Completions) -> types.CompleteResult:
    return types.CompleteResult(
        completion=types.Completion(
            values=found.values,
            total=found.total,
            has_more=found.total > len(found.values),
        )
    )

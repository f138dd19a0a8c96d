"""Does a knowledge unit have the form of its kind? Everything wrong with it is told."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from ubp.errors import shortened
from ubp.packs.registry.problems import Problem
from ubp.packs.registry.unit_schema import SCHEMAS, UnitKind

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

__all__ = ("kind_of", "normal_date", "problems")

_MOST = 100
"""A unit with more mistakes than that is not corrected one by one."""

_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:?\d{2})",
    re.ASCII,
)


def kind_of(unit: Mapping[str, Any]) -> UnitKind | None:
    """The kind that ``@type`` names; None if there is none of that name."""
    named = unit.get("@type")
    return next((kind for kind in SCHEMAS if kind == named), None)


def problems(unit: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong with *unit*; in the order of its fields."""
    kind = kind_of(unit)
    if kind is None:
        return [Problem("@type", f"has to be one of {', '.join(SCHEMAS)}")]
    found = list(_schema_problems(kind, unit))
    metadata = unit.get("metadata")
    if isinstance(metadata, dict):
        date = metadata.get("created_at")
        if isinstance(date, str) and normal_date(date) is None:
            wanted = "a date and time with its zone, like 2026-01-02T03:04:05Z"
            found.append(Problem("metadata.created_at", f"has to be {wanted}"))
    return found[:_MOST]


def normal_date(text: str) -> str | None:
    """A date and time in ISO 8601, in UTC; None if it is none, or has no zone."""
    if not _DATE_TIME.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def _schema_problems(kind: UnitKind, unit: Mapping[str, Any]) -> Iterator[Problem]:
    for error in _validator(kind).iter_errors(unit):
        *way, last = ("", *(str(part) for part in error.absolute_path))
        path = [part for part in (*way, last) if part]
        if error.validator == "required":
            missing = _missing(error)
            yield Problem(".".join((*path, missing)), "is required")
        else:
            yield Problem(".".join(path), shortened(_said(error)))


@cache
def _validator(kind: UnitKind) -> "Draft202012Validator":
    # Takes a moment to import, and most servers never check a unit.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(SCHEMAS[kind])


def _missing(error: "ValidationError") -> str:
    """Which of the required fields this error is about; there is one for each."""
    names: list[str] = error.schema["required"]  # type: ignore[index]
    return next(name for name in names if error.message.startswith(repr(name)))


def _said(error: "ValidationError") -> str:
    """What is wrong, in words that do not repeat what was given."""
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return f"has to be of type {wanted}"
        case "enum":
            return f"has to be one of {', '.join(wanted)}"
        case "const":
            return f"has to be {wanted}"
        case "minimum":
            return f"has to be at least {wanted}"
        case "maximum":
            return f"has to be at most {wanted}"
        case "minItems":
            return "must not be empty"
        case "pattern" if wanted == r"\S":
            return "must not be empty"
        case _:
            return f"has to match {wanted}"

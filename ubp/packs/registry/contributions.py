"""From what an agent submits to what may be stored: checked, cleaned and described.

Pure: nothing here looks at the database, so a file can be checked without one.
"""

import copy
import hashlib
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from ubp.packs.registry import quality
from ubp.packs.registry.injection import Assessment, Thresholds
from ubp.packs.registry.passages import (
    ItemTexts,
    skill_texts,
    texts_of,
    unit_texts,
)
from ubp.packs.registry.problems import InvalidContribution, NotAllowed, Problem
from ubp.packs.registry.redaction import Redaction, Redactor
from ubp.packs.registry.sanitising import assessed, sanitise, visible
from ubp.packs.registry.skill_file import LARGEST, Skill, decoded, parse
from ubp.packs.registry.unit_check import kind_of, normal_date, problems
from ubp.packs.registry.unit_schema import CONTEXT, ID_PREFIXES, Visibility
from ubp.store.ids import now

__all__ = ("Contribution", "skill_contribution", "unit_contribution")

_LARGEST_NUMBER = 10**300
"""A larger one is infinite to most readers of JSON, and to arithmetic."""

_DEEPEST = 64
"""Levels of a unit. Deeper ones are nothing that anybody wrote."""


class Contribution(Struct, frozen=True, kw_only=True):
    """Something that may be stored."""

    kind: str
    """``skill``, or the kind of a unit."""
    ident: str | None
    """The id it asks for."""
    name: str
    domain: str | None
    tags: tuple[str, ...]
    visibility: Visibility
    content: str
    details: dict[str, Any]
    submitted: bytes
    quality: float
    """As far as it can be told from itself alone."""
    reported_quality: float | None
    created_at: str | None
    texts: ItemTexts
    warnings: list[str]
    redactions: list[Redaction]
    assessment: Assessment

    @property
    def unit(self) -> dict[str, Any]:
        """A unit's content as a value."""
        value: dict[str, Any] = msgspec.json.decode(self.content)
        return value


def skill_contribution(
    text: str, visibility: Visibility | None, thresholds: Thresholds
) -> Contribution:
    """The skill that *text* is, ready to be stored.

    Raises:
        InvalidContribution: It is none.
        UnsafeContribution: It is not safe to be read.
    """
    try:
        _refuse_large(text.encode())
    except UnicodeEncodeError:
        raise _broken() from None
    cleaned = sanitise(text, thresholds, decoded)
    redactor = Redactor(identifiers=False)
    content = redactor.text(cleaned.text)
    skill = parse(content)
    suspicious = cleaned.assessment.verdict == "suspicious"
    return Contribution(
        kind="skill",
        ident=None,
        name=skill.name,
        domain=skill.kp.domain,
        tags=skill.tags,
        visibility=visibility or skill.kp.visibility or "network",
        content=content,
        details=_details(skill),
        submitted=_digest(content.encode()),
        quality=quality.of_skill(skill, suspicious=suspicious),
        reported_quality=None,
        created_at=None,
        texts=skill_texts(skill.name, skill.description, skill.body),
        warnings=cleaned.warnings,
        redactions=redactor.redactions,
        assessment=cleaned.assessment,
    )


def unit_contribution(
    given: dict[str, Any],
    visibility: Visibility | None,
    agent: str,
    thresholds: Thresholds,
) -> Contribution:
    """The unit that *given* is, ready to be stored.

    Without *visibility* it must have its own.

    Raises:
        InvalidContribution: It does not have the form of its kind.
        NotAllowed: It is in another agent's name.
        UnsafeContribution: It is not safe to be read.
    """
    _refuse_deep(given)
    try:
        # Sorted, so that the same unit is the same however it was written down.
        submitted = msgspec.json.encode(given, order="deterministic")
    except UnicodeEncodeError:
        raise _broken() from None
    _refuse_large(submitted)
    cleaning = _Cleaning()
    # Before it is checked: what cleaning makes of a name or text has to be right too.
    unit = cleaning.value(_completed(given, visibility))
    found = problems(unit)
    if found:
        raise InvalidContribution(found)
    metadata = unit["metadata"]
    if metadata.setdefault("agent_id", agent) != agent:
        raise NotAllowed("A unit can be contributed in one's own name only.")
    if visibility is not None:
        metadata["visibility"] = visibility
    metadata["created_at"] = normal_date(metadata["created_at"])
    metadata["validated_by"] = []
    assessment, suspicions = assessed(list(_all_texts(unit)), thresholds)
    redactor = Redactor(identifiers=metadata["privacy_level"] != "private")
    unit = _redacted(unit, redactor)
    name = unit["name"] if "name" in unit else unit["task"]["objective"]
    return Contribution(
        kind=unit["@type"],
        ident=unit["id"] if "id" in given else None,
        name=name,
        domain=unit["metadata"]["task_domain"],
        tags=(),
        visibility=metadata["visibility"],
        content=msgspec.json.encode(unit).decode(),
        details={},
        submitted=_digest(submitted),
        quality=quality.of_unit(unit),
        reported_quality=float(metadata["quality_score"]),
        created_at=metadata["created_at"],
        texts=unit_texts(name, unit),
        warnings=cleaning.warnings + suspicions,
        redactions=redactor.redactions,
        assessment=assessment,
    )


def _completed(given: dict[str, Any], visibility: Visibility | None) -> dict[str, Any]:
    """A copy of *given* with what it may leave out."""
    unit = copy.deepcopy(given)
    unit.setdefault("@context", CONTEXT)
    kind = kind_of(unit)
    if kind is not None:
        unit.setdefault("id", f"{ID_PREFIXES[kind]}{uuid4()}")
    metadata = unit.get("metadata")
    if isinstance(metadata, dict):
        metadata.setdefault("created_at", now())
        if visibility is not None:
            metadata.setdefault("visibility", visibility)
    return unit


def _details(skill: Skill) -> dict[str, Any]:
    return {
        "description": skill.description,
        "version": skill.version,
        "author": skill.author,
        "tags": list(skill.tags),
    }


def _digest(submitted: bytes) -> bytes:
    return hashlib.sha256(submitted).digest()


def _broken() -> InvalidContribution:
    return InvalidContribution([Problem("", "it has half of a character (surrogate)")])


def _refuse_large(text: bytes) -> None:
    if len(text) > LARGEST:
        message = f"it is larger than {LARGEST // 1024} KiB"
        raise InvalidContribution([Problem("", message)])


def _refuse_deep(value: Any) -> None:
    """Refuse what would overflow the stack of those that walk through it."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise InvalidContribution([Problem("", "it is nested too deeply")])


class _Cleaning:
    """Makes every text of a unit visible, names of fields included.

    Numbers have to be such that everybody can read them.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def value(self, value: Any) -> Any:
        match value:
            case str():
                text, warnings = visible(value)
                self.warnings += [
                    each for each in warnings if each not in self.warnings
                ]
                return text
            case list():
                return [self.value(inner) for inner in value]
            case dict():
                return self._mapping(value)
            case int() | float() if not abs(value) <= _LARGEST_NUMBER:
                raise InvalidContribution([Problem("", "a number in it is too large")])
            case _:
                return value

    def _mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        cleaned = {self.value(key): self.value(of) for key, of in value.items()}
        if len(cleaned) < len(value):
            # Or the second would take the place of the first unseen.
            message = "two names of fields differ only in what cannot be seen"
            raise InvalidContribution([Problem("", message)])
        return cleaned


def _all_texts(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, names of fields included."""
    yield from texts_of(value)
    yield from _names(value)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _names(inner)


_IDENTIFYING = (
    ("@context",),
    ("@type",),
    ("id",),
    ("source_skill",),
    ("metadata", "created_at"),
    ("metadata", "agent_id"),
    ("metadata", "visibility"),
    ("metadata", "privacy_level"),
    ("source", "expert_id"),
    ("source", "credentials"),
)
"""What names things rather than telling something; it stays as it is."""


def _redacted(unit: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    told = copy.deepcopy(unit)
    kept: list[tuple[tuple[str, ...], Any]] = []
    path: tuple[str, ...]
    for path in _IDENTIFYING:
        holder = _holder(told, path)
        if holder is not None and path[-1] in holder:
            kept.append((path, holder.pop(path[-1])))
    cleaned: dict[str, Any] = redactor.value(told)
    for path, value in kept:
        holder = _holder(cleaned, path)
        if holder is not None:
            holder[path[-1]] = value
    return cleaned


def _holder(unit: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    holder: Any = unit
    for name in path[:-1]:
        holder = holder.get(name)
        if not isinstance(holder, dict):
            return None
    return holder if isinstance(holder, dict) else None

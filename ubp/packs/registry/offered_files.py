"""Files somebody offers to the registry: SKILL.md, units, and exports of them."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ubp.packs.registry.contributions import (
    Contribution,
    skill_contribution,
    unit_contribution,
)
from ubp.packs.registry.injection import Assessment, Thresholds
from ubp.packs.registry.overview import EXPORT_CONTEXT
from ubp.packs.registry.problems import (
    InvalidContribution,
    Problem,
    RegistryError,
)
from ubp.packs.registry.unit_check import kind_of
from ubp.packs.registry.unit_schema import Visibility

__all__ = ("CheckedFile", "check_file", "files_at", "json_in", "offered_at", "text_in")

_LARGEST_FILE = 64 * 1024 * 1024
"""Of an export; what is in it is bounded one by one."""


class CheckedFile(Struct, frozen=True, kw_only=True):
    """What would happen to a file that is contributed."""

    file: str
    kind: str | None
    valid: bool
    errors: list[Problem]
    warnings: list[str]
    assessment: Assessment | None


def files_at(path: Path) -> list[Path]:
    """The file at *path*, or every SKILL.md in the folder, in order."""
    if not path.is_dir():
        return [path]
    found = [
        Path(folder) / name
        for folder, _, names in os.walk(path)
        for name in names
        if name.lower() == "skill.md"
    ]
    return sorted(found)


def offered_at(
    path: Path, visibility: Visibility | None, agent: str, thresholds: Thresholds
) -> Iterator[Contribution | RegistryError]:
    """What the file at *path* offers, or why it cannot be taken; one by one."""
    try:
        text = text_in(path)
        if not _is_json(path):
            yield skill_contribution(text, visibility, thresholds)
            return
        value = json_in(text)
    except RegistryError as error:
        yield error
        return
    if value.get("@context") != EXPORT_CONTEXT:
        yield _attempt(value, visibility, agent, thresholds)
        return
    for unit in _listed(value, "knowledge_units"):
        yield _attempt(unit, visibility, agent, thresholds)
    for skill in _listed(value, "skills"):
        yield _attempt_skill(skill, visibility, thresholds)


def check_file(path: Path, agent: str, thresholds: Thresholds) -> CheckedFile:
    """Whether the file at *path* could be contributed; nothing is stored."""
    kind: str | None = None if _is_json(path) else "skill"
    try:
        if _is_json(path):
            unit = json_in(text_in(path))
            kind = kind_of(unit)
            # In whose name it is, is decided when it is contributed.
            item = unit_contribution(unit, None, _agent_of(unit, agent), thresholds)
        else:
            item = skill_contribution(text_in(path), None, thresholds)
    except RegistryError as error:
        return CheckedFile(
            file=str(path),
            kind=kind,
            valid=False,
            errors=_problems(error),
            warnings=[],
            assessment=getattr(error, "assessment", None),
        )
    return CheckedFile(
        file=str(path),
        kind=kind,
        valid=True,
        errors=[],
        warnings=item.warnings,
        assessment=item.assessment,
    )


def _problems(error: RegistryError) -> list[Problem]:
    if isinstance(error, InvalidContribution):
        return list(error.problems)
    return [Problem("", error.detail)]


def _agent_of(unit: dict[str, Any], agent: str) -> str:
    metadata = unit.get("metadata")
    named = metadata.get("agent_id") if isinstance(metadata, dict) else None
    return named if isinstance(named, str) else agent


def _attempt(
    unit: Any, visibility: Visibility | None, agent: str, thresholds: Thresholds
) -> Contribution | RegistryError:
    if not isinstance(unit, dict):
        return _invalid("a unit has to be an object")
    try:
        return unit_contribution(unit, visibility, agent, thresholds)
    except RegistryError as error:
        return error


def _attempt_skill(
    skill: Any, visibility: Visibility | None, thresholds: Thresholds
) -> Contribution | RegistryError:
    try:
        found = msgspec.convert(skill, _ExportedSkill)
        return skill_contribution(
            found.content, visibility or found.visibility, thresholds
        )
    except msgspec.ValidationError:
        return _invalid("an exported skill has `content` and `visibility`")
    except RegistryError as error:
        return error


class _ExportedSkill(Struct, frozen=True):
    content: str
    visibility: Visibility | None = None


def _listed(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def text_in(path: Path) -> str:
    """The text of the file at *path*.

    Raises:
        InvalidContribution: It cannot be read, or is nothing that could be taken.
    """
    try:
        # Not a pipe or a device: reading one may never end.
        details = path.stat()
        if not stat.S_ISREG(details.st_mode):
            raise _invalid("it is not a file")
        if details.st_size > _LARGEST_FILE:
            raise _invalid("the file is too large")
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise _invalid(f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _invalid("it is not text in UTF-8") from None


def json_in(text: str) -> dict[str, Any]:
    """The object that *text* is.

    Raises:
        InvalidContribution: It is none.
    """
    try:
        value = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, RecursionError):
        raise _invalid("it is not JSON") from None
    if not isinstance(value, dict):
        raise _invalid("a unit has to be an object")
    return value


def _invalid(message: str) -> InvalidContribution:
    return InvalidContribution([Problem("", message)])

"""SKILL.md: front matter with a name and a description, and instructions below it.

What others write is taken where its meaning is plain: any line ends, a byte order
mark, a version that is a number, tags between commas. Keys we do not know are kept.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import yaml
from msgspec import Struct

from ubp.packs.registry.problems import InvalidContribution, Problem
from ubp.packs.registry.redaction import Privacy
from ubp.packs.registry.unit_schema import Visibility
from ubp.reading import frontmatter
from ubp.reading.markdown import normalise

__all__ = ("LARGEST", "Extension", "Skill", "decoded", "generate", "parse")

LARGEST = 256 * 1024
"""Bytes of a skill. Nobody reads a longer one, and no model should have to."""

_LISTED = re.compile("[,、，]")


class Extension(Struct, frozen=True, kw_only=True):
    """The block ``kp`` of the front matter, with its defaults."""

    knowledge_capture: bool = False
    domain: str | None = None
    quality_threshold: float = 0.75
    privacy_level: Privacy = "aggregated"
    visibility: Visibility | None = None
    """None where the skill says nothing: then it is for everybody."""
    reward_eligible: bool = True


class Skill(Struct, frozen=True, kw_only=True):
    """A SKILL.md, read."""

    name: str
    description: str
    version: str | None = None
    author: str | None = None
    license: str | None = None
    tags: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    kp: Extension = Extension()
    others: dict[str, Any] = {}
    """What else its front matter says."""
    body: str = ""
    raw: str = ""
    """The text it was read from."""


def parse(text: str) -> Skill:
    """The skill that *text* is.

    Raises:
        InvalidContribution: It is none; everything wrong with it is told.
    """
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise _invalid("", f"the skill is larger than {LARGEST // 1024} KiB")
    plain = normalise(text.removeprefix("\ufeff"))
    found = frontmatter.split(plain)
    if found.warnings:
        raise _invalid("", found.warnings[0].text)
    if len(found.body) == len(plain):
        raise _invalid(
            "", "a skill begins with front matter between two lines of `---`"
        )
    return _Fields(found.values).skill(found.body, text)


def decoded(text: str) -> list[str]:
    """What the front matter says but is not written so, as by escapes of YAML."""
    values = frontmatter.split(normalise(text)).values
    # Behind a name, as in the file: the beginning of a value is none of a line.
    return [f": {value}" for value in _texts(values) if value not in text]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _texts(inner)
        case dict():
            for key, inner in value.items():
                yield key
                yield from _texts(inner)
        case _:
            pass


def generate(skill: Skill) -> str:
    """*skill* as a SKILL.md; parsing it gives the same skill."""
    values = _front_matter(skill)
    block = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=2**16)
    return f"---\n{block}---\n{skill.body}"


def _front_matter(skill: Skill) -> dict[str, Any]:
    values: dict[str, Any] = {"name": skill.name, "description": skill.description}
    for key in ("version", "author", "license"):
        if (value := getattr(skill, key)) is not None:
            values[key] = value
    if skill.tags:
        values["tags"] = list(skill.tags)
    if skill.allowed_tools:
        values["allowed-tools"] = list(skill.allowed_tools)
    defaults = Extension()
    extension = {
        key: getattr(skill.kp, key)
        for key in Extension.__struct_fields__
        if getattr(skill.kp, key) != getattr(defaults, key)
    }
    if extension:
        values["kp"] = extension
    return {**values, **skill.others}


def _invalid(path: str, message: str) -> InvalidContribution:
    return InvalidContribution([Problem(path, message)])


class _Fields:
    """Reads front matter field by field, and gathers what is wrong."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._problems: list[Problem] = []

    def skill(self, body: str, raw: str) -> Skill:
        read = Skill(
            name=self._needed("name"),
            description=self._needed("description"),
            version=self._text("version"),
            author=self._text("author"),
            license=self._text("license"),
            tags=self._list("tags"),
            allowed_tools=self._list("allowed-tools"),
            kp=self._extension(),
            others={
                key: value for key, value in self._values.items() if key not in _KNOWN
            },
            body=body,
            raw=raw,
        )
        if self._problems:
            raise InvalidContribution(self._problems)
        return read

    def _wrong(self, path: str, message: str) -> None:
        self._problems.append(Problem(path, message))

    def _needed(self, key: str) -> str:
        before = len(self._problems)
        text = self._text(key)
        if text is None and len(self._problems) == before:
            self._wrong(key, "is required and must not be empty")
        return text or ""

    def _text(self, key: str) -> str | None:
        value = self._values.get(key)
        match value:
            case None:
                return None
            case bool() | list() | dict():
                self._wrong(key, "has to be a text")
                return None
            case _:
                return str(value).strip() or None

    def _list(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key)
        match value:
            case dict():
                self._wrong(key, "has to be a list of texts")
                return ()
            case str():
                value = _split(value)
            case list() if any(isinstance(each, (dict, list)) for each in value):
                self._wrong(key, "has to be a list of texts")
                return ()
        return tuple(dict.fromkeys(frontmatter.texts(value)))

    def _extension(self) -> Extension:
        block = self._values.get("kp")
        if block is None:
            return Extension()
        if not isinstance(block, dict):
            self._wrong("kp", "has to be a mapping of names to values")
            return Extension()
        given = {key: value for key, value in block.items() if value is not None}
        for key, value in given.items():
            if wrong := _wrong_with(key, value):
                self._wrong(f"kp.{key}", wrong)
        known = {key: given[key] for key in Extension.__struct_fields__ if key in given}
        if "domain" in known:
            known["domain"] = str(known["domain"]).strip() or None
        return Extension(**known)


def _wrong_with(key: str, value: Any) -> str | None:
    """What is wrong with a field of the block ``kp``, if anything is."""
    match key:
        case "knowledge_capture" | "reward_eligible":
            return None if isinstance(value, bool) else "has to be true or false"
        case "domain":
            is_text = not isinstance(value, (bool, list, dict))
            return None if is_text else "has to be a text"
        case "quality_threshold":
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if is_number and 0 <= value <= 1:
                return None
            return "has to be a number from 0 to 1"
        case "privacy_level" | "visibility":
            allowed = get_args(Privacy if key == "privacy_level" else Visibility)
            return (
                None if value in allowed else f"has to be one of {', '.join(allowed)}"
            )
        case _:
            return None


_KNOWN = frozenset(
    (
        "name",
        "description",
        "version",
        "author",
        "license",
        "tags",
        "allowed-tools",
        "kp",
    )
)


def _split(text: str) -> list[str]:
    """The parts of a list written as one text; a comma in brackets is of a part."""
    parts: list[str] = [""]
    depth = 0
    for piece in re.split(r"([()\[\],、，])", text):
        if _LISTED.fullmatch(piece) and depth == 0:
            parts.append("")
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(piece, 0)
        depth = max(0, depth)
        parts[-1] += piece
    return [part.strip() for part in parts]

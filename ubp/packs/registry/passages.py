"""What of an item is embedded and indexed: what it says, and above it what it is."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from ubp.toolkit import PassageText

__all__ = ("digest_of", "skill_passage", "texts_of", "unit_passage")

_NO_TEXT = frozenset(("@context", "@type", "id", "metadata"))
"""Fields of a unit that say nothing about its subject."""


def skill_passage(name: str, description: str, body: str) -> PassageText:
    """The text that stands for a skill."""
    return PassageText(f"{name}\n{description}", body)


def unit_passage(name: str, unit: Mapping[str, Any]) -> PassageText:
    """The text that stands for a unit: every text in it."""
    told = {key: value for key, value in unit.items() if key not in _NO_TEXT}
    domain = unit["metadata"]["task_domain"]
    return PassageText(f"{name}\n{domain}", "\n".join(texts_of(told)))


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, names of fields not included."""
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from texts_of(inner)
        case dict():
            for inner in value.values():
                yield from texts_of(inner)
        case _:
            pass


def digest_of(text: PassageText) -> bytes:
    """Equal for equal texts, which share a vector."""
    whole = f"{text.head}\x00{text.body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).digest()[:16]

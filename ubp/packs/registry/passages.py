"""What of an item is searched by words, and what by meaning."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ubp.reading.markdown import read
from ubp.toolkit import PassageText

__all__ = ("ItemTexts", "digest_of", "skill_texts", "texts_of", "unit_texts")

_LOOKED_AT = 20_000
_BEGINNING = 500
_HEADINGS = 20
"""Of a skill, what stands for it: characters looked at, those of its first paragraph,
and its first headings."""

_NO_TEXT = frozenset(("@context", "@type", "id", "metadata"))
"""Fields of a unit that say nothing about its subject."""


class ItemTexts(NamedTuple):
    """What an item says, and above it what it is."""

    words: PassageText
    """Where its words are looked for."""
    passage: PassageText
    """What is embedded."""


def skill_texts(name: str, description: str, body: str) -> ItemTexts:
    """Of a skill, all words; by meaning what it is for, how it begins, its headings.

    A long manual touches on everything, so something in it is close to any question,
    and what the skill is for would not count.
    """
    blocks = read(body[:_LOOKED_AT]).blocks
    begins = next((block.source for block in blocks if not block.level), "")
    headings = [block.text for block in blocks if block.level][:_HEADINGS]
    told = "\n".join([description, begins[:_BEGINNING], *headings])
    return ItemTexts(
        PassageText(f"{name}\n{description}", body), PassageText(name, told)
    )


def unit_texts(name: str, unit: Mapping[str, Any]) -> ItemTexts:
    """Of a unit, every text in it."""
    told = {key: value for key, value in unit.items() if key not in _NO_TEXT}
    domain = unit["metadata"]["task_domain"]
    whole = PassageText(f"{name}\n{domain}", "\n".join(texts_of(told)))
    return ItemTexts(whole, whole)


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

"""Which language a text is in, told by its script.

Two are told apart, because that is what decides whether a model can read a text:
``ja`` for kana and kanji, ``en`` for everything else.
"""

import re
from typing import Literal

__all__ = ("Language", "language_of")

Language = Literal["en", "ja"]

_CJK = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]+"
)
_LATIN = re.compile("[A-Za-z]+")

_SHARE = 4
"""One such character in so many letters makes a text Japanese: it says as much as a
word, and Japanese about programs is full of English words."""


def language_of(text: str) -> Language:
    """The language most of *text* is in."""
    if text.isascii() or not (japanese := _count(_CJK, text)):
        return "en"
    return "ja" if japanese * _SHARE >= _count(_LATIN, text) else "en"


def _count(runs: re.Pattern[str], text: str) -> int:
    """How many characters of *text* are in such runs."""
    return sum(map(len, runs.findall(text)))

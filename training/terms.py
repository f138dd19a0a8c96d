"""Terms: what a dictionary has entries for, in both languages.

Of English that is a word without its ending, so that all forms of it count together. Of
Japanese it is what carries meaning by its script: a run of katakana, a run of kanji, or
a lone kanji with the kana behind it. Compounds that are rare are cut into parts that
are not, because nobody writes where one word ends.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

__all__ = ("Compounds", "english_words", "japanese_stem", "japanese_terms", "stem")

_ENGLISH = re.compile(r"[a-z][a-z0-9]+")
_JAPANESE = re.compile(
    r"(?P<katakana>[\u30a1-\u30fa][\u30a1-\u30faー]+)"
    r"|(?P<kanji>[\u3400-\u4dbf\u4e00-\u9fff々]+)(?P<ending>[\u3041-\u3096]?)"
)
_INFLECTED = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々][\u3041-\u3096]")
_KANJI = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")

_LONG = 3
"""Katakana from which a closing ー is one that some write and others do not."""

_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("es", ""),
    ("s", ""),
    ("e", ""),
)
_SHORTEST_STEM = 3

_KNOWN = 15
"""A part that stands so often by itself is a word."""

_COMMON = 20
"""A compound this frequent stays whole, unless it is long."""

_LONGEST_KANJI, _LONGEST_KATAKANA = 4, 9
_LONGEST_PART = 10
_SHORTEST_COMPOUND = 4
_FEWER_PARTS = 14.0
"""What each further part costs, beside how rare it is."""


def english_words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _ENGLISH.findall(unicodedata.normalize("NFKC", text).lower())


def stem(word: str) -> str:
    """A word without its ending: crude, but the same for most forms of one word."""
    if len(word) <= _SHORTEST_STEM or word.endswith("ss"):
        return word
    for ending, instead in _ENDINGS:
        rest = word.removesuffix(ending) + instead
        if rest == word or not word.endswith(ending) or len(rest) < _SHORTEST_STEM:
            continue
        if ending == "s" and word[-2] in "su":
            continue
        if ending not in {"ing", "ings", "ed", "edly", "es"}:
            return rest
        doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
        if doubled and len(rest) > _SHORTEST_STEM:
            return rest[:-1]
        return rest.removesuffix("e")
    return word


def japanese_stem(term: str) -> str:
    """A term without its ending: the kanji of a lone one with the kana behind it."""
    return term[0] if _INFLECTED.fullmatch(term) else term


def japanese_terms(text: str) -> Iterator[str]:
    """The terms of a text as they stand, compounds whole."""
    for found in _JAPANESE.finditer(unicodedata.normalize("NFKC", text)):
        katakana, kanji = found["katakana"], found["kanji"]
        if katakana:
            yield katakana.rstrip("ー") if len(katakana) > _LONG else katakana
        elif len(kanji) > 1:
            yield kanji
        elif found["ending"]:
            yield kanji + found["ending"]


class Compounds:
    """Cuts what is rare into parts that are known."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts
        self._cut: dict[str, list[str]] = {}

    @classmethod
    def of(cls, texts: Iterator[set[str]]) -> "Compounds":
        """Those of texts, given by their terms."""
        counts: Counter[str] = Counter()
        for terms in texts:
            counts.update(terms)
        return cls(counts)

    def parts(self, term: str) -> list[str]:
        """The parts of a term; itself, if it is no compound or cannot be cut."""
        if term not in self._cut:
            self._cut[term] = self._parts(term) or [term]
        return self._cut[term]

    def _parts(self, term: str) -> list[str]:
        longest = _LONGEST_KANJI if _KANJI.match(term) else _LONGEST_KATAKANA
        rare = self._counts.get(term, 0) < _COMMON
        if len(term) < _SHORTEST_COMPOUND or not (rare or len(term) > longest):
            return []
        best: dict[int, tuple[float, list[str]]] = {0: (0.0, [])}
        for start in range(len(term)):
            if start not in best:
                continue
            score, before = best[start]
            for end in range(start + 2, min(start + _LONGEST_PART, len(term)) + 1):
                part = term[start:end]
                count = self._counts.get(part, 0)
                if part == term or count < _KNOWN:
                    continue
                value = score + math.log(count) - _FEWER_PARTS
                if end not in best or value > best[end][0]:
                    best[end] = value, [*before, part]
        return best.get(len(term), (0.0, []))[1]

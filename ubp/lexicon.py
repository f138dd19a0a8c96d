"""What counts as a word, for the index and for queries alike.

Text is folded (NFKC, then case-folded), so that ``ＡＰＩ``, ``API`` and ``api`` are one
word and ``ガ`` stays ``ガ``. Accents count. Folded text falls into three kinds of runs:

* words: letters and digits of any script that separates its words;
* CJK: kana and kanji, which do not, so every two neighbours are written out as a pair
  (and the last character alone), which makes any part of such a run findable;
* everything else, which separates.

The writer of the index and the reader of queries must agree on this to the letter,
which is why it is one module below both.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from operator import add
from typing import NamedTuple

__all__ = (
    "LONGEST_WORD",
    "Kind",
    "Run",
    "Spread",
    "ascii_lower",
    "fold",
    "pairs",
    "runs",
    "spread",
    "tokens",
)

LONGEST_WORD = 64
"""Longer runs (hashes, embedded images) are no words: the index leaves them out and
marks the text, which is then searched directly."""

_CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
_SEPARATORS = re.compile(rf"(?:_|[^\w{_CJK}])+")
_RUNS = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_CJK}]+)|(?P<other>(?:_|[^\w{_CJK}])+)"
)

# Names that are nothing but a letter once punctuation separates. Each is written out
# beside the text, wherever it occurs, as a private character that no text has as a
# word, so that a search for it has an index to use.
_NAMED = {"c++": "\ue001", "c#": "\ue002", "f#": "\ue003"}

_ASCII_SEPARATED = bytes(
    code if chr(code).isalnum() else ord(" ") for code in range(128)
).ljust(256)


class Kind(Enum):
    """What a run is made of."""

    WORD = "word"
    CJK = "cjk"
    OTHER = "other"


class Run(NamedTuple):
    """A stretch of folded text of one kind."""

    kind: Kind
    text: str


class Spread(NamedTuple):
    """Text as the full-text index stores it."""

    text: str
    """Words and CJK pairs, separated by spaces."""

    words: set[str]
    """The distinct words (not the pairs), for the vocabulary."""

    has_long_word: bool
    """Whether something was too long to be a word and so is not in *text*."""


def fold(text: str) -> str:
    """*text* as it is compared: one form for each character, without case."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Case folding can undo the composition ("ΐ"); comparing needs one form.
    return unicodedata.normalize("NFKC", folded)


def ascii_lower(text: str) -> str:
    """What SQLite's ``lower()`` makes of *text*."""
    # Of bytes only those of ASCII have a lower case, and no other character has them.
    return (
        text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    )


def tokens(query: str) -> list[str]:
    """The distinct folded tokens of a query: what stands between white space."""
    # Half a surrogate pair is no character, and stands in no text.
    sound = query.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return list(dict.fromkeys(fold(sound).split()))


def runs(folded: str) -> Iterator[Run]:
    """The runs of folded text, in order, nothing left out."""
    for match in _RUNS.finditer(folded):
        yield Run(Kind(match.lastgroup), match.group())


def pairs(cjk: str) -> list[str]:
    """A CJK run written out: every two neighbours, then the last character alone."""
    return [*map(add, cjk, cjk[1:]), *cjk[-1:]]


def names(folded: str) -> set[str]:
    """The index's own words for names such as C++ that occur in folded text."""
    return {sign for name, sign in _NAMED.items() if name in folded}


def spread(folded: str) -> Spread:
    """Folded text written out for the full-text index."""
    if folded.isascii():
        # The same as below, many times quicker, and most of all text.
        written = folded.encode().translate(_ASCII_SEPARATED).decode()
        words = set(written.split())
    else:
        written = _SEPARATORS.sub(" ", folded)
        words = set(_CJK_RUN.sub(" ", written).split())
        written = _CJK_RUN.sub(_write_out, written)
    too_long = {word for word in words if len(word) > LONGEST_WORD}
    if too_long:
        words -= too_long
        written = " ".join(part for part in written.split() if part not in too_long)
    if named := names(folded):
        written = f"{written} {' '.join(sorted(named))}"
    return Spread(written, words, bool(too_long))


def _write_out(match: re.Match[str]) -> str:
    return f" {' '.join(pairs(match.group()))} "

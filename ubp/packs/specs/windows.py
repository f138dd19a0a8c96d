"""Which few characters of a section are shown with a hit, and where they stand."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

__all__ = ("WINDOW", "Marks", "Window", "marks_of", "window")

WINDOW = 300
"""Characters shown at most, whatever the policy of the source."""

_REACH = 24
"""Characters a window gives up at an end so as not to cut a word."""

_DOTS = "..."
_OPERATORS = frozenset({"and", "or", "not", "near"})
_SYNTAX = re.compile(r'[*"()]')


class Window(NamedTuple):
    """A stretch of a text; the dots are not counted."""

    text: str
    start: int
    end: int


class Marks(NamedTuple):
    """What is looked for in texts: stems of words, and strings as they stand."""

    stems: frozenset[str]
    strings: tuple[str, ...]


def marks_of(db: apsw.Connection, query: str) -> Marks:
    """What *query* should be seen by."""
    pieces = (_SYNTAX.sub("", piece) for piece in query.split())
    tokens = [piece for piece in pieces if piece and piece.lower() not in _OPERATORS]
    stems = {stem for _, stem in _tokens(db, " ".join(tokens))}
    return Marks(frozenset(stems), tuple(token.lower() for token in tokens))


def window(db: apsw.Connection, text: str, marks: Marks, width: int = WINDOW) -> Window:
    """The stretch of *text* that has most of what was looked for, then the first."""
    if len(text) <= width:
        return Window(text, 0, len(text))
    places = _places(db, text, marks)
    if not places:
        return _shown(text, 0, width)
    begin = _fullest(places, len(text), width)
    return _shown(text, begin, begin + width)


def _fullest(places: Sequence[tuple[int, str]], length: int, width: int) -> int:
    """Where the first window begins that has most of what stands at *places*.

    Each window is the one before, moved on: a long text may have a word everywhere.
    """
    best = most = first = behind = 0
    within: Counter[str] = Counter()
    for start, _ in places:
        begin = max(0, min(start - width // 2, length - width))
        end = begin + width
        end -= _REACH if end < length else 0  # what stands there may be cut
        while behind < len(places) and places[behind][0] < end:
            within[places[behind][1]] += 1
            behind += 1
        while places[first][0] < begin:
            what = places[first][1]
            within[what] -= 1
            if not within[what]:
                del within[what]
            first += 1
        if len(within) > most:
            best, most = begin, len(within)
    return best


def _places(db: apsw.Connection, text: str, marks: Marks) -> Sequence[tuple[int, str]]:
    """Where in *text* the marks stand, and which; in order."""
    found = {each for each in _tokens(db, text) if each[1] in marks.stems}
    lower = text.lower()
    if len(lower) == len(text):  # else places in one are not places in the other
        for string in marks.strings:
            # Words were found above; what is no word is found as it stands.
            if not found or not string.isascii() or not string.isalnum():
                at = lower.find(string)
                found |= {(at, string)} if at >= 0 else set()
    return sorted(found)


def _tokens(db: apsw.Connection, text: str) -> list[tuple[int, str]]:
    """Where the words of *text* begin, and their stems: those of the index."""
    raw = text.encode("utf-8", "replace")
    stemmer = db.fts5_tokenizer("porter", ["unicode61"])
    found: Any = stemmer(
        raw, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False
    )
    if len(raw) == len(text):
        return [(start, stem) for start, _, stem in found]
    counted: list[tuple[int, str]] = []
    at = characters = 0
    for start, _, stem in found:
        characters += len(raw[at:start].decode())
        at = start
        counted.append((characters, stem))
    return counted


def _shown(text: str, start: int, end: int) -> Window:
    """That stretch of *text*, without the halves of words at its ends."""
    if start > 0 and not text[start - 1].isspace():
        space = re.search(r"\s", text[start : start + _REACH])
        start += space.end() if space else 0
    if end < len(text) and not text[end].isspace():
        space = re.search(r"\s\S*\Z", text[end - _REACH : end])
        end -= _REACH - space.start() if space else 0
    before = _DOTS if start > 0 else ""
    after = _DOTS if end < len(text) else ""
    return Window(f"{before}{text[start:end]}{after}", start, end)

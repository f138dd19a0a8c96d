"""What people type -> what FTS5 accepts. Nothing anybody types is an error.

``AND``, ``OR`` and ``NOT`` in capitals, round brackets, phrases in quotes and a star at
the end of a word mean what they mean in FTS5, if the whole of the query can be
understood in that way. Otherwise they are words like any others, and every word must
occur.
"""

import re
from typing import NamedTuple

from ubp import lexicon
from ubp.lexicon import Kind
from ubp.questions import says_little
from ubp.store.fulltext import quoted
from ubp.store.parameters import storable

__all__ = ("Asked", "phrases", "understood")

_PIECES = re.compile(r'"[^"]*"|[^\s"]+|"')
_PHRASES = re.compile(r'"[^"]*"(?: \*)?')
_NAMES = re.compile(r"\w+(?:(?:\.|::)\w+)+")
"""Of parts that all count: ``Promise.all``, ``Vec::with``."""

_OPERATORS = ("AND", "OR", "NOT")
_DEEPEST = 16
"""Brackets in brackets; FTS5 has a limit, too."""

_MOST_WORDS = 64
"""Of a query; the rest of a longer one is not looked for."""


class Asked(NamedTuple):
    """A query in the three ways it may be asked, the strictest first.

    A way that cannot be asked, or would ask the same again, is empty.
    """

    strict: str
    """As it was meant: operators, or every token as it is written."""
    every: str
    """Every word that tells something, wherever it stands."""
    some: str
    """Any of the words that tell something."""
    symbols: tuple[str, ...]
    """What has no word in it is looked for in the text as it stands."""


def understood(query: str) -> Asked:
    """What *query* asks for."""
    query = storable(query).replace("\x00", " ")
    meant = _with_operators(query)
    if meant:
        return Asked(meant, "", "", ())
    tokens = query.split()
    found = [phrase for token in tokens if (phrase := _phrase(token))]
    if not found:
        return Asked("", "", "", tuple(tokens))
    asked = _telling(query)
    strict = " AND ".join(dict.fromkeys(found[:_MOST_WORDS]))
    every = " AND ".join(asked)
    some = " OR ".join(asked)
    every = "" if every == strict else every
    return Asked(strict, every, "" if some in (strict, every) else some, ())


def phrases(match: str) -> list[str]:
    """The phrases of an expression of ours, in the order FTS5 counts them in."""
    return _PHRASES.findall(match)


def _with_operators(query: str) -> str:
    """*query* as an expression; empty unless it uses operators, and uses them well."""
    parts: list[str] = []
    special = False
    joined = True
    """Whether what comes next is joined to what was before."""
    depth = 0
    for piece in _PIECES.findall(query)[: 2 * _MOST_WORDS]:
        if piece in _OPERATORS:
            if joined and not (piece == "NOT" and parts and parts[-1] == "AND"):
                return ""
            parts = parts[:-1] if joined else parts
            parts.append(piece)
            special = joined = True
            continue
        opened, word, closed = _unbracketed(piece)
        term, is_special = _term(word)
        special |= is_special
        if opened or term:
            parts += [] if joined else ["AND"]
            joined = True
        if bool(term) is not bool(word) or (closed and joined and not term):
            return ""
        parts += [*"(" * opened, *([term] if term else ()), *")" * closed]
        joined = joined and not term
        depth += opened - closed
        if not 0 <= depth <= _DEEPEST:
            return ""
    return " ".join(parts) if special and not joined and depth == 0 else ""


def _unbracketed(piece: str) -> tuple[int, str, int]:
    """*piece* without the brackets that others close or opened, and how many of each.

    ``func()`` has none of these.
    """
    more = piece.count("(") - piece.count(")")
    opened = min(max(more, 0), len(piece) - len(piece.lstrip("(")))
    closed = min(max(-more, 0), len(piece) - len(piece.rstrip(")")))
    return opened, piece[opened : len(piece) - closed], closed


def _term(piece: str) -> tuple[str, bool]:
    """A phrase or a word, and whether it says more than a word does."""
    if len(piece) > 1 and piece[0] == piece[-1] == '"':
        return _phrase(piece), " " in piece.strip('" ')
    if '"' in piece:
        return "", False
    if piece.endswith("*") and piece[:-1].isalnum():
        term = _phrase(piece[:-1])
        return f"{term} *" if term and not term.endswith("*") else term, True
    term = _phrase(piece)
    return f"({term})" if " AND " in term else term, False


def _words(query: str) -> list[str]:
    """The words and CJK runs of *query*, and the names it has, each once."""
    folded = lexicon.fold(query)
    words = [
        run.text
        for run in lexicon.runs(folded)
        if run.kind is not Kind.OTHER and len(run.text) <= lexicon.LONGEST_WORD
    ]
    signs = sorted(lexicon.names(folded))
    if signs:  # "C++" is not also a question about the letter c
        words = [word for word in words if not says_little(word)]
    return list(dict.fromkeys([*signs, *words]))[:_MOST_WORDS]


def _telling(query: str) -> list[str]:
    """Expressions for the words of *query* that tell something.

    A name of several parts counts as a whole, too: many things have keys, and only one
    is called ``Object.keys``.
    """
    names = {
        name: re.split(r"\W+", name) for name in _NAMES.findall(lexicon.fold(query))
    }
    parts = {part for each in names.values() for part in each if len(part) > 1}
    whole = {
        each[0]: phrase for name, each in names.items() if (phrase := _phrase(name))
    }
    words = _words(query)
    telling = [word for word in words if word in parts or not says_little(word)]
    return [
        f"({_expression(word)} OR {whole[word]})"
        if word in whole
        else _expression(word)
        for word in telling or words
    ]


def _expression(word: str) -> str:
    return _phrase(word) or quoted(word)


def _phrase(token: str) -> str:
    """The expression for *token*: its words one after the other, CJK by pairs."""
    folded = lexicon.fold(token)
    signs = sorted(lexicon.names(folded))
    written = [
        " ".join(lexicon.pairs(run.text)[:-1] or [run.text])
        if run.kind is Kind.CJK
        else run.text
        for run in lexicon.runs(folded)
        if run.kind is not Kind.OTHER and len(run.text) <= lexicon.LONGEST_WORD
    ]
    if signs:
        return " AND ".join(quoted(sign) for sign in signs)
    if len(written) == 1 and len(written[0]) == 1 and not written[0].isascii():
        return f"{quoted(written[0])} *"  # one character is the beginning of any pair
    return quoted(" ".join(written)) if written else ""

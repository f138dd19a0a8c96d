"""What of a question is worth looking for.

A question holds words that tell what is meant and words that only hold it together. In
Japanese nobody writes where a word begins, but the script tells much: kanji and
katakana carry the meaning, and hiragana mostly the grammar.
"""

from ubp import lexicon
from ubp.lexicon import Kind

__all__ = (
    "all_words",
    "content_words",
    "says_little",
    "term_texts",
    "words_to_mark",
)

_MOST_TOKENS = 64
"""Of a question; the rest of a longer one is not looked at."""

_STOP_WORDS = frozenset(
    word
    for line in (
        "a about after all also an and any are as at be been but by can could did do",
        "does for from had has have how i if in into is it its just like may me more",
        "most my no not of on or other our out over should so some such than that the",
        "their them then there these they this those to under up use using was we were",
        "what when where which while who why will with would you your",
    )
    for word in line.split()
)


def content_words(question: str) -> list[str]:
    """Its words; of Japanese what stands between hiragana. All, if none tells much."""
    words = [
        part
        for run in _runs(question)
        for part in (_scripts(run.text) if run.kind is Kind.CJK else [run.text])
    ]
    return _telling(words)


def term_texts(question: str) -> list[str]:
    """Its words and the pairs of its CJK runs, as the index has them.

    Those that say little are left out when anything else is left.
    """
    texts = [
        text
        for run in _runs(question)
        for text in (_pairs(run.text) if run.kind is Kind.CJK else [run.text])
    ]
    return _telling(texts)


def all_words(question: str) -> list[str]:
    """Every word of it, and every CJK run as one; also those that say little."""
    return list(dict.fromkeys(run.text for run in _runs(question)))


def words_to_mark(question: str) -> list[str]:
    """What to mark in a text that was found: whole tokens, else telling words."""
    tokens = [token for token in lexicon.tokens(question) if not says_little(token)]
    return list(dict.fromkeys([*tokens, *content_words(question)]))


def says_little(text: str) -> bool:
    """Whether *text* is a stop word, a single letter or nothing but hiragana."""
    return (
        text in _STOP_WORDS
        or (text.isascii() and len(text) == 1)
        or all(_is_hiragana(character) for character in text)
    )


def _runs(question: str) -> list[lexicon.Run]:
    return [
        run
        for token in lexicon.tokens(question)[:_MOST_TOKENS]
        for run in lexicon.runs(token)
        if run.kind is not Kind.OTHER
    ]


def _telling(texts: list[str]) -> list[str]:
    different = list(dict.fromkeys(texts))
    return [text for text in different if not says_little(text)] or different


def _pairs(run: str) -> list[str]:
    return lexicon.pairs(run)[:-1] or [run]


def _scripts(run: str) -> list[str]:
    """A CJK run cut where hiragana begins or ends: content words and their endings."""
    pieces: list[str] = []
    for character in run:
        if pieces and _is_hiragana(pieces[-1][-1]) == _is_hiragana(character):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _is_hiragana(character: str) -> bool:
    return "\u3041" <= character <= "\u309f"

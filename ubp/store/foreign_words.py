"""Foreign words: rows in another language with the words of a question, translated.

Words do not match across languages, but a dictionary knows what they may be called
there. Each word of a question is looked for under all its names, and counts once. Which
rows are in another language is told by what is noted for their vectors: a row in the
question's own language gains nothing, however many foreign words it has, as technical
Japanese does. And where there is as much in one's own language, that is meant.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import apsw

from ubp import lexicon
from ubp.dictionary.lookup import parts, translations
from ubp.languages import language_of
from ubp.lexicon import Kind
from ubp.questions import content_words, says_little
from ubp.store import vectors
from ubp.store.fulltext import any_of, quoted
from ubp.store.some_words import SomeWords, Term, Weighed, worth_of

__all__ = ("Abroad", "abroad", "foreign_terms", "names_abroad")

_MOST_TERMS = 32
"""Of a question; each is looked for under several names."""

_MOST_CHARACTERS = 500
"""Of a question that are cut into Japanese words: more than so many words have."""


def foreign_terms(question: str) -> list[Term]:
    """The words of *question*, each with all it may be called in the other language.

    None if no word of it has a translation: names are looked for anyway.
    """
    found = _translated(question)
    if not any(found.values()):
        return []
    names = sorted(lexicon.names(lexicon.fold(question)))
    matches = [(name, quoted(name)) for name in names]
    matches += [(word, any_of([word, *others])) for word, others in found.items()]
    return [Term(word, match) for word, match in matches if match][:_MOST_TERMS]


def names_abroad(question: str) -> list[str]:
    """What the words of *question* are called in the other language."""
    found = _translated(question).values()
    return list(dict.fromkeys(name for names in found for name in names))


class Abroad(NamedTuple):
    """What was found in another language."""

    rows: list[Weighed]
    """The best of it, those with the highest scores first."""
    all: frozenset[int]
    """Every row in another language that has any of the words."""
    coverage: float
    """The highest there."""
    own: float
    """The highest in the question's own language, by the same words."""

    @property
    def share(self) -> float:
        """How far it counts: the less, the more of the words one's own language has."""
        return 1 - (self.own / self.coverage) ** 2 if self.coverage else 0.0


_NOTHING = Abroad([], frozenset(), 0.0, 0.0)


def abroad(
    db: apsw.Connection,
    table: SomeWords,
    pack: str,
    question: str,
    limit: int,
    among: Sequence[int] | None = None,
) -> Abroad:
    """The *limit* best rows in another language that have words of *question*.

    Of the rows in *among* only, where that is given; none where one's own language has
    as many of the words.
    """
    language = language_of(question)
    if not vectors.languages(db) - {language} or not (asked := foreign_terms(question)):
        return _NOTHING
    covered = _covered(db, table, asked)
    if among is not None:
        covered = {row: covered[row] for row in covered.keys() & set(among)}
    foreign = vectors.in_other_languages(db, pack, covered, language)
    best = sorted(foreign, key=lambda row: (-covered[row], row))[:limit]
    most = covered[best[0]] if best else 0.0
    own = max((covered[row] for row in covered.keys() - foreign), default=0.0)
    if most <= own:
        return _NOTHING
    either = " OR ".join(term.match for term in asked)
    rows = [
        Weighed(row, score, covered[row])
        for row, score in table.having(db, either, limit, sorted(best))
    ]
    return Abroad(rows, foreign, most, own)


def _covered(
    db: apsw.Connection, table: SomeWords, asked: Sequence[Term]
) -> dict[int, float]:
    """The coverage of every row that has any of the terms, under whatever name."""
    rows = table.rows(db)
    covered: dict[int, float] = defaultdict(float)
    total = 0.0
    for term in asked:
        having = table.matching(db, term.match)
        worth = worth_of(rows, len(having))
        total += worth
        for row in having:
            covered[row] += worth
    return {row: min(1.0, value / total) for row, value in covered.items()}


def _translated(question: str) -> dict[str, list[str]]:
    """The words of *question*, and what each may be called in the other language."""
    found: dict[str, list[str]] = {}
    for word in content_words(question):
        for run in lexicon.runs(word):
            if run.kind is Kind.WORD:
                found[run.text] = translations(run.text)
    for run in lexicon.runs(lexicon.fold(question[:_MOST_CHARACTERS])):
        if run.kind is Kind.CJK:
            found |= _of_run(run.text)
    return found


def _of_run(run: str) -> dict[str, list[str]]:
    """The words of a run of kana and kanji; of what is left, what tells something."""
    found: dict[str, list[str]] = {}
    rest = run
    for word, others in parts(run):
        before, _, rest = rest.partition(word)
        found |= _unknown(before)
        found[word] = others
    return found | _unknown(rest)


def _unknown(text: str) -> dict[str, list[str]]:
    """The words of what no dictionary knows: a lone character or an ending is none."""
    return {
        word: []
        for word in content_words(text)
        if len(word) > 1 and not says_little(word)
    }

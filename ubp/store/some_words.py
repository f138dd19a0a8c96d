"""Some words: how well rows fit a question of which they contain only a part.

A word that stands in few rows is worth more than one that stands in many. What a row is
worth for a question is told twice: by its BM25 score, which has no upper bound and can
only be compared within one question; and by its coverage, the worth of the words it
contains in that of all words asked for, which says how good an answer by words can be.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import msgspec

from ubp import lexicon
from ubp.questions import says_little, term_texts
from ubp.store.fulltext import any_of, quoted

__all__ = ("SomeWords", "Term", "Weighed", "terms", "worth_of")

_MOST_TERMS = 64
"""Of a question; the rest of a longer one is not looked at."""


class Term(NamedTuple):
    """A word of a question, or two neighbours of a CJK run."""

    text: str
    match: str
    """What finds it in the full-text index."""


class Weighed(NamedTuple):
    """A row that contains at least one term."""

    row: int
    score: float
    """BM25; more is better."""
    coverage: float
    """0 to 1: the worth of its terms in that of all terms."""


def terms(question: str) -> list[Term]:
    """What to look for: the telling words of *question*, and the names it has.

    CJK runs are looked for in pairs, because nobody says where their words begin.
    """
    signs = sorted(lexicon.names(lexicon.fold(question)))
    texts = term_texts(question)
    if signs:  # "C++" is not also a question about the letter c
        texts = [text for text in texts if not says_little(text)]
    matches = [(sign, quoted(sign)) for sign in signs]
    matches += [(text, any_of([text])) for text in texts]
    return [Term(text, match) for text, match in matches if match][:_MOST_TERMS]


class SomeWords:
    """The ranking of one full-text table, whose words are counted in another."""

    def __init__(self, *, text: str, exactly: bool = False) -> None:
        """*exactly*: rows are counted, however many numbers are not among them."""
        if not text.isidentifier():
            raise ValueError(text)
        self._sql = {
            key: statement.format(text=text) for key, statement in _STATEMENTS.items()
        }
        if exactly:
            self._sql["rows"] = self._sql["rows_exactly"]

    def weighed(
        self,
        db: apsw.Connection,
        asked: Sequence[Term],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> list[Weighed]:
        """The *limit* best rows that contain some of the terms, best first.

        Of the rows in *among* only, where that is given.
        """
        if not asked:
            return []
        worth = self.worth(db, asked)
        either = " OR ".join(term.match for term in asked)
        scored = self.having(db, either, limit, among)
        covered = self.covered(db, asked, worth, [row for row, _ in scored])
        total = sum(worth)
        return [
            Weighed(row, score, min(1.0, covered[row] / total)) for row, score in scored
        ]

    def covered(
        self,
        db: apsw.Connection,
        asked: Sequence[Term],
        worth: Sequence[float],
        rows: Sequence[int],
    ) -> dict[int, float]:
        """The worth, given for each term, of the terms that each of *rows* contains."""
        covered = dict.fromkeys(rows, 0.0)
        array = msgspec.json.encode(sorted(rows)).decode()
        for term, value in zip(asked, worth, strict=True):
            for (row,) in db.execute(self._sql["with_term"], (term.match, array)):
                covered[row] += value
        return covered

    def having(
        self,
        db: apsw.Connection,
        match: str,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> list[tuple[int, float]]:
        """The *limit* best rows that match an expression, with their BM25 scores."""
        return [
            (row, max(0.0, -rank))
            for row, rank in self._scored(db, match, limit, among)
        ]

    def rows(self, db: apsw.Connection) -> int:
        """How many rows there are, nearly."""
        number: int = db.execute(self._sql["rows"]).get or 0
        return number

    def count(self, db: apsw.Connection, word: str) -> int:
        """In how many rows a word of the index stands."""
        number: int = db.execute(self._sql["count"], (word, word)).get or 0
        return number

    def first(
        self,
        db: apsw.Connection,
        match: str,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Some rows that match an expression, whichever come first."""
        if among is None:
            rows = db.execute(self._sql["first"], (match, limit))
        else:
            array = msgspec.json.encode(among).decode()
            rows = db.execute(self._sql["first_among"], (match, array, limit))
        return [row for (row,) in rows]

    def _scored(
        self, db: apsw.Connection, match: str, limit: int, among: Sequence[int] | None
    ) -> apsw.Cursor:
        if among is None:
            return db.execute(self._sql["scored"], (match, limit))
        rows = msgspec.json.encode(among).decode()
        return db.execute(self._sql["scored_among"], (match, rows, limit))

    def worth(self, db: apsw.Connection, asked: Sequence[Term]) -> list[float]:
        """What each term says, by the number of rows it stands in."""
        rows = self.rows(db)
        worth: list[float] = []
        for term in asked:
            # A lone CJK character is found as the beginning of any pair.
            beyond = f"{term.text}\U0010ffff" if term.match.endswith("*") else term.text
            count = db.execute(self._sql["count"], (term.text, beyond)).get or 0
            worth.append(worth_of(rows, count))
        return worth

    def matching(self, db: apsw.Connection, match: str) -> set[int]:
        """All rows that match an expression."""
        return _rows(db.execute(self._sql["matching"], (match,)).get)


def worth_of(rows: int, count: int) -> float:
    """What a word says that stands in *count* of so many rows."""
    count = min(count, rows)
    return math.log(1 + (rows - count + 0.5) / (count + 0.5))


_rows = msgspec.json.Decoder(set[int]).decode

_STATEMENTS = {
    # One text is read in half the time of thousands of rows.
    "matching": "SELECT json_group_array(rowid) FROM {text} WHERE {text} MATCH ?",
    "scored": """
        SELECT rowid, bm25({text}, 2.0, 1.0) AS score
          FROM {text} WHERE {text} MATCH ? ORDER BY score, rowid LIMIT ?
    """,
    "scored_among": """
        SELECT rowid, bm25({text}, 2.0, 1.0) AS score
          FROM {text}
         WHERE {text} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
         ORDER BY score, rowid LIMIT ?
    """,
    "first": "SELECT rowid FROM {text} WHERE {text} MATCH ? LIMIT ?",
    "first_among": """
        SELECT rowid FROM {text}
         WHERE {text} MATCH ? AND +rowid IN (SELECT value FROM json_each(?)) LIMIT ?
    """,
    # The plus keeps FTS5 from looking the word up once for each row.
    "with_term": """
        SELECT rowid FROM {text}
         WHERE {text} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
    """,
    # Rows are numbered upwards: a few that are gone change no word's worth.
    "rows": "SELECT max(id) FROM {text}_docsize",
    "rows_exactly": "SELECT count(*) FROM {text}_docsize",
    "count": "SELECT sum(doc) FROM {text}_count WHERE term BETWEEN ? AND ?",
}

"""Full text: which rows contain every token of a query, and how well.

One mechanism, used by a pack through an ``Index`` that names its tables:

* ``{text}``: FTS5 over words and CJK pairs, as ``lexicon.spread`` writes them out;
* ``{word}``: the distinct words, and ``{word}_part``: their trigrams. A part of a word
  is looked up among the words, and the words among the text;
* ``{rows}``: the texts themselves, against which tokens with punctuation are checked.

A row matches a token if its folded heading or content contains the folded token: no
operators, no syntax, no errors. User text reaches MATCH only through ``quoted``.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import apsw
import msgspec

from ubp import lexicon
from ubp.lexicon import Kind, Run
from ubp.store.parameters import array

__all__ = (
    "Index",
    "IndexedText",
    "Matches",
    "Names",
    "Ranked",
    "all_of",
    "any_of",
    "quoted",
    "together",
)

_rows = msgspec.json.Decoder(set[int]).decode

_MOST_LOOKED_UP = 64
"""Tokens looked up in the index; of a longer query the rest is checked in the text."""

_MOST_WORDS = 1_000
"""Words a part may occur in. A part of more words than this is hardly a filter, and
looking for it in the text is quicker."""

_AT_ONCE = 64
"""Words of one MATCH: FTS5 compares every row with each of them."""

_FEW_ROWS = 100
"""Rows whose texts are looked through for the other tokens."""

_SHORTEST_PART = 3
"""Trigrams cannot find anything shorter; then all words are looked through."""


class IndexedText(NamedTuple):
    """A row for the index, in the form of ``lexicon.spread``."""

    row: int
    heading: str
    content: str
    words: str
    """Its distinct words, separated by spaces; texts of one page may have them all."""


class Ranked(NamedTuple):
    """A matching row. A lower rank is a better match; whole words come first."""

    row: int
    rank: float


class _Lookup(NamedTuple):
    """What a token asks of the index, and whether the text must be checked as well."""

    alternatives: list[list[str]]
    """A row must match one expression of each list."""
    check: bool
    long_words: bool
    """Whether the token may hide in a run too long to be indexed."""
    whole: str | None
    """The expression for the token as whole words."""


class Matches(NamedTuple):
    """What a search found, and what its ranking needs to know of the query."""

    rows: set[int]
    lookups: tuple[_Lookup, ...]


class Index:
    """The full-text index of one table of texts. It is added to, and searched."""

    def __init__(self, *, text: str, word: str, rows: str) -> None:
        names = {"text": text, "word": word, "rows": rows}
        for name in names.values():
            if not name.isidentifier():
                raise ValueError(name)
        folded = "coalesce(folded, lower(coalesce(heading, '') || char(10) || content))"
        self._sql = {
            key: statement.format(**names, folded=folded)
            for key, statement in _STATEMENTS.items()
        }

    # -- writing -----------------------------------------------------------------------

    def add(self, db: apsw.Connection, texts: Sequence[IndexedText]) -> None:
        """Index rows that are not indexed yet; inside ``together``, at its end."""
        _add(db, self._insert, {text.row: text for text in texts})

    def _insert(self, db: apsw.Connection, texts: Collection[IndexedText]) -> None:
        db.executemany(
            self._sql["add"], [(text.row, text.heading, text.content) for text in texts]
        )
        lists = {text.words for text in texts}
        words = sorted(set[str]().union(*(words.split() for words in lists)))
        new = db.execute(self._sql["add_words"], (msgspec.json.encode(words).decode(),))
        db.executemany(self._sql["add_part"], new.fetchall())

    def remove(self, db: apsw.Connection, rows: Iterable[int]) -> None:
        """Take rows out. Their words stay: they find nothing, and may come again."""
        gone = set(rows)
        db.executemany(self._sql["remove"], [(row,) for row in gone])
        _forget(self._insert, gone)

    def optimize(self, db: apsw.Connection) -> None:
        """Merge what many small transactions left; queries become a little faster."""
        db.execute(self._sql["optimize"])
        db.execute(self._sql["optimize_parts"])

    # -- searching ---------------------------------------------------------------------

    def search(self, db: apsw.Connection, query: str) -> Matches:
        """The rows that contain every token of *query*."""
        tokens = lexicon.tokens(query)
        lookups: list[_Lookup] = []
        to_check = tokens[_MOST_LOOKED_UP:]
        rows: set[int] | None = None if tokens else set()
        # Longer ones are rarer, and once few rows are left, looking is quicker.
        for token in sorted(tokens[:_MOST_LOOKED_UP], key=len, reverse=True):
            if rows is not None and len(rows) <= _FEW_ROWS:
                lookups.append(_Lookup([], True, False, _whole(token)))
                to_check.append(token)
                continue
            lookup = self._lookup(db, token)
            lookups.append(lookup)
            if lookup.check:
                to_check.append(token)
            if lookup.alternatives:
                found = self._any_of_each(db, lookup.alternatives)
                if lookup.long_words:
                    found |= self._in_long_words(db, token)
                rows = found if rows is None else rows & found
            if rows is not None and not rows:
                break
        return Matches(self._checked(db, rows, to_check), tuple(lookups))

    def ranked(self, db: apsw.Connection, matches: Matches) -> Iterator[Ranked]:
        """The matching rows, best first.

        A row with every token as whole words has rank ``-(1 + s)``, where ``s`` is the
        BM25 score; any other ``-s / (1 + s)``, with ``s`` of the words the tokens are
        part of. So whole words always come first.
        """
        left = set(matches.rows)
        if not left:
            return
        whole = [lookup.whole for lookup in matches.lookups if lookup.whole]
        if len(whole) == len(matches.lookups):
            for row, score in self._scored(db, " AND ".join(whole)):
                if row in left:
                    left.remove(row)
                    yield Ranked(row, -(1 + score))
        parts = [
            f"({' OR '.join(alternative[:_AT_ONCE])})"
            for lookup in matches.lookups
            for alternative in lookup.alternatives
            if alternative
        ]
        if left and parts:
            for row, score in self._scored(db, " AND ".join(parts)):
                if row in left:
                    left.remove(row)
                    yield Ranked(row, -score / (1 + score))
        for row in sorted(left):
            yield Ranked(row, 0.0)

    # -- one token ---------------------------------------------------------------------

    def _lookup(self, db: apsw.Connection, token: str) -> _Lookup:
        parts = list(lexicon.runs(token))
        if len(parts) == 1 and parts[0].kind is Kind.WORD:
            return self._word(db, token)
        if len(parts) == 1 and parts[0].kind is Kind.CJK:
            expression = _cjk(token)
            return _Lookup(
                [[expression]], check=False, long_words=False, whole=expression
            )
        return self._mixed(db, token, parts)

    def _word(self, db: apsw.Connection, token: str) -> _Lookup:
        if len(token) > lexicon.LONGEST_WORD:
            return _Lookup([[]], check=False, long_words=True, whole=None)
        words = self._words_with(db, token)
        whole = quoted(token)
        if len(words) > _MOST_WORDS:
            return _Lookup([], check=True, long_words=False, whole=whole)
        return _Lookup([[quoted(word) for word in words]], False, True, whole)

    def _mixed(self, db: apsw.Connection, token: str, parts: list[Run]) -> _Lookup:
        """Punctuation, or several scripts: the runs narrow, the text decides.

        A word inside the token is a whole word of the text; the first may be the end
        of one, the last the beginning of one.
        """
        alternatives: list[list[str]] = []
        whole: list[str] = []
        long_words = False
        for number, run in enumerate(parts):
            if run.kind is Kind.CJK:
                alternatives.append([_cjk(run.text)])
                whole.append(_cjk(run.text))
            elif run.kind is Kind.WORD:
                whole.append(quoted(run.text))
                long_words = True
                if number == len(parts) - 1:
                    alternatives.append([f"{quoted(run.text)} *"])
                elif number > 0:
                    alternatives.append([quoted(run.text)])
                else:
                    endings = self._words_ending(db, run.text)
                    alternatives += [endings] if endings is not None else []
        alternatives += [[quoted(name)] for name in sorted(lexicon.names(token))]
        expression = " AND ".join(whole) if whole else None
        return _Lookup(
            alternatives, check=True, long_words=long_words, whole=expression
        )

    def _words_with(self, db: apsw.Connection, part: str) -> list[str]:
        """Words that contain *part*, itself first; one more than we use at most."""
        if len(part) < _SHORTEST_PART:
            found = db.execute(self._sql["words_scan"], (part, _MOST_WORDS + 1))
        else:
            found = db.execute(self._sql["words_with"], (quoted(part), _MOST_WORDS + 1))
        return [word for (word,) in found]

    def _words_ending(self, db: apsw.Connection, part: str) -> list[str] | None:
        """Expressions for the words that end with *part*; None if they are too many."""
        words = self._words_with(db, part)
        if len(words) > _MOST_WORDS:
            return None
        return [quoted(word) for word in words if word.endswith(part)]

    # -- sets of rows ------------------------------------------------------------------

    def _any_of_each(
        self, db: apsw.Connection, alternatives: list[list[str]]
    ) -> set[int]:
        rows: set[int] | None = None
        for expressions in sorted(alternatives, key=len):
            found: set[int] = set()
            for start in range(0, len(expressions), _AT_ONCE):
                match = " OR ".join(expressions[start : start + _AT_ONCE])
                found |= _rows(db.execute(self._sql["rows"], (match,)).get)
            rows = found if rows is None else rows & found
            if not rows:
                return set()
        return rows or set()

    def _in_long_words(self, db: apsw.Connection, token: str) -> set[int]:
        return {row for (row,) in db.execute(self._sql["long_words"], (token,))}

    def _checked(
        self, db: apsw.Connection, rows: set[int] | None, tokens: Sequence[str]
    ) -> set[int]:
        """Those of *rows* (of all rows, if None) whose text contains every token."""
        if not tokens:
            return rows or set()
        longest, *others = sorted(tokens, key=len, reverse=True)
        if rows is None:
            found = db.execute(self._sql["containing"], (longest,))
        else:
            found = db.execute(
                self._sql["containing_of"], (array(sorted(rows)), longest)
            )
        rows = {row for (row,) in found}
        if not others:
            return rows
        texts = db.execute(self._sql["texts_of"], (array(sorted(rows)),))
        return {row for row, text in texts if all(token in text for token in others)}

    def _scored(self, db: apsw.Connection, match: str) -> Iterator[tuple[int, float]]:
        for row, rank in db.execute(self._sql["scored"], (match,)):
            yield row, max(0.0, -rank)


def any_of(words: Iterable[str]) -> str:
    """The expression for any of *words*, folded; empty where none can be looked up."""
    found = (_run_expression(run) for word in words for run in lexicon.runs(word))
    return " OR ".join(dict.fromkeys(each for each in found if each))


def all_of(words: Iterable[str]) -> str:
    """The expression for all of *words*, folded; empty where none can be looked up."""
    found = (_run_expression(run) for word in words for run in lexicon.runs(word))
    return " AND ".join(dict.fromkeys(each for each in found if each))


def quoted(text: str) -> str:
    """*text* as an FTS5 string: whatever is in it, it is not an operator."""
    return '"' + text.replace('"', '""') + '"'


def _cjk(run: str) -> str:
    """The expression for any part of a CJK run: its pairs as a phrase."""
    if len(run) == 1:
        return f"{quoted(run)} *"
    return quoted(" ".join(lexicon.pairs(run)[:-1]))


def _whole(token: str) -> str | None:
    """The expression for *token* as whole words."""
    found = (_run_expression(run) for run in lexicon.runs(token))
    return " AND ".join(each for each in found if each) or None


def _run_expression(run: Run) -> str | None:
    if run.kind is Kind.CJK:
        return _cjk(run.text)
    if run.kind is Kind.WORD and len(run.text) <= lexicon.LONGEST_WORD:
        return quoted(run.text)
    return None


class Names:
    """An FTS5 table with one column, ``name``."""

    def __init__(self, table: str) -> None:
        if not table.isidentifier():
            raise ValueError(table)
        self._add = f"INSERT INTO {table} (rowid, name) VALUES (?, ?)"  # noqa: S608
        self._remove = f"DELETE FROM {table} WHERE rowid = ?"  # noqa: S608

    def add(self, db: apsw.Connection, row: int, name: str) -> None:
        """Index a name; inside ``together``, at its end."""
        _add(db, self._insert, {row: (row, name)})

    def _insert(self, db: apsw.Connection, names: Collection[tuple[int, str]]) -> None:
        db.executemany(self._add, names)

    def remove(self, db: apsw.Connection, row: int) -> None:
        """Take the name of a row out."""
        db.execute(self._remove, (row,))
        _forget(self._insert, {row})


_Insert = Callable[[apsw.Connection, Collection[Any]], None]
"""Puts rows into a table; tables are told apart by it."""


class _Waiting:
    """What is to be indexed, by table and row, and what no longer is."""

    def __init__(self) -> None:
        self.added = defaultdict[_Insert, dict[int, Any]](dict)
        self.removed = defaultdict[_Insert, set[int]](set)

    def remove(self, insert: _Insert, rows: set[int]) -> None:
        self.removed[insert] |= rows
        added = self.added[insert]
        for row in rows:
            added.pop(row, None)

    def follow(self, later: "_Waiting") -> None:
        """Let what *later* says come after this."""
        for insert, rows in later.removed.items():
            self.remove(insert, rows)
        for insert, added in later.added.items():
            self.added[insert].update(added)


_waiting: ContextVar[_Waiting | None] = ContextVar("waiting", default=None)


def _add(db: apsw.Connection, insert: _Insert, rows: dict[int, Any]) -> None:
    waiting = _waiting.get()
    if waiting is None:
        insert(db, rows.values())
    else:
        waiting.added[insert].update(rows)


def _forget(insert: _Insert, rows: set[int]) -> None:
    if (waiting := _waiting.get()) is not None:
        waiting.remove(insert, rows)


@contextmanager
def together(db: apsw.Connection) -> Iterator[None]:
    """Index all that is added inside at the end, before the transaction's.

    FTS5 keeps what it is given in memory, and writes it out at every savepoint; SQLite
    makes one for each document, and by itself for many a statement. Each time that is a
    segment to be merged with others later: three times the work of a few large ones.

    Inside another one it is a part that can fail, as a savepoint is: then what it
    added is forgotten, and what it removed is added after all.
    """
    outer = _waiting.get()
    waiting = _Waiting()
    reset = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(reset)
    if outer is not None:
        outer.follow(waiting)
        return
    for insert, rows in waiting.added.items():
        if rows:
            insert(db, rows.values())


_STATEMENTS = {
    "add": "INSERT INTO {text} (rowid, heading, content) VALUES (?, ?, ?)",
    "remove": "DELETE FROM {text} WHERE rowid = ?",
    "add_words": """
        INSERT INTO {word} (word) SELECT value FROM json_each(?) WHERE true
            ON CONFLICT DO NOTHING RETURNING id, word
    """,
    "add_part": "INSERT INTO {word}_part (rowid, word) VALUES (?, ?)",
    "optimize": "INSERT INTO {text} ({text}) VALUES ('optimize')",
    "optimize_parts": "INSERT INTO {word}_part ({word}_part) VALUES ('optimize')",
    # One text is read in half the time of thousands of rows.
    "rows": "SELECT json_group_array(rowid) FROM {text} WHERE {text} MATCH ?",
    "scored": """
        SELECT rowid, bm25({text}, 2.0, 1.0) AS score
          FROM {text} WHERE {text} MATCH ? ORDER BY score, rowid
    """,
    "words_with": """
        SELECT word FROM {word}_part WHERE {word}_part MATCH ?
         ORDER BY length(word), word LIMIT ?
    """,
    "words_scan": """
        SELECT word FROM {word} WHERE instr(word, ?) > 0
         ORDER BY length(word), word LIMIT ?
    """,
    "long_words": """
        SELECT id FROM {rows} WHERE has_long_word AND instr({folded}, ?) > 0
    """,
    "containing": "SELECT id FROM {rows} WHERE instr({folded}, ?) > 0",
    "containing_of": """
        SELECT {rows}.id FROM json_each(?) JOIN {rows} ON {rows}.id = json_each.value
         WHERE instr({folded}, ?) > 0
    """,
    "texts_of": """
        SELECT {rows}.id, {folded}
          FROM json_each(?) JOIN {rows} ON {rows}.id = json_each.value
    """,
}

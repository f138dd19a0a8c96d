"""Catalogue search on SQLite FTS5 with the trigram tokenizer."""

import json
import sqlite3
import unicodedata

PAGE_SIZE = 20
MIN_TRIGRAM_CHARS = 3

# Katakana U+30A1..U+30F6 lie 0x60 above the matching hiragana.
_KANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}

_SCHEMA = """CREATE VIRTUAL TABLE IF NOT EXISTS books USING fts5(
    isbn UNINDEXED, title, author, summary, tokenize = 'trigram')"""
_STORE = """INSERT OR REPLACE INTO books (rowid, isbn, title, author, summary)
    VALUES (?, ?, ?, ?, ?)"""
# bm25 weights: isbn 0 (not indexed), title 8, author 4, summary 1.
_RANKED = """SELECT isbn FROM books WHERE books MATCH ?
    ORDER BY bm25(books, 0, 8, 4, 1), isbn LIMIT ? OFFSET ?"""
_SUBSTRING = """SELECT isbn FROM books WHERE NOT EXISTS (
        SELECT 1 FROM json_each(?) AS term
        WHERE instr(title, term.value) = 0 AND instr(author, term.value) = 0)
    ORDER BY title, isbn LIMIT ? OFFSET ?"""


def fold(text: str) -> str:
    """Unify character width, letter case and the two kana scripts."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_KANA)


def open_index(path: str = ":memory:") -> sqlite3.Connection:
    """Open the index and create its table when it is missing."""
    db = sqlite3.connect(path)
    db.execute(_SCHEMA)
    return db


def add(
    db: sqlite3.Connection, isbn: str, title: str, author: str, summary: str = ""
) -> None:
    """Index one edition, replacing what was known about it."""
    row = (int(isbn), isbn, fold(title), fold(author), fold(summary))
    db.execute(_STORE, row)


def search(db: sqlite3.Connection, query: str, page: int = 1) -> list[str]:
    """Return the ISBNs on one page of hits; every term must occur."""
    terms = fold(query).replace('"', " ").split()
    if not terms:
        return []
    if min(map(len, terms)) < MIN_TRIGRAM_CHARS:
        statement, wanted = _SUBSTRING, json.dumps(terms)
    else:
        statement, wanted = _RANKED, " ".join(f'"{term}"' for term in terms)
    hits = db.execute(statement, (wanted, PAGE_SIZE, (page - 1) * PAGE_SIZE))
    return [isbn for (isbn,) in hits]

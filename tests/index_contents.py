"""Everything an index knows, as a value: two indexes of the same files are equal.

Without ids and times, which differ from one index to the next, and without what is only
kept for later: vectors, and words that no section has any more.
"""

from typing import Any

import apsw

from ubp.packs.docs.text_index import SECTIONS

__all__ = ("Contents", "index_contents")

Contents = dict[str, list[tuple[Any, ...]]]

_TABLES = {
    "pages": """
        SELECT path, title, doc_type, tags, front_matter, digest,
               path_key, name_key, title_key
          FROM docs_page ORDER BY path
    """,
    "sections": """
        SELECT path, ordinal, heading, level, heading_path, continued, content, folded,
               has_long_word, section.digest, tokens
          FROM docs_section AS section JOIN docs_page AS page ON page.id = page_id
         ORDER BY path, ordinal
    """,
    # In the order of the page, and by number: the same link may stand there twice.
    "links": """
        SELECT source.path,
               row_number() OVER (PARTITION BY source.id ORDER BY link.id),
               section, style, target, type, fragment, optional, context,
               link.name_key, link.title_key,
               target.path, ambiguous, hidden, settled
          FROM docs_link AS link JOIN docs_page AS source ON source.id = source_id
          LEFT JOIN docs_page AS target ON target.id = target_id
         ORDER BY 1, 2
    """,
    "names not settled": "SELECT key FROM docs_unsettled_name ORDER BY key",
    "source refs": """
        SELECT page.path, ordinal, ref.path, ref.digest, size
          FROM docs_source_ref AS ref JOIN docs_page AS page ON page.id = page_id
         ORDER BY page.path, ordinal
    """,
    # A row that is of no section is one too many, so it is listed as well.
    "passages": """
        SELECT page.path, ordinal, hex(passage.digest), language
          FROM passage
          LEFT JOIN docs_section AS section ON section.id = row
          LEFT JOIN docs_page AS page ON page.id = page_id
         WHERE pack = 'docs' ORDER BY page.path, ordinal
    """,
    "text": """
        SELECT path, ordinal, col, "offset", term
          FROM temp.text_terms LEFT JOIN docs_section AS section ON section.id = doc
          LEFT JOIN docs_page AS page ON page.id = page_id
         ORDER BY path, ordinal, col, "offset", term
    """,
    "names": """
        SELECT path, "offset", term
          FROM temp.name_terms LEFT JOIN docs_page AS page ON page.id = doc
         ORDER BY path, "offset", term
    """,
    "files": "SELECT pack, path, size, digest FROM file ORDER BY pack, path",
    "failures": "SELECT pack, path, reason, size FROM failure ORDER BY pack, path",
    "warnings": "SELECT pack, path, n, kind, text FROM warning ORDER BY pack, path, n",
    "fingerprints": "SELECT pack, fingerprint FROM reading ORDER BY pack",
}

_NOTES = {
    "notes": """
        SELECT path, title, tags, created, updated, path_date, content,
               path_key, docs_key, name_key, superseded
          FROM notes_note ORDER BY path
    """,
    "chunks": """
        SELECT path, ordinal, parent_heading, heading, start, length, hex(passage),
               language, has_long_word
          FROM notes_chunk JOIN notes_note AS note ON note.id = note_id
         ORDER BY path, ordinal
    """,
    "tags of notes": """
        SELECT path, tag, folded
          FROM notes_tag JOIN notes_note AS note ON note.id = note_id
         ORDER BY path, tag
    """,
    "replaced notes": """
        SELECT path, key
          FROM notes_previous JOIN notes_note AS note ON note.id = note_id
         ORDER BY path, key
    """,
    "passages of notes": """
        SELECT path, ordinal, hex(passage.digest), passage.language
          FROM passage LEFT JOIN notes_chunk AS chunk ON chunk.id = row
          LEFT JOIN notes_note AS note ON note.id = note_id
         WHERE pack = 'notes' ORDER BY path, ordinal
    """,
    "words of notes": """
        SELECT path, ordinal, col, "offset", term
          FROM temp.chunk_terms LEFT JOIN notes_chunk AS chunk ON chunk.id = doc
          LEFT JOIN notes_note AS note ON note.id = note_id
         ORDER BY path, ordinal, col, "offset", term
    """,
}
"""For an index that has the notes."""

_HAS_NOTES = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'notes_note')"
_OPEN_NOTES = """
    CREATE VIRTUAL TABLE temp.chunk_terms USING fts5vocab (main, notes_text, instance)
"""

_OPEN_TERMS = """
    CREATE VIRTUAL TABLE temp.text_terms USING fts5vocab (main, docs_text, instance);
    CREATE VIRTUAL TABLE temp.name_terms USING fts5vocab (main, docs_name, instance);
"""

_CLOSE_TERMS = "DROP TABLE temp.text_terms; DROP TABLE temp.name_terms"

_WORDS = """
    SELECT word FROM docs_word WHERE word IN (SELECT term FROM temp.text_terms)
     ORDER BY word
"""

_PLACES = """
    SELECT section.id, path, ordinal
      FROM docs_section AS section JOIN docs_page AS page ON page.id = page_id
"""


def index_contents(db: apsw.Connection) -> Contents:
    """What the index knows, by subject, each in a fixed order."""
    db.execute(_OPEN_TERMS)
    try:
        contents = {name: list(db.execute(sql)) for name, sql in _TABLES.items()}
        contents["hits"] = _hits(db)
    finally:
        db.execute(_CLOSE_TERMS)
    if db.execute(_HAS_NOTES).get:
        contents |= _notes(db)
    return contents


def _notes(db: apsw.Connection) -> Contents:
    db.execute(_OPEN_NOTES)
    try:
        return {name: list(db.execute(sql)) for name, sql in _NOTES.items()}
    finally:
        db.execute("DROP TABLE temp.chunk_terms")


def _hits(db: apsw.Connection) -> list[tuple[Any, ...]]:
    """For every word of the texts the sections that a search for it finds."""
    places = {row: (path, ordinal) for row, path, ordinal in db.execute(_PLACES)}
    words = [str(word) for (word,) in db.execute(_WORDS).fetchall()]
    return [
        (word, sorted(places[row] for row in SECTIONS.search(db, word).rows))
        for word in words
    ]

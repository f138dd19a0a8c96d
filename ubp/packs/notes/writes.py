"""Store notes: all SQL of the notes pack that changes something.

Every function runs inside the writer's transaction. A note that another one replaces
keeps its row, its tags and its chunks; it is only taken out of both indexes, so that it
can come back when nobody replaces it any more.
"""

import posixpath
from collections.abc import Iterable

import apsw
import msgspec

from ubp import lexicon
from ubp.packs.notes.queries import chunk_texts
from ubp.packs.notes.records import ChunkRecord, NoteRecord, key_of
from ubp.packs.notes.text_index import PACK_NAME
from ubp.store import vectors
from ubp.store.vectors import Passage

__all__ = ("forget", "optimize", "rename", "save", "settle")

_NOTE = "SELECT id, superseded FROM notes_note WHERE path = ?"

_INSERT_NOTE = """
    INSERT INTO notes_note (path, title, tags, created, updated, path_date, content,
                            path_key, docs_key, name_key, superseded)
    VALUES (:path, :title, :tags, :created, :updated, :path_date, :content,
            :path_key, :docs_key, :name_key, 0)
"""

_UPDATE_NOTE = """
    UPDATE notes_note
       SET path = :path, title = :title, tags = :tags, created = :created,
           updated = :updated, path_date = :path_date, content = :content,
           path_key = :path_key, docs_key = :docs_key, name_key = :name_key
     WHERE id = :id
"""

_MOVE_NOTE = "UPDATE notes_note SET path = ? WHERE path = ?"

_DELETE_NOTE = "DELETE FROM notes_note WHERE id = ?"

_SET_SUPERSEDED = "UPDATE notes_note SET superseded = ? WHERE id = ?"

_IS_SUPERSEDED = """
    SELECT EXISTS (
        SELECT 1 FROM notes_note AS note JOIN notes_previous AS previous
            ON previous.key IN (note.path_key, note.docs_key, note.name_key)
         WHERE note.id = ? AND previous.note_id <> note.id
    )
"""

_CALLED = """
    SELECT id, superseded FROM notes_note WHERE path_key = :key
     UNION
    SELECT id, superseded FROM notes_note WHERE docs_key = :key
     UNION
    SELECT id, superseded FROM notes_note WHERE name_key = :key
"""

_DELETE_TAGS = "DELETE FROM notes_tag WHERE note_id = ?"
_INSERT_TAG = "INSERT INTO notes_tag (tag, note_id, folded) VALUES (?, ?, ?)"

_PREVIOUS = "SELECT key FROM notes_previous WHERE note_id = ?"
_DELETE_PREVIOUS = "DELETE FROM notes_previous WHERE note_id = ?"
_INSERT_PREVIOUS = "INSERT INTO notes_previous (key, note_id) VALUES (?, ?)"

_CHUNKS = "SELECT ordinal, id FROM notes_chunk WHERE note_id = ?"

_INSERT_CHUNK = """
    INSERT INTO notes_chunk (note_id, ordinal, heading, parent_heading, start, length,
                             passage, language, has_long_word)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_UPDATE_CHUNK = """
    UPDATE notes_chunk
       SET heading = ?, parent_heading = ?, start = ?, length = ?, passage = ?,
           language = ?, has_long_word = ?
     WHERE id = ?
"""

_DELETE_CHUNK = "DELETE FROM notes_chunk WHERE id = ?"

_PASSAGES_OF = "SELECT id, passage, language FROM notes_chunk WHERE note_id = ?"

_ADD_WORDS = "INSERT INTO notes_text (rowid, heading, content) VALUES (?, ?, ?)"
_REMOVE_WORDS = "DELETE FROM notes_text WHERE rowid = ?"
_OPTIMIZE = "INSERT INTO notes_text (notes_text) VALUES ('optimize')"


def save(
    db: apsw.Connection,
    path: str,
    digest: str,
    record: NoteRecord,
    reset: bool = False,
) -> None:
    """Make *record* what is known of the note at *path*."""
    del digest, reset  # nothing here depends on when it was read
    path_key = key_of(path)
    values = {
        "path": path,
        "title": record.title,
        "tags": msgspec.json.encode(record.tags).decode(),
        "created": record.created,
        "updated": record.updated,
        "path_date": record.path_date,
        "content": record.content,
        "path_key": path_key,
        "docs_key": record.docs_key,
        "name_key": posixpath.basename(path_key),
    }
    known = db.execute(_NOTE, (path,)).fetchone()
    if known is None:
        db.execute(_INSERT_NOTE, values)
        note, was_superseded = db.last_insert_rowid(), False
    else:
        note, was_superseded = known
        db.execute(_UPDATE_NOTE, {**values, "id": note})
    db.execute(_DELETE_TAGS, (note,))
    db.executemany(_INSERT_TAG, [(tag, note, lexicon.fold(tag)) for tag in record.tags])
    superseded = bool(db.execute(_IS_SUPERSEDED, (note,)).get)
    db.execute(_SET_SUPERSEDED, (superseded, note))
    _save_chunks(db, note, record.chunks, before=not was_superseded, now=not superseded)
    _replace(db, note, record.previous)


def forget(db: apsw.Connection, path: str) -> None:
    """Remove the note at *path*; what it replaced is found again."""
    known = db.execute(_NOTE, (path,)).fetchone()
    if known is None:
        return
    note, _ = known
    _replace(db, note, ())
    _take_out(db, [row for _, row in db.execute(_CHUNKS, (note,))])
    db.execute(_DELETE_NOTE, (note,))


def rename(db: apsw.Connection, old: str, new: str) -> None:
    """Let the note at *old* be at *new*; what follows from that, *save* will do."""
    db.execute(_MOVE_NOTE, (new, old))


def settle(db: apsw.Connection) -> bool:
    """Nothing is left for later: who replaces whom is known as soon as it is stored."""
    del db
    return False


def optimize(db: apsw.Connection) -> None:
    """Tidy the full-text index after many changes."""
    db.execute(_OPTIMIZE)


def _save_chunks(
    db: apsw.Connection,
    note: int,
    chunks: tuple[ChunkRecord, ...],
    *,
    before: bool,
    now: bool,
) -> None:
    """Chunks keep their row by position, and so their vector if the text is the same.

    *before* and *now*: whether they were, and are to be, found.
    """
    old: dict[int, int] = dict(db.execute(_CHUNKS, (note,)))
    if before:
        db.executemany(_REMOVE_WORDS, [(row,) for row in old.values()])
    rows: list[int] = []
    for ordinal, chunk in enumerate(chunks):
        values = (
            chunk.heading,
            chunk.parent_heading,
            chunk.start,
            chunk.length,
            chunk.passage,
            chunk.language,
            chunk.has_long_word,
        )
        row = old.pop(ordinal, None)
        if row is None:
            db.execute(_INSERT_CHUNK, (note, ordinal, *values))
            row = db.last_insert_rowid()
        else:
            db.execute(_UPDATE_CHUNK, (*values, row))
        rows.append(row)
    db.executemany(_DELETE_CHUNK, [(row,) for row in old.values()])
    gone = list(old.values())
    if not now:
        vectors.forget(db, PACK_NAME, [*gone, *rows])
        return
    vectors.forget(db, PACK_NAME, gone)
    found = list(zip(rows, chunks, strict=True))
    db.executemany(
        _ADD_WORDS,
        [(row, each.index_heading, each.index_content) for row, each in found],
    )
    vectors.note(
        db,
        PACK_NAME,
        [Passage(row, each.passage, each.language) for row, each in found],
    )


def _replace(db: apsw.Connection, note: int, names: tuple[str, ...]) -> None:
    """Let *note* replace the notes called *names*, and no others."""
    before = {key for (key,) in db.execute(_PREVIOUS, (note,))}
    if before == set(names):
        return
    db.execute(_DELETE_PREVIOUS, (note,))
    db.executemany(_INSERT_PREVIOUS, [(key, note) for key in names])
    called = {
        found: bool(superseded)
        for key in before ^ set(names)
        for found, superseded in db.execute(_CALLED, {"key": key})
    }
    for found, was_superseded in called.items():
        superseded = bool(db.execute(_IS_SUPERSEDED, (found,)).get)
        if superseded == was_superseded:
            continue
        db.execute(_SET_SUPERSEDED, (superseded, found))
        if superseded:
            _take_out(db, [row for _, row in db.execute(_CHUNKS, (found,))])
        else:
            _take_in(db, found)


def _take_out(db: apsw.Connection, rows: Iterable[int]) -> None:
    """Let these chunks be found no more."""
    rows = list(rows)
    db.executemany(_REMOVE_WORDS, [(row,) for row in rows])
    vectors.forget(db, PACK_NAME, rows)


def _take_in(db: apsw.Connection, note: int) -> None:
    """Let the chunks of *note* be found again."""
    passages = [Passage(*row) for row in db.execute(_PASSAGES_OF, (note,))]
    texts = chunk_texts(db, [passage.row for passage in passages])
    db.executemany(
        _ADD_WORDS,
        [
            (
                row,
                lexicon.spread(lexicon.fold(f"{text.title}\n{text.heading}")).text,
                lexicon.spread(lexicon.fold(text.content)).text,
            )
            for row, text in texts.items()
        ],
    )
    vectors.note(db, PACK_NAME, passages)

"""Read notes: all SQL of the notes pack that only reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import apsw
import msgspec

from ubp import lexicon
from ubp.packs.notes.chunks import context_after
from ubp.packs.notes.passages import passage
from ubp.store.parameters import array, storable
from ubp.toolkit import PassageText

__all__ = (
    "ChunkText",
    "DateField",
    "ListedNote",
    "Note",
    "Order",
    "TagCount",
    "by_front_matter_date",
    "by_path_date",
    "chunk_places",
    "chunk_texts",
    "chunks_of_tags",
    "containing",
    "count_notes",
    "counts",
    "listed",
    "note_at",
    "passages",
    "paths",
    "some_chunks",
    "tag_counts",
    "tagged",
    "titled",
    "with_long_words",
)

Order = Literal["asc", "desc"]
DateField = Literal["created", "updated"]


class Note(NamedTuple):
    """A note with all of its text."""

    path: str
    title: str
    tags: list[str]
    content: str
    superseded: bool


class ListedNote(NamedTuple):
    """A note without its text."""

    path: str
    title: str
    tags: list[str]


class TagCount(NamedTuple):
    """A tag, and how many notes carry it."""

    tag: str
    notes: int


class ChunkText(NamedTuple):
    """A chunk with what is known of its note."""

    row: int
    path: str
    title: str
    ordinal: int
    parent_heading: str
    heading: str
    content: str


_CONTENT = "substr(note.content, chunk.start + 1, chunk.length)"

_NOTE_AT = """
    SELECT path, title, tags, content, superseded FROM notes_note WHERE path = ?
"""

_PATHS = "SELECT path FROM notes_note ORDER BY path"

_TAG_COUNTS = """
    SELECT tag, count(*) AS notes FROM notes_tag GROUP BY tag ORDER BY notes DESC, tag
"""

_HAS_TAG = "SELECT EXISTS (SELECT 1 FROM notes_tag WHERE tag = ?)"

_TAGS_LIKE = "SELECT DISTINCT tag FROM notes_tag WHERE folded = ?"

_CHUNKS_OF_TAGS = """
    SELECT chunk.id
      FROM (SELECT DISTINCT note_id FROM json_each(?) JOIN notes_tag ON tag = value)
           AS tagged
      JOIN notes_chunk AS chunk ON chunk.note_id = tagged.note_id
"""

_CHUNK_TEXTS = f"""
    SELECT chunk.id, note.path, note.title, chunk.ordinal, chunk.parent_heading,
           chunk.heading, {_CONTENT}
      FROM json_each(?) JOIN notes_chunk AS chunk ON chunk.id = value
      JOIN notes_note AS note ON note.id = chunk.note_id
"""  # noqa: S608

_CHUNK_PLACES = """
    SELECT chunk.id, note.path, chunk.ordinal
      FROM json_each(?) JOIN notes_chunk AS chunk ON chunk.id = value
      JOIN notes_note AS note ON note.id = chunk.note_id
"""

_SOME_CHUNKS = """
    SELECT chunk.id
      FROM notes_note AS note JOIN notes_chunk AS chunk ON chunk.note_id = note.id
     WHERE NOT note.superseded
       AND chunk.id NOT IN (SELECT value FROM json_each(:besides))
     ORDER BY note.path, chunk.ordinal LIMIT :limit
"""

_SOME_CHUNKS_AMONG = """
    SELECT chunk.id
      FROM json_each(:among) JOIN notes_chunk AS chunk ON chunk.id = value
      JOIN notes_note AS note ON note.id = chunk.note_id
     WHERE NOT note.superseded
       AND chunk.id NOT IN (SELECT value FROM json_each(:besides))
     ORDER BY note.path, chunk.ordinal LIMIT :limit
"""

_LONG_WORDS = f"""
    SELECT chunk.id, note.title, chunk.heading, {_CONTENT}
      FROM notes_chunk AS chunk JOIN notes_note AS note ON note.id = chunk.note_id
     WHERE chunk.has_long_word AND NOT note.superseded
"""  # noqa: S608

_PASSAGES = f"""
    SELECT chunk.id, note.title, note.tags, chunk.parent_heading, chunk.heading,
           {_CONTENT},
           (SELECT substr(note.content, before.start + 1, before.length)
              FROM notes_chunk AS before
             WHERE before.note_id = chunk.note_id
               AND before.ordinal = chunk.ordinal - 1)
      FROM json_each(?) JOIN notes_chunk AS chunk ON chunk.id = value
      JOIN notes_note AS note ON note.id = chunk.note_id
"""  # noqa: S608

_COUNTS = """
    SELECT (SELECT count(*) FROM notes_note),
           (SELECT count(*) FROM notes_chunk),
           (SELECT count(DISTINCT tag) FROM notes_tag),
           (SELECT count(*) FROM notes_note WHERE superseded)
"""

_COUNT_NOTES = "SELECT count(*) FROM notes_note"

_COLUMNS = "note.path, note.title, note.tags"

_LISTED = f"""
    SELECT {_COLUMNS} FROM notes_note AS note ORDER BY path LIMIT ? OFFSET ?
"""  # noqa: S608

_TAGGED = f"""
    SELECT {_COLUMNS}
      FROM (SELECT DISTINCT note_id FROM json_each(:tags) JOIN notes_tag ON tag = value)
           AS tagged
      JOIN notes_note AS note ON note.id = tagged.note_id
     ORDER BY iif(:shuffled, random(), 0), note.path LIMIT :limit
"""  # noqa: S608

_TITLED = f"""
    SELECT {_COLUMNS} FROM notes_note AS note ORDER BY path
"""  # noqa: S608

_TEXTS = f"""
    SELECT {_COLUMNS}, note.content FROM notes_note AS note ORDER BY path
"""  # noqa: S608

_BY_PATH_DATE = f"""
    SELECT {_COLUMNS}, note.path_date FROM notes_note AS note
     WHERE path_date <> '' AND (:after IS NULL OR path_date > :after)
       AND (:before IS NULL OR path_date < :before)
     ORDER BY path_date {{order}}, path LIMIT :limit
"""  # noqa: S608

_BY_FIELD = f"""
    SELECT {_COLUMNS}, note.{{field}} FROM notes_note AS note
     WHERE {{field}} <> '' AND (:after IS NULL OR {{field}} > :after)
       AND (:before IS NULL OR {{field}} < :before)
     ORDER BY {{field}} {{order}}, path LIMIT :limit
"""  # noqa: S608


# -- notes -----------------------------------------------------------------------------


def note_at(db: apsw.Connection, path: str) -> Note | None:
    """The note at exactly this path from the project's root."""
    row = db.execute(_NOTE_AT, (storable(path),)).fetchone()
    if row is None:
        return None
    path, title, tags, content, superseded = row
    return Note(path, title, msgspec.json.decode(tags), content, bool(superseded))


def paths(db: apsw.Connection) -> list[str]:
    """The path of every note, in order."""
    return [path for (path,) in db.execute(_PATHS)]


def tag_counts(db: apsw.Connection) -> list[TagCount]:
    """Every tag, the most used first."""
    return [TagCount(*row) for row in db.execute(_TAG_COUNTS)]


def counts(db: apsw.Connection) -> Mapping[str, int]:
    """How much is indexed."""
    names = ("notes", "chunks", "tags", "superseded")
    row = db.execute(_COUNTS).fetchone() or (0,) * len(names)
    return dict(zip(names, row, strict=True))


def count_notes(db: apsw.Connection) -> int:
    number: int = db.execute(_COUNT_NOTES).get
    return number


def listed(db: apsw.Connection, limit: int, offset: int) -> list[ListedNote]:
    """Notes by path."""
    return [_listed(row) for row in db.execute(_LISTED, (limit, offset))]


def tagged(
    db: apsw.Connection, tag: str, limit: int, *, shuffled: bool
) -> list[ListedNote]:
    """Notes that carry *tag*, by path or by chance."""
    asked = {"tags": array(_meant(db, tag)), "limit": limit, "shuffled": shuffled}
    return [_listed(row) for row in db.execute(_TAGGED, asked)]


def titled(db: apsw.Connection, part: str, limit: int) -> list[ListedNote]:
    """Notes whose title contains *part*, whatever its case."""
    wanted = lexicon.fold(part)
    found: list[ListedNote] = []
    for row in db.execute(_TITLED):
        if wanted in lexicon.fold(row[1]):
            found.append(_listed(row))
            if len(found) == limit:
                break
    return found


def containing(
    db: apsw.Connection, words: Sequence[str], limit: int
) -> list[tuple[ListedNote, str]]:
    """Notes whose title or content contains one of *words*, with their content."""
    wanted = [lexicon.fold(word) for word in words]
    found: list[tuple[ListedNote, str]] = []
    for *row, content in db.execute(_TEXTS):
        text = lexicon.fold(f"{row[1]}\n{content}")
        if any(word in text for word in wanted):
            found.append((_listed(row), content))
            if len(found) == limit:
                break
    return found


def by_path_date(
    db: apsw.Connection, order: Order, after: str | None, before: str | None, limit: int
) -> list[tuple[ListedNote, str]]:
    """Notes with a date in their path, and that date; the bounds are not included."""
    asked = {"after": after, "before": before, "limit": limit}
    rows = db.execute(_BY_PATH_DATE.format(order=order), asked)
    return [(_listed(row), date) for *row, date in rows]


def by_front_matter_date(
    db: apsw.Connection,
    field: DateField,
    order: Order,
    after: str | None,
    before: str | None,
    limit: int,
) -> list[tuple[ListedNote, str]]:
    """Notes with that field, and its text; compared as text, bounds not included."""
    asked = {"after": after, "before": before, "limit": limit}
    rows = db.execute(_BY_FIELD.format(field=field, order=order), asked)
    return [(_listed(row), date) for *row, date in rows]


# -- chunks ----------------------------------------------------------------------------


def chunks_of_tags(db: apsw.Connection, tags: Iterable[str]) -> list[int]:
    """The chunks of notes that carry one of *tags*, whichever.

    Also of those that are superseded, which no index has: to look would take longer.
    """
    meant = {each for tag in tags for each in _meant(db, tag)}
    return [row for (row,) in db.execute(_CHUNKS_OF_TAGS, (array(meant),))]


def chunk_texts(db: apsw.Connection, rows: Iterable[int]) -> dict[int, ChunkText]:
    return {row[0]: ChunkText(*row) for row in db.execute(_CHUNK_TEXTS, (array(rows),))}


def chunk_places(
    db: apsw.Connection, rows: Iterable[int]
) -> dict[int, tuple[str, int]]:
    """Where each chunk stands: its note's path, and its number in the note."""
    found = db.execute(_CHUNK_PLACES, (array(rows),))
    return {row: (path, ordinal) for row, path, ordinal in found}


def some_chunks(
    db: apsw.Connection,
    limit: int,
    besides: Iterable[int],
    among: Iterable[int] | None,
) -> list[int]:
    """The first chunks by path that are not among *besides*; of *among* if given."""
    asked = {"limit": limit, "besides": array(besides)}
    if among is None:
        rows = db.execute(_SOME_CHUNKS, asked)
    else:
        rows = db.execute(_SOME_CHUNKS_AMONG, {**asked, "among": array(among)})
    return [row for (row,) in rows]


def with_long_words(db: apsw.Connection, words: Sequence[str]) -> set[int]:
    """Chunks that contain every one of *words*, folded and too long for the index."""
    found: set[int] = set()
    for row, *texts in db.execute(_LONG_WORDS):
        text = lexicon.fold("\n".join(texts))
        if all(word in text for word in words):
            found.add(row)
    return found


def passages(db: apsw.Connection, rows: Sequence[int]) -> dict[int, PassageText]:
    """What is embedded of each chunk."""
    return {
        row: passage(
            title,
            msgspec.json.decode(tags, type=list[str]),
            context_after(before) if before else "",
            parent_heading,
            heading,
            content,
        )
        for row, title, tags, parent_heading, heading, content, before in db.execute(
            _PASSAGES, (array(rows),)
        )
    }


def _meant(db: apsw.Connection, tag: str) -> list[str]:
    """The tags somebody means: that one, or what differs from it in case alone."""
    tag = storable(tag).strip()
    for written in dict.fromkeys((tag, tag.lstrip("#").strip())):
        if db.execute(_HAS_TAG, (written,)).get:
            return [written]
    folded = lexicon.fold(tag.lstrip("#").strip())
    return [each for (each,) in db.execute(_TAGS_LIKE, (folded,))]


def _listed(row: Sequence[str]) -> ListedNote:
    path, title, tags = row
    return ListedNote(path, title, msgspec.json.decode(tags))

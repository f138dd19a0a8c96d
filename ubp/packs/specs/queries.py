"""What is known of specifications: all SQL of the pack that only reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakSet

import apsw
import msgspec

from ubp.packs.specs.passages import passage
from ubp.packs.specs.snapshots import SectionRow
from ubp.store.parameters import array
from ubp.store.vectors import Passage
from ubp.toolkit import PassageText

__all__ = (
    "Occurrences",
    "PlacedSection",
    "SnapshotRow",
    "StoredPage",
    "StoredSection",
    "average_size",
    "containing",
    "counts",
    "counts_of",
    "documents",
    "having",
    "named",
    "newest",
    "of_version",
    "passages",
    "passages_of",
    "placed",
    "rows_within",
    "sections",
    "sharing",
    "snapshots",
    "stored_pages",
    "stored_sections",
)


class SnapshotRow(NamedTuple):
    """One document on one day."""

    id: int
    language: str
    doc: str
    version: str
    fetched_at: str
    source_url: str


class StoredPage(NamedTuple):
    """A page that a snapshot was made from."""

    path: str
    address: str
    digest: str
    etag: str | None
    carried: bool


class StoredSection(NamedTuple):
    """A section, its row and its place."""

    id: int
    ordinal: int
    row: SectionRow


class PlacedSection(NamedTuple):
    """What of a section is needed to plan with it, or to compare."""

    section_id: str
    title: str
    path: str
    url: str
    length: int


_SNAPSHOT = "SELECT id, language, doc, version, fetched_at, source_url"
_NEWEST = f"""
    {_SNAPSHOT} FROM specs_snapshot WHERE language = ? AND doc = ?
     ORDER BY fetched_at DESC, id DESC LIMIT 1
"""
_OF_VERSION = f"""
    {_SNAPSHOT} FROM specs_snapshot WHERE language = ? AND doc = ? AND version = ?
"""
_SNAPSHOTS = f"""
    {_SNAPSHOT} FROM specs_snapshot WHERE language = ?
     ORDER BY fetched_at DESC, id DESC
"""

_DOCUMENTS = "SELECT DISTINCT language, doc FROM specs_snapshot ORDER BY language, doc"

_COUNTS = """
    SELECT (SELECT count(*) FROM specs_snapshot), (SELECT count(*) FROM specs_section)
"""

_PAGES = """
    SELECT path, address, digest, etag, carried FROM specs_page
     WHERE snapshot_id = ? ORDER BY ordinal
"""

_SECTION = """
    SELECT specs_section.id, ordinal, page, section_id, long_id, bare_id, anchor, title,
           specs_section.path, url, fulltext, policy
      FROM specs_section
"""
_STORED = f"{_SECTION} WHERE snapshot_id = ? ORDER BY ordinal"
_BY_ID = f"{_SECTION} JOIN json_each(?) AS wanted ON wanted.value = specs_section.id"
_NAMED = f"""
    {_SECTION}
     WHERE snapshot_id = :snapshot AND (section_id = :name OR long_id = :name)
     ORDER BY section_id = :name DESC, ordinal LIMIT 1
"""
_SHARING = """
    SELECT section_id FROM specs_section
     WHERE snapshot_id = ? AND bare_id = ? AND section_id <> ? ORDER BY ordinal
"""
_PLACED = """
    SELECT section_id, title, path, url, length(fulltext) FROM specs_section
     WHERE snapshot_id = ? ORDER BY ordinal
"""

_PASSAGES_OF = "SELECT id, passage, language FROM specs_section WHERE snapshot_id = ?"
_PASSAGES = """
    SELECT id, path, fulltext, policy FROM specs_section
     WHERE id IN (SELECT value FROM json_each(?))
"""

_WITHIN = """
    SELECT id, ordinal, size FROM specs_section
     WHERE snapshot_id = :snapshot
       AND (coalesce(:prefix, '') = '' OR path = :prefix
            OR substr(path, 1, length(:prefix) + 3) = :prefix || ' > ')
"""
_AVERAGE_SIZE = "SELECT count(*), avg(size) FROM specs_section WHERE snapshot_id = ?"

# The plus keeps FTS5 from looking the words up once for each row.
_HAVING = """
    SELECT rowid, specs_counts(specs_text) FROM specs_text
     WHERE specs_text MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""
_IN_SNAPSHOT = """
    SELECT count(*)
      FROM specs_text JOIN specs_section ON specs_section.id = specs_text.rowid
     WHERE specs_text MATCH ? AND snapshot_id = ?
"""
_CONTAINING = """
    SELECT id, fulltext FROM specs_section
     WHERE snapshot_id = ? AND instr(fulltext, ?) > 0
"""


def newest(db: apsw.Connection, language: str, doc: str) -> SnapshotRow | None:
    """The snapshot of a document that was fetched last."""
    return _snapshot(db.execute(_NEWEST, (language, doc)).fetchone())


def of_version(
    db: apsw.Connection, language: str, doc: str, version: str
) -> SnapshotRow | None:
    return _snapshot(db.execute(_OF_VERSION, (language, doc, version)).fetchone())


def _snapshot(row: Any) -> SnapshotRow | None:
    return None if row is None else SnapshotRow(*row)


def snapshots(db: apsw.Connection, language: str) -> list[SnapshotRow]:
    """All of a language's snapshots, the newest first."""
    return [SnapshotRow(*row) for row in db.execute(_SNAPSHOTS, (language,))]


def documents(db: apsw.Connection) -> dict[str, list[str]]:
    """The documents that have a snapshot, by language; all sorted."""
    found: dict[str, list[str]] = {}
    for language, doc in db.execute(_DOCUMENTS):
        found.setdefault(language, []).append(doc)
    return found


def counts(db: apsw.Connection) -> Mapping[str, int]:
    ((snapshots_, sections_),) = db.execute(_COUNTS)
    if not snapshots_:
        return {}  # most projects ingest none, and need not be told so
    return {"snapshots of specifications": snapshots_, "sections in them": sections_}


def stored_pages(db: apsw.Connection, snapshot: int) -> list[StoredPage]:
    """What a snapshot was made from, in order."""
    return [
        StoredPage(path, address, digest, etag, bool(carried))
        for path, address, digest, etag, carried in db.execute(_PAGES, (snapshot,))
    ]


def stored_sections(db: apsw.Connection, snapshot: int) -> list[StoredSection]:
    """All sections of a snapshot with their text, in order."""
    return [_stored(row) for row in db.execute(_STORED, (snapshot,))]


def sections(db: apsw.Connection, rows: Iterable[int]) -> dict[int, StoredSection]:
    """The sections of these rows."""
    found = (_stored(row) for row in db.execute(_BY_ID, (array(rows),)))
    return {each.id: each for each in found}


def named(db: apsw.Connection, snapshot: int, name: str) -> StoredSection | None:
    """The section of this name, short or long."""
    row = db.execute(_NAMED, {"snapshot": snapshot, "name": name}).fetchone()
    return None if row is None else _stored(row)


def sharing(
    db: apsw.Connection, snapshot: int, name: str, section_id: str
) -> list[str]:
    """Other sections whose heading would call them *name*, too."""
    found = db.execute(_SHARING, (snapshot, name, section_id))
    return [ident for (ident,) in found]


def placed(db: apsw.Connection, snapshot: int) -> list[PlacedSection]:
    """All sections of a snapshot without their text, in order."""
    return [PlacedSection(*row) for row in db.execute(_PLACED, (snapshot,))]


def passages_of(db: apsw.Connection, snapshot: int) -> list[Passage]:
    """What is to be embedded of a snapshot."""
    return [Passage(*row) for row in db.execute(_PASSAGES_OF, (snapshot,))]


def passages(db: apsw.Connection, rows: Sequence[int]) -> dict[int, PassageText]:
    """The texts to embed of these sections."""
    return {
        row: passage(path, fulltext, policy)
        for row, path, fulltext, policy in db.execute(_PASSAGES, (array(rows),))
    }


_COUNTING: WeakSet[apsw.Connection] = WeakSet()
"""Connections that know how to count."""


# -- finding ---------------------------------------------------------------------------


class Within(NamedTuple):
    """A section that may be found: its place and its number of words."""

    ordinal: int
    size: int


def rows_within(
    db: apsw.Connection, snapshot: int, prefix: str | None
) -> dict[int, Within]:
    """The sections of a snapshot, of those under the path *prefix* if it is given."""
    values = {"snapshot": snapshot, "prefix": prefix}
    return {row: Within(*rest) for row, *rest in db.execute(_WITHIN, values)}


def average_size(db: apsw.Connection, snapshot: int) -> tuple[int, float]:
    """How many sections there are, and the words of an average one."""
    ((number, average),) = db.execute(_AVERAGE_SIZE, (snapshot,))
    return number, average or 1.0


class Occurrences(NamedTuple):
    """How often a phrase stands in each part of a section."""

    title: int
    path: int
    content: int


def having(
    db: apsw.Connection, match: str, rows: Iterable[int]
) -> dict[int, list[Occurrences]]:
    """Those of *rows* that match, and how often each phrase of *match* is in them."""
    if db not in _COUNTING:
        # Once only: SQLite keeps every function it was ever given.
        db.register_fts5_function("specs_counts", _counts)
        _COUNTING.add(db)
    found = db.execute(_HAVING, (match, array(rows)))
    return {row: _DECODER.decode(counted) for row, counted in found}


def _counts(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    phrases = range(api.phrase_count)
    counted = [[len(each) for each in api.phrase_locations(n)] for n in phrases]
    return msgspec.json.encode(counted).decode()


def counts_of(db: apsw.Connection, snapshot: int, matches: Sequence[str]) -> list[int]:
    """In how many sections of a snapshot each expression stands."""
    return [db.execute(_IN_SNAPSHOT, (match, snapshot)).get for match in matches]


def containing(db: apsw.Connection, snapshot: int, text: str) -> dict[int, str]:
    """The sections whose text contains *text* as it stands, and their texts."""
    return dict(db.execute(_CONTAINING, (snapshot, text)))


_DECODER = msgspec.json.Decoder(list[Occurrences])


def _stored(row: Any) -> StoredSection:
    ident, ordinal, page, *rest = row
    names = (
        "section_id",
        "long_id",
        "bare_id",
        "anchor",
        "title",
        "path",
        "url",
        "fulltext",
        "policy",
    )
    values = dict(zip(names, rest, strict=True))
    return StoredSection(ident, ordinal, SectionRow(page=page, **values))

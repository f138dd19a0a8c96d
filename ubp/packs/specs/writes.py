"""Store snapshots: all SQL of the pack that changes something."""

from collections.abc import Iterable

import apsw
from msgspec.structs import asdict

from ubp.packs.specs import queries
from ubp.packs.specs.passages import PACK_NAME
from ubp.packs.specs.queries import StoredSection
from ubp.packs.specs.snapshots import Outcome, SectionRow, Snapshot, index_text
from ubp.store import vectors
from ubp.store.connection import transaction
from ubp.store.parameters import array
from ubp.store.vectors import Passage

__all__ = ("store",)

_SET_SNAPSHOT = """
    INSERT INTO specs_snapshot (language, doc, version, fetched_at, etag, source_url)
    VALUES (:language, :doc, :version, :fetched_at, :etag, :source_url)
        ON CONFLICT (language, doc, version) DO UPDATE
       SET fetched_at = excluded.fetched_at, etag = excluded.etag,
           source_url = excluded.source_url
    RETURNING id
"""

_FORGET_PAGES = "DELETE FROM specs_page WHERE snapshot_id = ?"

_ADD_PAGE = """
    INSERT INTO specs_page (snapshot_id, ordinal, path, address, digest, etag, carried)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""

_CARRIED_NO_MORE = """
    UPDATE specs_page SET carried = 0
     WHERE snapshot_id = ? AND path IN (SELECT value FROM json_each(?))
"""

_ADD_SECTION = """
    INSERT INTO specs_section (
        snapshot_id, ordinal, page, section_id, long_id, bare_id, anchor, title, path,
        url, fulltext, policy, size, passage, language
    ) VALUES (
        :snapshot, :ordinal, :page, :section_id, :long_id, :bare_id, :anchor, :title,
        :path, :url, :fulltext, :policy, :size, :passage, :language
    )
"""

_CHANGE_SECTION = """
    UPDATE specs_section
       SET ordinal = :ordinal, page = :page, long_id = :long_id, bare_id = :bare_id,
           anchor = :anchor, title = :title, path = :path, url = :url,
           fulltext = :fulltext, policy = :policy, size = :size, passage = :passage,
           language = :language
     WHERE id = :id
"""

_MOVE_SECTION = "UPDATE specs_section SET ordinal = ?, page = ? WHERE id = ?"

_REMOVE_SECTION = "DELETE FROM specs_section WHERE id = ?"

_ADD_WORDS = "INSERT INTO specs_text (rowid, title, path, content) VALUES (?, ?, ?, ?)"

_REMOVE_WORDS = "DELETE FROM specs_text WHERE rowid = ?"


def store(db: apsw.Connection, found: Snapshot) -> Outcome:
    """Make *found* a snapshot, unless the newest one was made from the same pages.

    One transaction: until it is committed, the snapshot before is what is served.
    """
    with transaction(db):
        newest = queries.newest(db, found.language, found.doc)
        before = queries.stored_sections(db, newest.id) if newest else []
        counts = _compared(before, found)
        previous = newest.version if newest else None
        if newest is not None and _is_same(db, newest.id, before, found):
            had = [page.path for page in found.pages if not page.carried]
            _confirm(db, newest.id, had)
            return Outcome(newest.version, previous, **counts)
        snapshot = _set_snapshot(db, found)
        _set_sections(db, snapshot, found.sections)
        now = queries.newest(db, found.language, found.doc)
        if now is not None:
            _let_be_found_by_meaning(db, now.id, newest.id if newest else None)
        version = now.version if now else found.version
        return Outcome(version, previous, **counts)


def _compared(before: list[StoredSection], found: Snapshot) -> dict[str, int]:
    old = {each.row.section_id: each.row for each in before}
    new = {each.section_id: each for each in found.sections}
    carried = {n for n, page in enumerate(found.pages) if page.carried}
    same = sum(_alike(old[ident], new[ident]) for ident in old.keys() & new.keys())
    return {
        "inserted": len(new.keys() - old.keys()),
        "updated": len(old.keys() & new.keys()) - same,
        "unchanged": same,
        "removed": len(old.keys() - new.keys()),
        "carried_over": sum(each.page in carried for each in found.sections),
    }


def _alike(old: SectionRow, new: SectionRow) -> bool:
    """Whether nothing that is shown of a section differs; its place may."""
    return _shown(old) == _shown(new)


def _shown(section: SectionRow) -> tuple[str, ...]:
    return (
        section.title,
        section.path,
        section.url,
        section.fulltext,
        section.policy,
    )


def _is_same(
    db: apsw.Connection, newest: int, before: list[StoredSection], found: Snapshot
) -> bool:
    """Whether the newest snapshot was made from exactly these pages, in this way."""
    pages = [(page.path, page.digest) for page in queries.stored_pages(db, newest)]
    return pages == [(page.path, page.digest) for page in found.pages] and [
        each.row for each in before
    ] == list(found.sections)


def _confirm(db: apsw.Connection, snapshot: int, had: list[str]) -> None:
    """What was carried over has been had now, and is as it was."""
    carried = {each.path for each in queries.stored_pages(db, snapshot) if each.carried}
    if not carried.isdisjoint(had):
        db.execute(_CARRIED_NO_MORE, (snapshot, array(had)))


def _set_snapshot(db: apsw.Connection, found: Snapshot) -> int:
    values = {
        "language": found.language,
        "doc": found.doc,
        "version": found.version,
        "fetched_at": found.fetched_at,
        "etag": found.pages[0].etag if found.pages else None,
        "source_url": found.source_url,
    }
    snapshot: int = db.execute(_SET_SNAPSHOT, values).get
    db.execute(_FORGET_PAGES, (snapshot,))
    db.executemany(
        _ADD_PAGE,
        [
            (
                snapshot,
                number,
                page.path,
                page.address,
                page.digest,
                page.etag,
                page.carried,
            )
            for number, page in enumerate(found.pages)
        ],
    )
    return snapshot


def _set_sections(
    db: apsw.Connection, snapshot: int, sections: tuple[SectionRow, ...]
) -> None:
    """A section keeps its row, and so what belongs to it, if it is the same."""
    old = {each.row.section_id: each for each in queries.stored_sections(db, snapshot)}
    for ordinal, section in enumerate(sections):
        known = old.pop(section.section_id, None)
        if known is not None and known.row == section:
            if known.ordinal != ordinal:
                db.execute(_MOVE_SECTION, (ordinal, section.page, known.id))
            continue
        derived = index_text(section)
        values = {
            **asdict(section),
            "snapshot": snapshot,
            "ordinal": ordinal,
            "size": derived.size,
            "passage": derived.passage,
            "language": derived.language,
        }
        if known is None:
            db.execute(_ADD_SECTION, values)
            row = db.last_insert_rowid()
        else:
            row = known.id
            db.execute(_REMOVE_WORDS, (row,))
            db.execute(_CHANGE_SECTION, {**values, "id": row})
        words = (derived.title, derived.path, derived.content)
        db.execute(_ADD_WORDS, (row, *words))
    _forget(db, [each.id for each in old.values()])


def _forget(db: apsw.Connection, rows: Iterable[int]) -> None:
    rows = list(rows)
    db.executemany(_REMOVE_WORDS, [(row,) for row in rows])
    db.executemany(_REMOVE_SECTION, [(row,) for row in rows])
    vectors.forget(db, PACK_NAME, rows)


def _let_be_found_by_meaning(
    db: apsw.Connection, newest: int, before: int | None
) -> None:
    """Only the newest snapshot of a document has vectors; equal texts keep theirs."""
    if before is not None and before != newest:
        rows = [each.row for each in queries.passages_of(db, before)]
        vectors.forget(db, PACK_NAME, rows)
    passages = [Passage(*each) for each in queries.passages_of(db, newest)]
    vectors.note(db, PACK_NAME, passages)

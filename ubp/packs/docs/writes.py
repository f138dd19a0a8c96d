"""Store pages: all SQL of the docs pack that changes something.

Every function runs inside the writer's transaction.
"""

import apsw
import msgspec

from ubp.packs.docs import links
from ubp.packs.docs.records import PageRecord, SectionRecord
from ubp.packs.docs.resolution import Candidate, resolved
from ubp.packs.docs.text_index import SECTIONS
from ubp.store.fulltext import IndexedText
from ubp.store.ids import new_id, now

__all__ = ("forget", "optimize", "save", "settle")

_PAGE = "SELECT id, digest, title_key FROM docs_page WHERE path = ?"

_INSERT_PAGE = """
    INSERT INTO docs_page (doc_id, path, title, doc_type, tags, front_matter, digest,
                           created_at, updated_at, path_key, name_key, title_key)
    VALUES (:doc_id, :path, :title, :doc_type, :tags, :front_matter, :digest,
            :now, :now, :path_key, :name_key, :title_key)
"""

_UPDATE_PAGE = """
    UPDATE docs_page
       SET title = :title, doc_type = :doc_type, tags = :tags,
           front_matter = :front_matter, title_key = :title_key,
           updated_at = iif(digest = :digest, updated_at, :now), digest = :digest
     WHERE id = :id
"""

_DELETE_PAGE = "DELETE FROM docs_page WHERE id = ?"

_DELETE_NAME = "DELETE FROM docs_name WHERE rowid = ?"

_INSERT_NAME = "INSERT INTO docs_name (rowid, name) VALUES (?, ?)"

_SECTIONS = "SELECT ordinal, id, digest FROM docs_section WHERE page_id = ?"

_INSERT_SECTION = """
    INSERT INTO docs_section (page_id, ordinal, heading, level, heading_path, continued,
                              content, folded, has_long_word, digest, tokens)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_UPDATE_SECTION = """
    UPDATE docs_section
       SET heading = ?, level = ?, heading_path = ?, continued = ?,
           content = ?, folded = ?, has_long_word = ?, digest = ?, tokens = ?
     WHERE id = ?
"""

_DELETE_SECTION = "DELETE FROM docs_section WHERE id = ?"

_DELETE_LINKS = "DELETE FROM docs_link WHERE source_id = ?"

_INSERT_LINK = """
    INSERT INTO docs_link (source_id, section, style, target, type, fragment, optional,
                           context, name_key, title_key)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_UNSETTLE_TARGET = """
    UPDATE docs_link SET target_id = NULL, settled = 0 WHERE target_id = ?
"""

_DELETE_REFS = "DELETE FROM docs_source_ref WHERE page_id = ?"

_INSERT_REF = """
    INSERT INTO docs_source_ref (page_id, ordinal, path, digest,
                                 size, mtime_ns, ctime_ns, synced_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

_UNSETTLE_NAME = "INSERT OR IGNORE INTO docs_unsettled_name (key) VALUES (?)"

_SOURCES_TO_SETTLE = """
    SELECT source_id FROM docs_link WHERE NOT settled
    UNION
    SELECT source_id FROM docs_link JOIN docs_unsettled_name ON name_key = key
    UNION
    SELECT source_id FROM docs_link JOIN docs_unsettled_name ON title_key = key
"""

_LINKS_OF = """
    SELECT link.id, page.path, link.style, link.target, link.type, link.optional,
           link.target_id, link.ambiguous, link.hidden, link.settled
      FROM docs_link AS link JOIN docs_page AS page ON page.id = link.source_id
     WHERE link.source_id = ?
     ORDER BY link.id
"""

_SETTLE_LINK = """
    UPDATE docs_link SET target_id = ?, ambiguous = ?, hidden = ?, settled = 1
     WHERE id = ?
"""

_SETTLED = "DELETE FROM docs_unsettled_name"

_BY_PATH = "SELECT id, path FROM docs_page WHERE path_key = ? ORDER BY path"
_BY_NAME = "SELECT id, path FROM docs_page WHERE name_key = ? ORDER BY path"
_BY_TITLE = "SELECT id, path FROM docs_page WHERE title_key = ? ORDER BY path"


def save(db: apsw.Connection, path: str, digest: str, record: PageRecord) -> None:
    """Make *record* what is known of the page at *path*."""
    title_key = links.key_of(record.title)
    path_key = links.key_of(path)
    values = {
        "path": path,
        "title": record.title,
        "doc_type": record.doc_type,
        "tags": msgspec.json.encode(record.tags).decode(),
        "front_matter": record.front_matter,
        "digest": digest,
        "now": now(),
        "path_key": path_key,
        "name_key": path_key.rpartition("/")[2],
        "title_key": title_key,
    }
    known = db.execute(_PAGE, (path,)).fetchone()
    if known is None:
        db.execute(_INSERT_PAGE, {**values, "doc_id": new_id()})
        page_id = db.last_insert_rowid()
        _unsettle(db, {*_names(path_key), title_key})
    else:
        page_id, _, old_title_key = known
        db.execute(_UPDATE_PAGE, {**values, "id": page_id})
        db.execute(_DELETE_NAME, (page_id,))
        if old_title_key != title_key:
            _unsettle(db, {old_title_key, title_key})
    db.execute(_INSERT_NAME, (page_id, record.index_name))
    _save_sections(db, page_id, record.sections, new=known is None)
    _save_links(db, page_id, path, record)
    _save_refs(db, page_id, record)


def forget(db: apsw.Connection, path: str) -> None:
    """Remove the page at *path*; links to it lead nowhere until they are settled."""
    known = db.execute(_PAGE, (path,)).fetchone()
    if known is None:
        return
    page_id, _, title_key = known
    SECTIONS.remove(db, [row for _, row, _ in db.execute(_SECTIONS, (page_id,))])
    db.execute(_UNSETTLE_TARGET, (page_id,))
    db.execute(_DELETE_NAME, (page_id,))
    db.execute(_DELETE_PAGE, (page_id,))
    _unsettle(db, {*_names(links.key_of(path)), title_key})


def settle(db: apsw.Connection) -> None:
    """Find the targets of links whose pages, or whose names, came or went."""
    sources = [source for (source,) in db.execute(_SOURCES_TO_SETTLE)]
    pages = _Pages(db)
    for source in sources:
        _settle_source(db, source, pages)
    db.execute(_SETTLED)


def optimize(db: apsw.Connection) -> None:
    """Tidy the full-text index after many changes."""
    SECTIONS.optimize(db)


def _names(path_key: str) -> set[str]:
    """The names by which a link may look for the page at *path_key*."""
    folder, _, name = path_key.rpartition("/")
    names = {name}
    if name in links.INDEX_NAMES:  # it stands for its folder as well
        names.add(folder.rpartition("/")[2])
    return names


def _unsettle(db: apsw.Connection, names: set[str]) -> None:
    db.executemany(_UNSETTLE_NAME, [(name,) for name in names])


def _save_sections(
    db: apsw.Connection,
    page_id: int,
    sections: tuple[SectionRecord, ...],
    *,
    new: bool,
) -> None:
    """Sections keep their row by position; unchanged ones are not touched."""
    old: dict[int, tuple[int, str]] = (
        {}
        if new
        else {
            ordinal: (row, digest)
            for ordinal, row, digest in db.execute(_SECTIONS, (page_id,))
        }
    )
    removed: list[int] = []
    added: list[IndexedText] = []
    for ordinal, section in enumerate(sections):
        row, digest = old.pop(ordinal, (None, None))
        values = (
            section.heading,
            section.level,
            section.heading_path,
            section.continued,
            section.content,
            section.folded,
            section.has_long_word,
            section.digest,
            section.tokens,
        )
        if row is None:
            db.execute(_INSERT_SECTION, (page_id, ordinal, *values))
            row = db.last_insert_rowid()
        else:
            db.execute(_UPDATE_SECTION, (*values, row))
            if digest == section.digest:
                continue
            removed.append(row)
        added.append(
            IndexedText(
                row, section.index_heading, section.index_content, section.words
            )
        )
    gone = [row for row, _ in old.values()]
    SECTIONS.remove(db, [*removed, *gone])
    db.executemany(_DELETE_SECTION, [(row,) for row in gone])
    SECTIONS.add(db, added)


def _save_links(
    db: apsw.Connection, page_id: int, path: str, record: PageRecord
) -> None:
    db.execute(_DELETE_LINKS, (page_id,))
    db.executemany(
        _INSERT_LINK,
        [
            (
                page_id,
                section,
                link.style,
                link.target,
                link.type,
                link.fragment,
                link.optional,
                link.context,
                links.plan(link.style, link.target, path).name,
                links.key_of(link.target),
            )
            for link, section in zip(record.links, record.link_sections, strict=True)
        ],
    )


def _save_refs(db: apsw.Connection, page_id: int, record: PageRecord) -> None:
    db.execute(_DELETE_REFS, (page_id,))
    stamp = now()
    db.executemany(
        _INSERT_REF,
        [
            (
                page_id,
                ordinal,
                ref.path,
                ref.digest,
                *(
                    (ref.stamp.size, ref.stamp.mtime_ns, ref.stamp.ctime_ns)
                    if ref.stamp
                    else (None, None, None)
                ),
                stamp,
            )
            for ordinal, ref in enumerate(record.source_refs)
        ],
    )


def _settle_source(db: apsw.Connection, source: int, pages: "_Pages") -> None:
    """Find the targets of all links of one page, and which of them repeat others."""
    rows = list(db.execute(_LINKS_OF, (source,)))
    found = [
        resolved(links.plan(style, target, path), path, pages)
        for _, path, style, target, *_ in rows
    ]
    by_wikilink = {
        hit.page
        for (_, _, style, *_), hit in zip(rows, found, strict=True)
        if style == "wiki" and hit is not None
    }
    seen: set[tuple[int | str, str]] = set()
    for row, hit in zip(rows, found, strict=True):
        link, _, style, target, type_, optional, *state = row
        page = hit.page if hit else None
        mark = (page if page is not None else links.key_of(target), type_)
        hidden = (
            mark in seen
            or (style == "markdown" and page in by_wikilink)
            or (page is None and bool(optional))
        )
        seen.add(mark)
        ambiguous = bool(hit and hit.ambiguous)
        if state != [page, ambiguous, hidden, True]:
            db.execute(_SETTLE_LINK, (page, ambiguous, hidden, link))


class _Pages:
    """Pages by the names links use, each looked up once."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._found: dict[tuple[str, str], list[Candidate]] = {}

    def by_path(self, key: str) -> list[Candidate]:
        return self._lookup(_BY_PATH, key)

    def by_name(self, key: str) -> list[Candidate]:
        return self._lookup(_BY_NAME, key)

    def by_title(self, key: str) -> list[Candidate]:
        return self._lookup(_BY_TITLE, key)

    def _lookup(self, statement: str, key: str) -> list[Candidate]:
        found = self._found.get((statement, key))
        if found is None:
            found = [Candidate(*row) for row in self._db.execute(statement, (key,))]
            self._found[statement, key] = found
        return found

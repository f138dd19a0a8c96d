"""Store pages: all SQL of the docs pack that changes something.

Every function runs inside the writer's transaction.
"""

from collections.abc import Iterator
from itertools import chain

import apsw
import msgspec

from ubp.packs.docs import links
from ubp.packs.docs.records import PageRecord
from ubp.packs.docs.resolution import Candidate, Group, resolved
from ubp.packs.docs.text_index import NAMES, PACK_NAME, SECTIONS
from ubp.store import vectors
from ubp.store.fulltext import IndexedText
from ubp.store.ids import new_id, now
from ubp.store.vectors import Passage

__all__ = ("PagesByName", "forget", "optimize", "rename", "save", "settle")

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

_MOVE_PAGE = "UPDATE docs_page SET path = ?, path_key = ?, name_key = ? WHERE id = ?"

_DELETE_PAGE = "DELETE FROM docs_page WHERE id = ?"


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

_UNSETTLE_LINKS_TO = "UPDATE docs_link SET settled = 0 WHERE target_id = ?"

_DELETE_REFS = "DELETE FROM docs_source_ref WHERE page_id = ?"

_INSERT_REF = """
    INSERT INTO docs_source_ref (page_id, ordinal, path, digest,
                                 size, mtime_ns, ctime_ns, synced_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

_UNSETTLE_NAME = "INSERT OR IGNORE INTO docs_unsettled_name (key) VALUES (?)"

_UNSETTLE_BY_NAME = """
    UPDATE docs_link SET settled = 0
     WHERE settled AND name_key IN (SELECT key FROM docs_unsettled_name)
"""

_UNSETTLE_BY_TITLE = """
    UPDATE docs_link SET settled = 0
     WHERE settled AND title_key IN (SELECT key FROM docs_unsettled_name)
"""

_FORGET_NAMES = "DELETE FROM docs_unsettled_name"

_SOURCES_TO_SETTLE = """
    SELECT DISTINCT source_id FROM docs_link WHERE NOT settled LIMIT ?
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

_BY_PATH = "SELECT id, path FROM docs_page WHERE path_key = ?"
_BY_NAME = "SELECT id, path, path_key FROM docs_page WHERE name_key = ?"
_BY_TITLE = "SELECT id, path FROM docs_page WHERE title_key = ?"

_AT_ONCE = 500
"""Pages whose links are settled in one transaction: nobody waits long for it."""


def save(
    db: apsw.Connection,
    path: str,
    digest: str,
    record: PageRecord,
    reset: bool = False,
) -> None:
    """Make *record* what is known of the page at *path*.

    An unchanged page that is only read again keeps its sources as they were when it
    was written; with *reset* they are noted anew.
    """
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
    # The same bytes again: then it is our reading of them that may differ.
    reread = known is not None and known[1] == digest
    if known is None:
        db.execute(_INSERT_PAGE, {**values, "doc_id": new_id()})
        page_id = db.last_insert_rowid()
        _unsettle(db, {*_names(path_key), title_key})
    else:
        page_id, _, old_title_key = known
        db.execute(_UPDATE_PAGE, {**values, "id": page_id})
        NAMES.remove(db, page_id)
        if old_title_key != title_key:
            _unsettle(db, {old_title_key, title_key})
    NAMES.add(db, page_id, record.index_name)
    new = known is None
    _save_sections(db, page_id, record, new=new, reread=reread)
    if not new:
        db.execute(_DELETE_LINKS, (page_id,))
    _save_links(db, page_id, path, record)
    if new or reset or not reread:
        if not new:
            db.execute(_DELETE_REFS, (page_id,))
        _save_refs(db, page_id, record)


def forget(db: apsw.Connection, path: str) -> None:
    """Remove the page at *path*; links to it lead nowhere until they are settled."""
    known = db.execute(_PAGE, (path,)).fetchone()
    if known is None:
        return
    page_id, _, title_key = known
    rows = [row for _, row, _ in db.execute(_SECTIONS, (page_id,))]
    SECTIONS.remove(db, rows)
    vectors.forget(db, PACK_NAME, rows)
    db.execute(_UNSETTLE_TARGET, (page_id,))
    NAMES.remove(db, page_id)
    db.execute(_DELETE_PAGE, (page_id,))
    _unsettle(db, {*_names(links.key_of(path)), title_key})


def rename(db: apsw.Connection, old: str, new: str) -> None:
    """Let the page at *old* be at *new*, with its id, its sections and its vectors.

    Its own links, and its title if the file has none, are those of its new place once
    it is saved there.
    """
    known = db.execute(_PAGE, (old,)).fetchone()
    if known is None:
        return
    page_id, _, title_key = known
    old_key, new_key = links.key_of(old), links.key_of(new)
    db.execute(_MOVE_PAGE, (new, new_key, new_key.rpartition("/")[2], page_id))
    db.execute(_UNSETTLE_LINKS_TO, (page_id,))
    # Which of several pages of a name is meant depends on where they are, so the title
    # counts as a name that came and went although it stayed the same.
    _unsettle(db, {*_names(old_key), *_names(new_key), title_key})


def settle(db: apsw.Connection) -> bool:
    """Find the targets of links whose pages, or whose names, came or went.

    Settles the links of a bounded number of pages; whether some are left to do.
    """
    for statement in (_UNSETTLE_BY_NAME, _UNSETTLE_BY_TITLE, _FORGET_NAMES):
        db.execute(statement)
    sources = [source for (source,) in db.execute(_SOURCES_TO_SETTLE, (_AT_ONCE,))]
    pages = PagesByName(db)
    settled = [each for source in sources for each in _settled(db, source, pages)]
    db.executemany(_SETTLE_LINK, settled)
    return len(sources) == _AT_ONCE


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
    record: PageRecord,
    *,
    new: bool,
    reread: bool,
) -> None:
    """Sections keep their row by position; unchanged ones keep their words as well.

    Unless the page was *reread*: then every section is written out anew.
    """
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
    rows: list[int] = []
    for ordinal, section in enumerate(record.sections):
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
            rows.append(row)
        else:
            rows.append(row)
            db.execute(_UPDATE_SECTION, (*values, row))
            if digest == section.digest and not reread:
                continue
            removed.append(row)
        added.append(
            IndexedText(row, section.index_heading, section.index_content, record.words)
        )
    gone = [row for row, _ in old.values()]
    SECTIONS.remove(db, [*removed, *gone])
    db.executemany(_DELETE_SECTION, [(row,) for row in gone])
    SECTIONS.add(db, added)
    passages = [
        Passage(row, section.passage, section.language)
        for row, section in zip(rows, record.sections, strict=True)
        if section.passage
    ]
    if new:
        vectors.note_new(db, PACK_NAME, passages)
        return
    silent = set(rows) - {passage.row for passage in passages}
    if gone or silent:
        vectors.forget(db, PACK_NAME, [*gone, *silent])
    vectors.note(db, PACK_NAME, passages)


def _save_links(
    db: apsw.Connection, page_id: int, path: str, record: PageRecord
) -> None:
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


def _settled(
    db: apsw.Connection, source: int, pages: "PagesByName"
) -> Iterator[tuple[int | None, bool, bool, int]]:
    """The targets of all links of one page, and which of them repeat others."""
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
            yield page, ambiguous, hidden, link


class PagesByName:
    """Pages by the names links use, each looked up once."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._groups: dict[tuple[str, str], Group] = {}
        self._named: dict[str, dict[str, list[tuple[Candidate, str]]]] = {}

    def by_path(self, key: str) -> Group:
        return self._group(_BY_PATH, key)

    def by_title(self, key: str) -> Group:
        return self._group(_BY_TITLE, key)

    def by_ending(self, key: str) -> Group:
        group = self._groups.get((_BY_NAME, key))
        if group is None:
            group = Group(self._ending(key))
            self._groups[_BY_NAME, key] = group
        return group

    def _group(self, statement: str, key: str) -> Group:
        group = self._groups.get((statement, key))
        if group is None:
            found = self._db.execute(statement, (key,))
            group = Group(Candidate(*row) for row in found)
            self._groups[statement, key] = group
        return group

    def _ending(self, key: str) -> Iterator[Candidate]:
        """The pages whose path ends in *key*, among those of the same name."""
        name = key.rpartition("/")[2]
        named = self._named.setdefault(name, {})
        if not named:
            # By their last two segments: a thousand pages may be called index.
            for page, path, path_key in self._db.execute(_BY_NAME, (name,)):
                entry = (Candidate(page, path), f"/{path_key}")
                named.setdefault(_tail(path_key), []).append(entry)
        near = named.get(_tail(key), []) if "/" in key else chain(*named.values())
        for candidate, path_key in near:
            if path_key.endswith(f"/{key}"):
                yield candidate


def _tail(path_key: str) -> str:
    return "/".join(path_key.split("/")[-2:])

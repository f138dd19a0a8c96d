"""Read pages: all SQL of the docs pack that only reads."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import apsw
import msgspec

from ubp.errors import PageNotFound
from ubp.messages import FileStamp
from ubp.packs.docs.passages import passage
from ubp.packs.docs.records import SourceRef
from ubp.store.parameters import array, storable
from ubp.toolkit import PassageText

__all__ = (
    "Counts",
    "Edge",
    "ListedPage",
    "Page",
    "Section",
    "StoredPage",
    "all_edges",
    "all_pages",
    "all_section_pages",
    "count_pages",
    "counts",
    "edges_among",
    "first_sections",
    "linked",
    "list_token",
    "listed",
    "named",
    "neighbours",
    "page_at",
    "page_of",
    "pages",
    "pages_after",
    "pages_of_sections",
    "passages",
    "paths",
    "section_places",
    "section_texts",
    "sections",
    "sections_of_type",
    "source_refs",
    "stored",
    "titles_alone",
    "tracked_pages",
)


class SectionPlace(NamedTuple):
    """Where a section stands: its page, the path of that, and which one it is there."""

    page: int
    path: str
    ordinal: int


class Page(NamedTuple):
    """A page without its text."""

    id: int
    doc_id: str
    path: str
    title: str
    doc_type: str
    updated_at: str


class StoredPage(NamedTuple):
    """What tells one version of a page from another."""

    id: int
    doc_id: str
    """Another one when it went and came back."""
    updated_at: str
    """Another one when its text changed."""


class ListedPage(NamedTuple):
    """A page with the number of links on it, dangling ones included."""

    page: Page
    links: int


class Section(NamedTuple):
    """A section of a page."""

    id: int
    page_id: int
    heading: str | None
    level: int
    continued: bool
    content: str


class Edge(NamedTuple):
    """A resolved link between two pages."""

    source: int
    target: int
    type: str


class Counts(NamedTuple):
    """How much is indexed."""

    pages: int
    sections: int
    links: int
    resolved: int


_COLUMNS = "page.id, page.doc_id, page.path, page.title, page.doc_type, page.updated_at"

_AT = f"SELECT {_COLUMNS} FROM docs_page AS page WHERE path = ?"  # noqa: S608
_OF = f"SELECT {_COLUMNS} FROM docs_page AS page WHERE doc_id = ?"  # noqa: S608
_ALL = f"SELECT {_COLUMNS} FROM docs_page AS page ORDER BY title, path"  # noqa: S608

_AFTER = f"""
    SELECT {_COLUMNS} FROM docs_page AS page WHERE path > ? ORDER BY path LIMIT ?
"""  # noqa: S608

_PATHS = "SELECT path FROM docs_page ORDER BY path"

_STORED = """
    SELECT page.path, page.id, page.doc_id, page.updated_at
      FROM json_each(?) JOIN docs_page AS page ON page.path = value
"""

_ALL_PATHS = """
    SELECT group_concat(path, char(0)) FROM (SELECT path FROM docs_page ORDER BY path)
"""

_PAGES = f"""
    SELECT {_COLUMNS} FROM json_each(?) JOIN docs_page AS page ON page.id = value
"""  # noqa: S608

_LISTED = f"""
    SELECT {_COLUMNS},
           (SELECT count(*) FROM docs_link AS link
             WHERE link.source_id = page.id AND NOT link.hidden)
      FROM docs_page AS page
     WHERE :doc_type IS NULL OR page.doc_type = :doc_type
"""  # noqa: S608

_SECTIONS = """
    SELECT id, page_id, heading, level, continued, content
      FROM docs_section WHERE page_id = ? ORDER BY ordinal
"""

_SECTION_TEXTS = """
    SELECT section.id, page_id, heading, level, continued, content
      FROM json_each(?) JOIN docs_section AS section ON section.id = value
"""

_PASSAGES = """
    SELECT section.id, page.title, section.heading_path, section.content
      FROM json_each(?) JOIN docs_section AS section ON section.id = value
      JOIN docs_page AS page ON page.id = section.page_id
"""

_SECTION_PAGES = """
    SELECT section.id, section.page_id
      FROM json_each(:rows) JOIN docs_section AS section ON section.id = value
      JOIN docs_page AS page ON page.id = section.page_id
     WHERE :doc_type IS NULL OR page.doc_type = :doc_type
"""

_SECTION_PLACES = """
    SELECT section.id, section.page_id, page.path, ordinal
      FROM json_each(?) JOIN docs_section AS section ON section.id = value
      JOIN docs_page AS page ON page.id = section.page_id
"""

_TITLES_ALONE = """
    SELECT section.id
      FROM json_each(?) JOIN docs_section AS section ON section.id = value
      JOIN docs_page AS page ON page.id = section.page_id
     WHERE section.content = page.title
"""

_COUNT_PAGES = """
    SELECT count(DISTINCT section.page_id)
      FROM json_each(:rows) AS wanted
      JOIN docs_section AS section ON section.id = wanted.value
      JOIN docs_page AS page ON page.id = section.page_id
     WHERE (:doc_type IS NULL OR page.doc_type = :doc_type)
       AND page.id NOT IN (SELECT value FROM json_each(:besides))
"""

_COUNT_ALL = """
    SELECT count(*) FROM docs_page WHERE (:doc_type IS NULL OR doc_type = :doc_type)
"""

_ALL_SECTION_PAGES = "SELECT id, page_id FROM docs_section"

_SECTIONS_OF_TYPE = """
    SELECT section.id
      FROM docs_page AS page JOIN docs_section AS section ON section.page_id = page.id
     WHERE page.doc_type = ?
"""

_OUTLINKS = f"""
    SELECT link.type, {_COLUMNS}
      FROM docs_link AS link JOIN docs_page AS page ON page.id = link.target_id
     WHERE link.source_id = ? AND NOT link.hidden
     ORDER BY page.title, page.path, link.type
"""  # noqa: S608

_BACKLINKS = f"""
    SELECT link.type, {_COLUMNS}
      FROM docs_link AS link JOIN docs_page AS page ON page.id = link.source_id
     WHERE link.target_id = ? AND NOT link.hidden
     ORDER BY page.title, page.path, link.type
"""  # noqa: S608

_FORWARD = """
    SELECT link.source_id, link.target_id, link.type
      FROM json_each(?) JOIN docs_link AS link ON link.source_id = value
      JOIN docs_page AS source ON source.id = link.source_id
     WHERE link.target_id IS NOT NULL AND NOT link.hidden
     ORDER BY source.path, link.id
"""

_BACKWARD = """
    SELECT link.source_id, link.target_id, link.type
      FROM json_each(?) JOIN docs_link AS link ON link.target_id = value
      JOIN docs_page AS source ON source.id = link.source_id
     WHERE NOT link.hidden
     ORDER BY source.path, link.id
"""

_ALL_EDGES = """
    SELECT link.source_id, link.target_id, link.type
      FROM docs_link AS link JOIN docs_page AS source ON source.id = link.source_id
     WHERE link.target_id IS NOT NULL AND NOT link.hidden
     ORDER BY source.path, link.id
"""

_REFS = """
    SELECT page_id, docs_source_ref.path, digest, size, mtime_ns, ctime_ns
      FROM json_each(?) JOIN docs_source_ref ON page_id = value
     ORDER BY page_id, ordinal
"""

_TRACKED = f"""
    SELECT {_COLUMNS} FROM docs_page AS page
     WHERE EXISTS (SELECT 1 FROM docs_source_ref WHERE page_id = page.id)
     ORDER BY path
"""  # noqa: S608

_COUNTS = """
    SELECT (SELECT count(*) FROM docs_page),
           (SELECT count(*) FROM docs_section),
           (SELECT count(*) FROM docs_link WHERE NOT hidden),
           (SELECT count(*) FROM docs_link WHERE NOT hidden AND target_id IS NOT NULL)
"""

_NAMED = "SELECT rowid FROM docs_name WHERE docs_name MATCH ?"

_FIRST_SECTIONS = """
    SELECT page_id, docs_section.id
      FROM json_each(:pages) JOIN docs_section ON page_id = json_each.value
      JOIN docs_page AS page ON page.id = page_id
     WHERE ordinal = 0 AND (:doc_type IS NULL OR page.doc_type = :doc_type)
"""

_SUMMARY = """
    SELECT page_id, content FROM json_each(?) JOIN docs_section ON page_id = value
     WHERE ordinal < 64 ORDER BY page_id, ordinal
"""


def page_at(db: apsw.Connection, path: str) -> Page:
    """The page at a path in the docs folder.

    Raises:
        PageNotFound: There is no such page.
    """
    row = db.execute(_AT, (storable(path),)).fetchone()
    if row is None:
        raise PageNotFound(path)
    return Page(*row)


def page_of(db: apsw.Connection, ident: str) -> Page:
    """The page with this id, or else at this path."""
    row = db.execute(_OF, (storable(ident),)).fetchone()
    return Page(*row) if row is not None else page_at(db, ident)


def pages(db: apsw.Connection, ids: Iterable[int]) -> dict[int, Page]:
    return {row[0]: Page(*row) for row in db.execute(_PAGES, (array(ids),))}


def all_pages(db: apsw.Connection) -> list[Page]:
    """Every page, by title."""
    return [Page(*row) for row in db.execute(_ALL)]


def pages_after(db: apsw.Connection, path: str, limit: int) -> list[Page]:
    """The next pages by path."""
    return [Page(*row) for row in db.execute(_AFTER, (storable(path), limit))]


def paths(db: apsw.Connection) -> list[str]:
    """The path of every page, in order."""
    return [path for (path,) in db.execute(_PATHS)]


def stored(db: apsw.Connection, paths: Iterable[str]) -> dict[str, StoredPage]:
    """Those of the pages at *paths* that there are."""
    wanted = msgspec.json.encode([storable(path) for path in paths]).decode()
    return {path: StoredPage(*row) for path, *row in db.execute(_STORED, (wanted,))}


def list_token(db: apsw.Connection) -> int:
    """Something that is another when pages came, went or were moved."""
    every_path: str | None = db.execute(_ALL_PATHS).get
    return hash(every_path)


def tracked_pages(db: apsw.Connection) -> list[Page]:
    """The pages that name source files, by path."""
    return [Page(*row) for row in db.execute(_TRACKED)]


def listed(db: apsw.Connection, doc_type: str | None) -> list[ListedPage]:
    """The pages of a type, or all of them, in no particular order."""
    rows = db.execute(_LISTED, {"doc_type": doc_type})
    return [ListedPage(Page(*row[:-1]), row[-1]) for row in rows]


def sections(db: apsw.Connection, page_id: int) -> list[Section]:
    return [_section(row) for row in db.execute(_SECTIONS, (page_id,))]


def section_texts(db: apsw.Connection, ids: Iterable[int]) -> dict[int, Section]:
    return {row[0]: _section(row) for row in db.execute(_SECTION_TEXTS, (array(ids),))}


def titles_alone(db: apsw.Connection, rows: Iterable[int]) -> set[int]:
    """Those of *rows* that hold nothing but the title of their page."""
    return {row for (row,) in db.execute(_TITLES_ALONE, (array(rows),))}


def pages_of_sections(
    db: apsw.Connection, rows: Iterable[int], doc_type: str | None
) -> dict[int, int]:
    """The page of each section, leaving out those of another type."""
    values = {"rows": array(rows), "doc_type": doc_type}
    return dict(db.execute(_SECTION_PAGES, values))


def section_places(db: apsw.Connection, rows: Iterable[int]) -> dict[int, SectionPlace]:
    """Where each of these sections stands."""
    found = db.execute(_SECTION_PLACES, (array(rows),))
    return {row: SectionPlace(*place) for row, *place in found}


def count_pages(
    db: apsw.Connection,
    rows: Iterable[int],
    besides: Iterable[int],
    doc_type: str | None,
) -> int:
    """How many pages these sections belong to, not counting the pages in *besides*."""
    values = {
        "rows": array(rows),
        "besides": array(set(besides)),
        "doc_type": doc_type,
    }
    count: int = db.execute(_COUNT_PAGES, values).get
    return count


def count_all(db: apsw.Connection, doc_type: str | None) -> int:
    """How many pages there are."""
    count: int = db.execute(_COUNT_ALL, {"doc_type": doc_type}).get
    return count


def all_section_pages(db: apsw.Connection) -> dict[int, int]:
    """The page of every section."""
    return dict(db.execute(_ALL_SECTION_PAGES))


def sections_of_type(db: apsw.Connection, doc_type: str) -> list[int]:
    """The sections of all pages of a type."""
    return [row for (row,) in db.execute(_SECTIONS_OF_TYPE, (doc_type,))]


def linked(
    db: apsw.Connection, page_id: int, direction: Literal["outlink", "backlink"]
) -> list[tuple[str, Page]]:
    """The pages linked from, or to, a page, with the type of each link."""
    statement = _OUTLINKS if direction == "outlink" else _BACKLINKS
    return [(type_, Page(*row)) for type_, *row in db.execute(statement, (page_id,))]


def neighbours(
    db: apsw.Connection, ids: Iterable[int], direction: Literal["outlink", "backlink"]
) -> list[Edge]:
    """The links that leave, or reach, any of these pages, in the order of writing."""
    statement = _FORWARD if direction == "outlink" else _BACKWARD
    return [Edge(*row) for row in db.execute(statement, (array(ids),))]


def all_edges(db: apsw.Connection) -> list[Edge]:
    return [Edge(*row) for row in db.execute(_ALL_EDGES)]


def edges_among(db: apsw.Connection, ids: Sequence[int]) -> list[Edge]:
    """The links whose two ends are both among these pages."""
    inside = set(ids)
    return [edge for edge in neighbours(db, ids, "outlink") if edge.target in inside]


def passages(db: apsw.Connection, rows: Iterable[int]) -> dict[int, PassageText]:
    """What is embedded of each section."""
    found = db.execute(_PASSAGES, (array(rows),))
    return {row: passage(*texts) for row, *texts in found}


def source_refs(db: apsw.Connection, ids: Iterable[int]) -> dict[int, list[SourceRef]]:
    """The source files each page names, with how they were when it was read."""
    found: dict[int, list[SourceRef]] = {}
    for page_id, path, digest, size, mtime, ctime in db.execute(_REFS, (array(ids),)):
        stamp = None if size is None else FileStamp(size, mtime, ctime)
        found.setdefault(page_id, []).append(SourceRef(path, digest, stamp))
    return found


def summaries(db: apsw.Connection, ids: Iterable[int], length: int) -> dict[int, str]:
    """The first *length* characters of each page's text."""
    texts: dict[int, str] = {}
    for page_id, content in db.execute(_SUMMARY, (array(ids),)):
        before = texts.get(page_id)
        texts[page_id] = content if before is None else f"{before}\n\n{content}"
    return {page_id: text[:length] for page_id, text in texts.items()}


def named(db: apsw.Connection, matches: Sequence[str]) -> dict[int, float]:
    """The pages whose names any of *matches* finds, and the share of those that do."""
    found: dict[int, float] = {}
    for match in matches:
        for (page_id,) in db.execute(_NAMED, (match,)):
            found[page_id] = found.get(page_id, 0.0) + 1 / len(matches)
    return found


def first_sections(
    db: apsw.Connection, ids: Iterable[int], doc_type: str | None
) -> dict[int, int]:
    """The first section of each page, leaving out pages of another type."""
    values = {"pages": array(ids), "doc_type": doc_type}
    return dict(db.execute(_FIRST_SECTIONS, values))


def counts(db: apsw.Connection) -> Counts:
    [row] = db.execute(_COUNTS)
    return Counts(*row)


def _section(row: tuple[Any, ...]) -> Section:
    ident, page_id, heading, level, continued, content = row
    return Section(ident, page_id, heading, level, bool(continued), content)

"""Specifications in a database of their own, without any network; and their pages."""

from collections.abc import Mapping
from pathlib import Path

import apsw
from databases import fresh

from ubp.packs.specs import queries
from ubp.packs.specs.languages import Policy
from ubp.packs.specs.page_text import cut_page
from ubp.packs.specs.query_syntax import understood
from ubp.packs.specs.search import by_words
from ubp.packs.specs.snapshots import CutPage, Outcome, assembled
from ubp.packs.specs.writes import store
from ubp.store.connection import transaction

__all__ = ("CORPORA", "book", "found", "keep", "page_html", "titles")

CORPORA = Path(__file__).parents[2] / "shared/corpora"
"""Real specifications, on machines that have them."""


def page_html(*sections: tuple[str, str, str]) -> str:
    """A page with a heading and a paragraph for each id, title and text."""
    parts = (f'<h2 id="{i}">{title}</h2><p>{text}</p>' for i, title, text in sections)
    return f"<!DOCTYPE html><html><body>{''.join(parts)}</body></html>"


def keep(
    db: apsw.Connection,
    pages: Mapping[str, str],
    *,
    day: str = "2026-01-01",
    language: str = "demo",
    policy: Policy = "local_fulltext_ok",
    carried: frozenset[str] = frozenset(),
) -> Outcome:
    """Store a snapshot of *pages*, as of *day*."""
    cut = [
        CutPage(
            path=path,
            address=f"https://demo.example/{path}",
            digest=text,
            etag=None,
            sections=cut_page(path, path, text.encode(), "", (2, 3, 4)).sections,
            carried=path in carried,
        )
        for path, text in pages.items()
    ]
    snapshot = assembled(
        cut,
        language=language,
        doc=f"{language}-spec",
        policy=policy,
        version=f"snapshot-{day.replace('-', '')}",
        fetched_at=f"{day}T00:00:00Z",
        source_url="https://demo.example",
    )
    with transaction(db):
        return store(db, snapshot)


def book(pages: Mapping[str, str]) -> apsw.Connection:
    """A fresh database that holds a snapshot of *pages*."""
    db = fresh()
    keep(db, pages)
    return db


def titles(db: apsw.Connection, language: str = "demo") -> list[str]:
    """The titles of the newest snapshot, in order."""
    newest = queries.newest(db, language, f"{language}-spec")
    assert newest is not None
    return [each.title for each in queries.placed(db, newest.id)]


def found(db: apsw.Connection, query: str, prefix: str | None = None) -> list[str]:
    """The titles that a search by words finds, best first."""
    newest = queries.newest(db, "demo", "demo-spec")
    assert newest is not None
    hits = by_words(db, newest.id, understood(query), prefix).hits
    sections = queries.sections(db, [hit.row for hit in hits])
    return [sections[hit.row].row.title for hit in hits]

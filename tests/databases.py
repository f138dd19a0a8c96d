"""Fresh databases with the whole schema, and pages in them without any actor."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import apsw
from vaults import NOWHERE, page

from ubp.actors.wiring import prepare_database
from ubp.packs.docs import writes
from ubp.project import Project
from ubp.store.connection import open_writer

__all__ = ("fresh", "save", "with_pages")


def fresh(path: Path | str = ":memory:") -> apsw.Connection:
    """An empty database, in memory unless a *path* is given."""
    db = open_writer(path)
    prepare_database(db)
    return db


def save(db: apsw.Connection, path: str, text: str, project: Project = NOWHERE) -> None:
    """Store a page of the docs pack; its links are not settled yet."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    writes.save(db, path, digest, page(text, path, project))


def with_pages(pages: Mapping[str, str]) -> apsw.Connection:
    """A fresh database that holds *pages*, their links settled."""
    db = fresh()
    for path, text in pages.items():
        save(db, path, text)
    writes.settle(db)
    return db

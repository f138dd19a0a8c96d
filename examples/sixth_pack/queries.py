"""All SQL of the bookmarks pack."""

import apsw

from ubp.store.connection import transaction

__all__ = ("add", "everything")

_ADD = "INSERT INTO bookmarks_entry (address, about) VALUES (?, ?) RETURNING id"

_ALL = "SELECT address, about FROM bookmarks_entry ORDER BY id"


def add(db: apsw.Connection, address: str, about: str) -> int:
    """Keep an address; its number."""
    with transaction(db):
        [(number,)] = db.execute(_ADD, (address, about))
    return int(number)


def everything(db: apsw.Connection) -> list[tuple[str, str]]:
    """Every address with what it is about, oldest first."""
    return [(address, about) for address, about in db.execute(_ALL)]

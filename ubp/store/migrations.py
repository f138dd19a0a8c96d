"""Apply numbered SQL files, each once, each in a transaction with its bookkeeping."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import apsw

from ubp.errors import DatabaseError
from ubp.store.connection import transaction

__all__ = ("CORE", "Set", "apply", "pending")

_TABLE = """
    CREATE TABLE IF NOT EXISTS migration (
        owner      TEXT NOT NULL,
        number     INTEGER NOT NULL,
        name       TEXT NOT NULL,
        applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
        PRIMARY KEY (owner, number)
    ) STRICT, WITHOUT ROWID
"""

_APPLIED = "SELECT number FROM migration WHERE owner = ?"

_RECORD = "INSERT INTO migration (owner, number, name) VALUES (?, ?, ?)"


class Set(NamedTuple):
    """The migrations of one owner: the engine, or a pack."""

    owner: str
    folder: Path


CORE = Set("core", Path(__file__).parent / "migrations")


def apply(db: apsw.Connection, sets: Iterable[Set]) -> None:
    """Bring the schema up to date.

    Raises:
        DatabaseError: A migration failed, or the database is of a newer version.
    """
    with transaction(db):
        db.execute(_TABLE)
    for migrations in sets:
        for number, file in pending(db, migrations):
            try:
                with transaction(db):
                    db.execute(file.read_text(encoding="utf-8"))
                    db.execute(_RECORD, (migrations.owner, number, file.stem))
            except apsw.Error as error:
                if number in _applied(db, migrations.owner):
                    continue  # another process was quicker
                raise DatabaseError(
                    f"Migration {file.stem} of {migrations.owner} failed.",
                    cause=f"SQLite: {error}",
                ) from error


def pending(db: apsw.Connection, migrations: Set) -> list[tuple[int, Path]]:
    """The migrations not yet applied, in order."""
    files = {int(file.stem[:4]): file for file in migrations.folder.glob("*.sql")}
    applied = _applied(db, migrations.owner)
    if applied - files.keys():
        raise DatabaseError(
            "The index was made by a newer version of ubp.",
            cause=f"It has migrations of {migrations.owner} this version lacks.",
            hint="Update ubp, or delete .ubp/index.db and run `ubp index`.",
        )
    return [(number, files[number]) for number in sorted(files.keys() - applied)]


def _applied(db: apsw.Connection, owner: str) -> set[int]:
    return {number for (number,) in db.execute(_APPLIED, (owner,))}

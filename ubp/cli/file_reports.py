"""What became of files, told once for each file, however many packs read it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import apsw

from ubp.project import Project
from ubp.reading.changes import differences
from ubp.reading.walk import walk
from ubp.store import files
from ubp.store.files import Failure, Noted
from ubp.toolkit import Pack

__all__ = ("failures", "folders", "waiting", "warnings")

_RowT = TypeVar("_RowT", bound=Failure | Noted)


def folders(project: Project, packs: Sequence[Pack]) -> dict[str, Path]:
    """By pack, what the paths of its files are relative to."""
    return {
        pack.name: pack.reading.source(project).folder
        for pack in packs
        if pack.reading is not None
    }


def failures(db: apsw.Connection, where: dict[str, Path]) -> list[Failure]:
    """The files that are not indexed."""
    return _once(files.failures(db), where)


def warnings(db: apsw.Connection, where: dict[str, Path]) -> list[Noted]:
    """What was not understood in others."""
    return _once(files.warnings(db), where)


def _once(rows: Iterable[_RowT], where: dict[str, Path]) -> list[_RowT]:
    """Of what several packs say of one file, what the first one does."""
    found: dict[tuple[Path, str], _RowT] = {}
    for row in rows:
        file = where.get(row.pack, Path(row.pack)) / row.path
        said = row.reason if isinstance(row, Failure) else row.text
        found.setdefault((file, said), row)
    return list(found.values())


def waiting(db: apsw.Connection, project: Project, packs: Sequence[Pack]) -> int:
    """How many files are not as the index has them."""
    found: set[Path] = set()
    for pack in packs:
        if pack.reading is None:
            continue
        source = pack.reading.source(project)
        known = files.known(db, pack.name)
        found |= {
            source.folder / event.path
            for event in differences(pack.name, walk(source), known)
        }
    return len(found)

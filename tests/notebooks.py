"""Notes in a database of their own, without any actor; and vectors that tests make up."""

from collections.abc import Mapping

import apsw
import numpy as np
from databases import fresh
from vaults import NOWHERE

from ubp.messages import QueryVector, Warned
from ubp.packs.notes import queries, writes
from ubp.packs.notes.records import NoteRecord, read_note
from ubp.packs.notes.search import Question, find
from ubp.project import Project
from ubp.store import vectors
from ubp.store.connection import transaction
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import FileText

__all__ = (
    "embed",
    "found",
    "keep",
    "note",
    "note_and_warnings",
    "notebook",
    "vector_of",
)

SUBJECTS = ("bird", "kettle", "chess", "snow")
"""What a made-up vector can tell apart: a dimension for each."""


def note(
    text: str, path: str = "docs/note.md", project: Project = NOWHERE
) -> NoteRecord:
    """The record of a note with this text."""
    return note_and_warnings(text, path, project)[0]


def note_and_warnings(
    text: str, path: str = "docs/note.md", project: Project = NOWHERE
) -> tuple[NoteRecord, list[Warned]]:
    return read_note(FileText(path, text, project))


def keep(db: apsw.Connection, path: str, text: str) -> None:
    """Store a note."""
    with transaction(db):
        writes.save(db, path, "digest", note(text, path))


def notebook(notes: Mapping[str, str]) -> apsw.Connection:
    """A fresh database that holds *notes*."""
    db = fresh()
    for path, text in notes.items():
        keep(db, path, text)
    return db


def vector_of(text: str) -> np.ndarray:
    """The subjects *text* names, and a little of everything; else of none."""
    named = [float(text.lower().count(word)) for word in SUBJECTS]
    return np.array([*(each + 0.05 for each in named), not any(named)], np.float32)


def embed(db: apsw.Connection) -> None:
    """Give every chunk that waits a vector."""
    with transaction(db):
        model = vectors.aim(db, identity="m", name="m", spec="{}", languages=["en"])
        waiting = vectors.waiting(db, model, 1_000)
        texts = queries.passages(db, [entry.row for entry in waiting])
        made = [
            (entry, vector_of("\n".join(texts[entry.row]))[None]) for entry in waiting
        ]
        vectors.store(db, model.id, made)


def found(
    db: apsw.Connection,
    query: str,
    *tags: str,
    limit: int = 50,
    threshold: float = 0.7,
    by_meaning: bool = True,
) -> list[tuple[str, float]]:
    """Paths with similarities; those of the scale where 0.3 is unrelated, 0.9 related."""
    model = vectors.serving(db)
    vector = None
    if by_meaning and model is not None:
        vector = QueryVector(model.id, vector_of(query).tobytes(), 0.3, 0.9)
    question = Question(query, vector, list(tags), limit, threshold)
    hits = find(db, Blocks(), question)
    texts = queries.chunk_texts(db, [hit.row for hit in hits])
    return [(texts[hit.row].path, round(hit.similarity, 3)) for hit in hits]

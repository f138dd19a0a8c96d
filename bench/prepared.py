"""Projects ready to be searched, with as many sections as is wanted.

The documents are indexed by the real command. A few hundred are embedded by the real
model; the vectors of all the others are made from theirs, for a hundred thousand would
take an hour. A search compares as many vectors of the same shape either way, and the
query is embedded for real.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from bench.cards import write_cards
from bench.indexed import index
from bench.multiplied import Vault, write_multiplied
from ubp.store import vectors
from ubp.store.connection import open_reader, open_writer, transaction

__all__ = ("Prepared", "copied", "embeds", "prepared", "questions")

_REAL = 300
"""Sections that are really embedded."""
_AT_ONCE = 2_000
_NOTES = 200
"""Sections of notes."""
_CARDS = 200
_SETTINGS = '[notes]\ndirs = ["notes"]\n'


class Prepared(NamedTuple):
    """A project, and what its documents hold."""

    root: Path
    vault: Vault


@contextmanager
def prepared(sections: int, *, embedded: bool = True) -> Iterator[Prepared]:
    """A project with documents, notes and a board, all of it indexed."""
    with TemporaryDirectory(prefix="ubp-bench-") as folder:
        root = Path(folder)
        (root / "ubp.toml").write_text(_SETTINGS, encoding="utf-8")
        write_multiplied(root / "notes", _NOTES, seed=3)
        if embedded:
            write_multiplied(root / "docs", _REAL, seed=2)
            index(root)
        vault = write_multiplied(root / "docs", sections)
        write_cards(root, _CARDS)
        index(root, "--no-embed")
        if embedded and embeds(root):
            _make_vectors(root)
        yield Prepared(root, vault)


@contextmanager
def copied(project: Prepared) -> Iterator[Prepared]:
    """The same project elsewhere, to be changed."""
    with TemporaryDirectory(prefix="ubp-bench-") as folder:
        root = Path(folder) / "project"
        shutil.copytree(project.root, root)
        yield project._replace(root=root)


def embeds(root: Path) -> bool:
    """Whether there is a model here: searches go by words alone without one."""
    db = open_reader(root / ".ubp/index.db")
    try:
        return vectors.serving(db) is not None
    finally:
        db.close()


def questions(vault: Vault, count: int) -> list[str]:
    """Questions of two or three words that are neither everywhere nor nowhere."""
    chance = np.random.default_rng(7)
    made: list[str] = []
    for number in range(count):
        kind = ("latin", "latin", "kanji", "katakana")[number % 4]
        words = vault.words[kind]
        picked = chance.integers(0, len(words), 2 + number % 2)
        made.append(" ".join(words[int(each)] for each in picked))
    return made


def _make_vectors(root: Path) -> None:
    db = open_writer(root / ".ubp/index.db")
    model = vectors.target(db)
    if model is None:
        raise LookupError
    real = _real_vectors(db, model.id)
    chance = np.random.default_rng(1)
    while True:
        with transaction(db):
            waiting = vectors.waiting(db, model, _AT_ONCE)
            picked = real[chance.integers(0, len(real), len(waiting))]
            spread = chance.standard_normal(picked.shape, np.float32)
            picked = picked + np.float32(0.03) * spread
            vectors.store(
                db,
                model.id,
                [
                    (each, value[np.newaxis, :])
                    for each, value in zip(waiting, picked, strict=True)
                ],
            )
        if not waiting:
            break
    db.close()


def _real_vectors(db: apsw.Connection, model: int) -> NDArray[np.float32]:
    rows = db.execute("SELECT value FROM vector WHERE model = ?", (model,))
    return np.stack([np.frombuffer(value, np.float32) for (value,) in rows])

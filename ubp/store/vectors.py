"""Vectors: which texts are to be embedded, by which model, and which have been.

A pack notes its passages; whoever embeds takes what is waiting and stores vectors. They
are found by the digest of their text, so a text that comes back costs nothing. One
model serves queries. Another one that is aimed at is *coming*: it serves once nothing
waits for it, and until then the old one does.

All SQL that names ``model`` or ``passage`` is in this file. Functions that change
something belong into a transaction of the caller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw
import msgspec

from ubp.store.vector_blocks import (
    Placing,
    drop_blocks,
    free,
    place,
    tick,
    unpacked_ids,
)

if TYPE_CHECKING:
    # numpy is loaded with the first vector: starting must not wait for it.
    import numpy as np
    from numpy.typing import NDArray

__all__ = (
    "ModelRow",
    "Passage",
    "VectorMismatch",
    "VectorProgress",
    "Waiting",
    "aim",
    "count_waiting",
    "forget",
    "in_other_languages",
    "languages",
    "note",
    "note_new",
    "progress",
    "promote",
    "serving",
    "skip",
    "store",
    "target",
    "tidy",
    "try_again",
    "unit",
    "waiting",
    "without_vector",
)

_NOT_YET, _FAILED = 0, -1
"""What ``passage.embedded`` is where it is no model's number."""

_AT_ONCE = 1_024
"""Vectors placed together: what they need in memory stays small."""

_MOST_REMOVED = 1_000
"""Vectors deleted in one step: some 30 ms."""

_FEWEST_UNUSED = 1_000
"""Vectors without a row are kept for when their text comes back, as with a change of
branch; below this it is not worth counting them."""


class VectorMismatch(ValueError):
    """A vector that cannot be one of this model's."""


class Passage(NamedTuple):
    """A text of a pack, by its row. Its digest is of all that is embedded."""

    row: int
    digest: bytes
    language: str


class ModelRow(NamedTuple):
    """A model; its dimension is known from its first vector on."""

    id: int
    identity: str
    name: str
    spec: str
    languages: tuple[str, ...]
    dimension: int | None


class Waiting(NamedTuple):
    """A text to embed. It is stored only if it is still the same by then."""

    pack: str
    row: int
    digest: bytes


class VectorProgress(NamedTuple):
    """How far the model that is aimed at has come, in the languages it knows."""

    completed: int
    total: int
    model: str | None
    coming: str | None
    skipped: int
    unknown_language: int
    """Texts beside these, in languages it does not know."""


_MODEL = "SELECT id, identity, name, spec, languages, dimension FROM model"
_SERVING = f"{_MODEL} WHERE state = 'serving'"
_TARGET = f"{_MODEL} WHERE state <> 'leaving' ORDER BY state = 'serving' LIMIT 1"
_MODELS = f"{_MODEL} WHERE state <> 'leaving' ORDER BY id"
_LEAVING = f"{_MODEL} WHERE state = 'leaving' ORDER BY id LIMIT 1"
_BY_IDENTITY = f"{_MODEL} WHERE identity = ?"

_SET_MODEL = """
    INSERT INTO model (identity, name, spec, languages, state) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (identity) DO UPDATE
       SET name = excluded.name, spec = excluded.spec, state = excluded.state,
           languages = excluded.languages
"""
_SET_STATE = "UPDATE model SET state = ? WHERE id = ?"
_SET_DIMENSION = "UPDATE model SET dimension = ? WHERE id = ?"
_REMOVE_MODEL = "DELETE FROM model WHERE id = ?"

_KNOWN = """
    SELECT row, digest, language FROM passage
     WHERE pack = ? AND row IN (SELECT value FROM json_each(?))
"""
_NEXT_STATE = "SELECT min(embedded) FROM passage WHERE embedded > ?"
_NEXT_LANGUAGE = """
    SELECT min(language) FROM passage WHERE embedded = ? AND language > ?
"""

_IN_OTHER_LANGUAGES = """
    SELECT row FROM passage
     WHERE pack = ? AND row IN (SELECT value FROM json_each(?)) AND language <> ?
"""
_NOTE = """
    INSERT OR REPLACE INTO passage (pack, row, digest, language, since, embedded)
    VALUES (?, ?, ?, ?, ?, 0)
"""
_FORGET = """
    DELETE FROM passage
     WHERE pack = ? AND row IN (SELECT value FROM json_each(?))
"""
_WAITING_OF = """
    SELECT since, pack, row, digest FROM passage
     WHERE embedded = 0 AND language = ? ORDER BY since DESC, pack, row LIMIT ?
"""
_WAITS = """
    SELECT EXISTS (
        SELECT 1 FROM passage
         WHERE embedded = 0 AND language IN (SELECT value FROM json_each(?))
    )
"""
_COUNT_WAITING = """
    SELECT count(*) FROM (
        SELECT 1 FROM passage
         WHERE embedded = 0 AND language IN (SELECT value FROM json_each(?)) LIMIT ?
    )
"""
_WITHOUT_VECTOR = """
    SELECT value FROM json_each(:rows) WHERE NOT EXISTS (
        SELECT 1 FROM slot WHERE model = :model AND pack = :pack AND row = value
    )
"""
_EMBEDDED = "UPDATE passage SET embedded = ? WHERE pack = ? AND row = ?"
_ALL_WAIT = "UPDATE passage SET embedded = 0 WHERE embedded <> 0"
_AS_PLACED = """
    UPDATE passage SET embedded = ? WHERE EXISTS (
        SELECT 1 FROM slot WHERE slot.model = ?
           AND slot.pack = passage.pack AND slot.row = passage.row
    )
"""
_SKIP = "UPDATE passage SET embedded = -1 WHERE embedded = 0 AND digest = ?"
_TRY_AGAIN = "UPDATE passage SET embedded = 0 WHERE embedded = -1"
_STATES = """
    SELECT language, embedded, count(*) FROM passage GROUP BY embedded, language
"""
_STATES_OF_PACK = """
    SELECT language, embedded, count(*) FROM passage WHERE pack = ?
     GROUP BY embedded, language
"""
_STATES_OF_ROWS = """
    SELECT language, embedded, count(*)
      FROM json_each(?) JOIN passage ON pack = ? AND row = value
     GROUP BY embedded, language
"""

_ADD = """
    INSERT INTO vector (model, digest, part, value) VALUES (?, ?, ?, ?)
        ON CONFLICT DO NOTHING
"""
_TO_PLACE = """
    SELECT passage.pack, passage.row, vector.part, vector.id
      FROM passage JOIN vector
        ON vector.model = ? AND vector.digest = passage.digest
     WHERE passage.language IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (
           SELECT 1 FROM slot WHERE slot.model = vector.model
              AND slot.pack = passage.pack AND slot.row = passage.row)
"""
_OF_ROWS = "AND passage.pack = ? AND passage.row IN (SELECT value FROM json_each(?))"
_TO_PLACE_OF = _TO_PLACE + _OF_ROWS
_TO_PLACE_BY = _TO_PLACE + "AND passage.embedded = 0 AND passage.digest = ?"
_WAITS_FOR = """
    SELECT EXISTS (
        SELECT 1 FROM passage
         WHERE embedded = 0 AND digest = ?
           AND language IN (SELECT value FROM json_each(?))
    )
"""
_VECTORS = "SELECT count(*) FROM vector WHERE model = ?"
_SOME_OF = "SELECT id FROM vector WHERE model = ? LIMIT ?"
# With all parts of their texts: a text with some of them would count as complete.
_REMOVE_TEXTS = """
    DELETE FROM vector WHERE model = ? AND digest IN (
        SELECT digest FROM vector WHERE id IN (SELECT value FROM json_each(?))
    )
"""


# -- passages --------------------------------------------------------------------------


def note(db: apsw.Connection, pack: str, passages: Sequence[Passage]) -> None:
    """Take up new and changed rows; those that did not change are left alone.

    A changed row is out of the search at once. It waits, unless there is a vector for
    its text already.
    """
    asked = {passage.row: passage for passage in passages}
    known = {
        row: Passage(row, digest, language)
        for row, digest, language in db.execute(_KNOWN, (pack, _json(asked)))
    }
    changed = [now for row, now in asked.items() if known.get(row) != now]
    if not changed:
        return
    rows = _json(passage.row for passage in changed)
    free(db, [model.id for model in _models(db)], pack, rows)
    note_new(db, pack, changed)


def note_new(db: apsw.Connection, pack: str, passages: Sequence[Passage]) -> None:
    """Take up rows that nothing has been noted of."""
    if not passages:
        return
    since = tick(db)
    db.executemany(
        _NOTE,
        [(pack, row, digest, language, since) for row, digest, language in passages],
    )
    models = _models(db)
    rows = _json(passage.row for passage in passages) if models else ""
    for model in models:
        known_to = (model.id, _json(model.languages), pack, rows)
        _place(
            db, model, [Placing(*each) for each in db.execute(_TO_PLACE_OF, known_to)]
        )


def languages(db: apsw.Connection) -> frozenset[str]:
    """The languages there are texts in."""
    found: set[str] = set()
    # From one to the next by the index: there are few, and many rows of each.
    state = db.execute(_NEXT_STATE, (_FAILED - 1,)).get
    while state is not None:
        language = db.execute(_NEXT_LANGUAGE, (state, "")).get
        while language is not None:
            found.add(language)
            language = db.execute(_NEXT_LANGUAGE, (state, language)).get
        state = db.execute(_NEXT_STATE, (state,)).get
    return frozenset(found)


def in_other_languages(
    db: apsw.Connection, pack: str, rows: Iterable[int], language: str
) -> frozenset[int]:
    """Those of *rows* whose text is in another language than *language*."""
    asked = (pack, _json(rows), language)
    return frozenset(row for (row,) in db.execute(_IN_OTHER_LANGUAGES, asked))


def forget(db: apsw.Connection, pack: str, rows: Iterable[int]) -> None:
    """Leave out rows that are gone. Their vectors stay, for texts that come back."""
    gone = _json(rows)
    free(db, [model.id for model in _models(db)], pack, gone)
    db.execute(_FORGET, (pack, gone))
    if db.changes():
        tick(db)  # how many there are has changed, even if none had a vector


# -- models ----------------------------------------------------------------------------


def serving(db: apsw.Connection) -> ModelRow | None:
    """The model whose vectors queries are compared with."""
    return _model(db, _SERVING)


def target(db: apsw.Connection) -> ModelRow | None:
    """The model that is to embed: the one that is coming, else the one that serves."""
    return _model(db, _TARGET)


def aim(
    db: apsw.Connection,
    *,
    identity: str,
    name: str,
    spec: str,
    languages: Sequence[str],
) -> ModelRow:
    """Make this the target. It serves at once if no other has a vector to serve."""
    before, current = target(db), serving(db)
    stored = _model(db, _BY_IDENTITY, identity)
    wanted = (identity, name, spec, tuple(languages))
    if before and before[1:5] == wanted:
        return before
    if before and before.identity != identity and before != current:
        _leave(db, before)
    at_once = not current or identity == current.identity
    if current and not at_once and current.dimension is None:
        _leave(db, current)
        at_once = True
    state = "serving" if at_once else "coming"
    db.execute(_SET_MODEL, (identity, name, spec, _json(languages), state))
    [model] = _models(db, _BY_IDENTITY, identity)
    if stored and stored.languages != model.languages:
        drop_blocks(db, model.id)  # some may be of a language it does not know
    db.execute(_ALL_WAIT)
    db.execute(_AS_PLACED, (model.id, model.id))
    known_to = (model.id, _json(model.languages))
    _place(db, model, [Placing(*each) for each in db.execute(_TO_PLACE, known_to)])
    return model


def promote(db: apsw.Connection) -> bool:
    """Let the coming model serve if nothing waits for it; whether it does now.

    Not if it failed at every text: then the old one is better than nothing.
    """
    coming, old = target(db), serving(db)
    if not coming or not old or coming.id == old.id:
        return False
    if db.execute(_WAITS, (_json(coming.languages),)).get:
        return False
    if coming.dimension is None and progress(db).skipped:
        return False
    _leave(db, old)
    db.execute(_SET_STATE, ("serving", coming.id))
    return True


def tidy(db: apsw.Connection) -> bool:
    """Delete some vectors nobody needs; whether to come back for more.

    Those are the vectors of models that left, and of those without a row the oldest,
    once they outnumber the others. For when there is nothing else to do: looking for
    them takes a tenth of a second at a hundred thousand.
    """
    leaving = _model(db, _LEAVING)
    if leaving:
        some = [each for (each,) in db.execute(_SOME_OF, (leaving.id, _MOST_REMOVED))]
        db.execute(_REMOVE_TEXTS, (leaving.id, _json(some)))
        if not some:
            db.execute(_REMOVE_MODEL, (leaving.id,))
        return True
    for model in _models(db):
        stored: int = db.execute(_VECTORS, (model.id,)).get
        if stored <= _FEWEST_UNUSED:
            continue
        unused = unpacked_ids(db, model.id)
        kept = max(_FEWEST_UNUSED, stored - len(unused))
        too_many = max(0, len(unused) - kept)
        oldest = unused[: min(too_many, _MOST_REMOVED)]
        db.execute(_REMOVE_TEXTS, (model.id, _json(oldest)))
        if too_many > len(oldest):
            return True
    return False


def _leave(db: apsw.Connection, model: ModelRow) -> None:
    """Out of the search now; ``tidy`` deletes its vectors, unless it comes back."""
    drop_blocks(db, model.id)
    db.execute(_SET_STATE, ("leaving", model.id))


# -- what is to be done ----------------------------------------------------------------


def waiting(db: apsw.Connection, model: ModelRow, limit: int) -> list[Waiting]:
    """Texts to embed in the languages of *model*, the latest change first."""
    found = [
        entry
        for language in dict.fromkeys(model.languages)
        for entry in db.execute(_WAITING_OF, (language, limit))
    ]
    found.sort(key=lambda entry: (-entry[0], *entry[1:]))
    return [Waiting(*entry[1:]) for entry in found[:limit]]


def count_waiting(db: apsw.Connection, at_most: int) -> int:
    """How many texts wait; quick, because it counts no further than *at_most*."""
    model = target(db)
    if model is None:
        return 0
    count: int = db.execute(_COUNT_WAITING, (_json(model.languages), at_most)).get
    return count


def without_vector(
    db: apsw.Connection, model: ModelRow, pack: str, rows: Iterable[int]
) -> set[int]:
    """Those of *rows* that cannot be found by meaning."""
    asked = {"rows": _json(rows), "model": model.id, "pack": pack}
    return {row for (row,) in db.execute(_WITHOUT_VECTOR, asked)}


def store(
    db: apsw.Connection,
    model_id: int,
    made: Sequence[tuple[Waiting, NDArray[np.float32]]],
) -> int:
    """Keep what was embedded, a line for each part; how many rows have vectors now.

    What nobody waits for any more, or is of a model no longer aimed at, is dropped. All
    rows that wait for the same text get its vectors.

    Raises:
        VectorMismatch: A vector is not a direction, or not of the model's dimension.
    """
    model = target(db)
    if not model or model.id != model_id or not made:
        return 0
    dimension = model.dimension or made[0][1].shape[-1]
    values = {
        entry.digest: [unit(part, dimension) for part in parts] for entry, parts in made
    }
    languages = _json(model.languages)
    to_place: list[Placing] = []
    for digest, parts in values.items():
        if not db.execute(_WAITS_FOR, (digest, languages)).get:
            continue
        for number, part in enumerate(parts):
            value = part.astype("<f4").tobytes()
            db.execute(_ADD, (model.id, digest, number, value))
        known_to = (model.id, languages, digest)
        to_place += [Placing(*each) for each in db.execute(_TO_PLACE_BY, known_to)]
    if to_place and model.dimension is None:
        db.execute(_SET_DIMENSION, (dimension, model.id))
    _place(db, model._replace(dimension=dimension), to_place)
    return len({each.row_key for each in to_place})


def skip(db: apsw.Connection, entries: Sequence[Waiting]) -> None:
    """Note texts that cannot be embedded: they do not wait until they change."""
    digests = {entry.digest for entry in entries}
    db.executemany(_SKIP, [(digest,) for digest in digests])


def try_again(db: apsw.Connection) -> None:
    """Let texts that could not be embedded wait once more."""
    db.execute(_TRY_AGAIN)


def progress(
    db: apsw.Connection, told: Mapping[str, Iterable[int]] | None = None
) -> VectorProgress:
    """How much is embedded.

    Of every pack; if *told* is given, of the packs in it, without the rows it names.
    """
    aimed, current = target(db), serving(db)
    if not aimed or not current:
        return VectorProgress(0, 0, None, None, 0, 0)
    of_state: Counter[int] = Counter()
    unknown = 0
    for (language, state), number in _states(db, told).items():
        if language in aimed.languages:
            of_state[state] += number
        else:
            unknown += number
    completed, skipped = of_state[aimed.id], of_state[_FAILED]
    return VectorProgress(
        completed=completed,
        total=completed + skipped + of_state[_NOT_YET],
        model=current.name,
        coming=None if aimed.id == current.id else aimed.name,
        skipped=skipped,
        unknown_language=unknown,
    )


def _states(
    db: apsw.Connection, told: Mapping[str, Iterable[int]] | None
) -> Counter[tuple[str, int]]:
    """How many texts, by their language and how they are embedded."""
    if told is None:
        return _counted(db.execute(_STATES))
    counts: Counter[tuple[str, int]] = Counter()
    for pack, hidden in told.items():
        counts.update(_counted(db.execute(_STATES_OF_PACK, (pack,))))
        rows = (_json(hidden), pack)
        counts.subtract(_counted(db.execute(_STATES_OF_ROWS, rows)))
    return counts


def _counted(found: apsw.Cursor) -> Counter[tuple[str, int]]:
    return Counter({(language, state): number for language, state, number in found})


def unit(value: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """*value* with length 1.

    Raises:
        VectorMismatch: It has no direction, or another dimension.
    """
    import numpy as np

    if value.shape != (dimension,):
        raise VectorMismatch(f"a vector of shape {value.shape}, not ({dimension},)")
    # In float64, or the squares of large and of tiny numbers are lost.
    exact = value.astype(np.float64)
    length = float(np.linalg.norm(exact))
    if not np.isfinite(length) or length == 0.0:
        raise VectorMismatch(f"a vector of length {length}")
    return (exact / length).astype(np.float32)


def _place(db: apsw.Connection, model: ModelRow, found: Sequence[Placing]) -> None:
    """Put rows that have a vector into the search."""
    if not found or model.dimension is None:
        return
    aimed = target(db)
    for begin in range(0, len(found), _AT_ONCE):
        some = found[begin : begin + _AT_ONCE]
        place(db, model.id, model.dimension, some)
        if aimed and aimed.id == model.id:
            done = {(model.id, *each.row_key) for each in some}
            db.executemany(_EMBEDDED, done)


def _model(db: apsw.Connection, query: str, *parameters: str) -> ModelRow | None:
    return next(iter(_models(db, query, *parameters)), None)


def _models(
    db: apsw.Connection, query: str = _MODELS, *parameters: str
) -> list[ModelRow]:
    return [
        ModelRow(*row)._replace(languages=tuple(msgspec.json.decode(row[4])))
        for row in db.execute(query, parameters)
    ]


def _json(values: Iterable[int] | Iterable[str]) -> str:
    return msgspec.json.encode(list(values)).decode()

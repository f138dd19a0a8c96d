"""Vector blocks: vectors packed together so that a search can load and scan them.

The truth is the float32 in ``vector``. A block has a thousand places; each holds a row,
the id of its vector, and the vector twice: as signs, one bit for each dimension, and as
int8 with a scale. What is packed changes in the transaction that changes the truth.

Everything that writes ``slot``, ``vector_block`` or ``vector_data`` is in this file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import apsw
import msgspec

if TYPE_CHECKING:
    # numpy is loaded with the first vector: starting must not wait for it.
    import numpy as np
    from numpy.typing import NDArray

__all__ = (
    "Block",
    "Blocks",
    "Placing",
    "drop_blocks",
    "free",
    "place",
    "sign_words",
    "tick",
    "unpacked_ids",
    "values_of",
    "vectors_of",
)

PLACES = 1024
"""Of a block. One that changes is loaded again whole, and there should not be so many
that going through them takes longer than what is in them."""

_MOST = 127
"""The largest int8, for the largest number of a vector."""

_TICK = "UPDATE vector_counter SET value = value + 1 RETURNING value"
_NOW = "SELECT value FROM vector_counter"

_ROOM = """
    SELECT id, used FROM vector_block
     WHERE model = ? AND pack = ? AND used < ? ORDER BY id
"""
_NEW = """
    INSERT INTO vector_block (model, pack, version, used) VALUES (?, ?, 0, 0)
    RETURNING id
"""
_NEW_DATA = "INSERT INTO vector_data (block, packed) VALUES (?, zeroblob(?))"
_CHANGED = """
    UPDATE vector_block SET version = ?, used = used + ? WHERE id = ? RETURNING used
"""
_REMOVE = "DELETE FROM vector_block WHERE id = ?"
_DROP = "DELETE FROM vector_block WHERE model = ?"
_VECTORS_OF = """
    SELECT slot.row, slot.vector
      FROM json_each(?)
     CROSS JOIN slot ON slot.model = ? AND slot.pack = ? AND slot.row = value
"""

_DROP_SLOTS = "DELETE FROM slot WHERE model = ?"

_TAKE = """
    INSERT INTO slot (model, pack, row, part, block, place, vector)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_LEAVE = """
    DELETE FROM slot
     WHERE model = ? AND pack = ? AND row IN (SELECT value FROM json_each(?))
    RETURNING block, place
"""
_UNPACKED = """
    SELECT id FROM vector
     WHERE model = ? AND id NOT IN (SELECT vector FROM slot WHERE model = ?)
     ORDER BY id
"""

_VALUES = """
    SELECT id, value FROM vector
     WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id
"""

_LISTED = """
    SELECT id, version, model = ? AND pack = ? FROM vector_block ORDER BY id
"""
_PASSAGES = "SELECT count(*) FROM passage WHERE pack = ?"
_DATA = "SELECT packed FROM vector_data WHERE block = ?"


class Placing(NamedTuple):
    """A part of a row that is to have a place, and the id of its vector."""

    pack: str
    row: int
    part: int
    vector: int

    @property
    def row_key(self) -> tuple[str, int]:
        return self.pack, self.row


class Block(NamedTuple):
    """What is in the places of a block that are taken. It never changes."""

    rows: NDArray[np.int64]
    vectors: NDArray[np.int64]
    scales: NDArray[np.float32]
    signs: NDArray[np.uint64]
    """A row for each 64 dimensions, so that all vectors are counted at once."""
    codes: NDArray[np.int8]


class _Layout:
    """Where the parts of a packed block begin, for vectors of one dimension."""

    def __init__(self, dimension: int) -> None:
        import numpy as np

        words = -(-dimension // 64)
        self.parts: tuple[tuple[np.dtype[np.generic], int], ...] = (
            (np.dtype("<i8"), 1),
            (np.dtype("<i8"), 1),
            (np.dtype("<f4"), 1),
            (np.dtype("<u8"), words),
            (np.dtype("i1"), dimension),
        )
        self.widths = [kind.itemsize * count for kind, count in self.parts]
        self.size = PLACES * sum(self.widths)

    def unpacked(self, packed: bytes) -> Block:
        import numpy as np

        parts: list[NDArray[np.generic]] = []
        begin = 0
        for (kind, count), width in zip(self.parts, self.widths, strict=True):
            whole = np.frombuffer(packed, kind, PLACES * count, begin)
            parts.append(whole.reshape(PLACES, count))
            begin += PLACES * width
        rows, vectors, scales, signs, codes = parts
        taken = np.flatnonzero(rows[:, 0])
        return Block(
            rows[taken, 0].astype(np.int64),
            vectors[taken, 0].astype(np.int64),
            scales[taken, 0].astype(np.float32),
            np.ascontiguousarray(signs[taken].T.astype(np.uint64)),
            codes[taken].astype(np.int8, copy=False),
        )

    def write(self, blob: apsw.Blob, at: int, parts: Sequence[bytes]) -> None:
        """Write neighbouring places, the first of which is *at*."""
        begin = 0
        for width, part in zip(self.widths, parts, strict=True):
            blob.seek(begin + at * width)
            blob.write(part)
            begin += PLACES * width


# -- writing ---------------------------------------------------------------------------


def tick(db: apsw.Connection) -> int:
    """The next number of the counter."""
    value: int = db.execute(_TICK).get
    return value


def place(
    db: apsw.Connection, model: int, dimension: int, placings: Iterable[Placing]
) -> None:
    """Give rows that have no place of *model* one, in a free place if there is one."""
    layout = _Layout(dimension)
    version = tick(db)
    ordered = sorted(placings)
    for pack, group in groupby(ordered, key=lambda each: each.pack):
        left = list(group)
        for block, used in _with_room(db, model, pack, layout):
            here, left = left[: PLACES - used], left[PLACES - used :]
            _fill(db, model, block, layout, here)
            db.execute(_CHANGED, (version, len(here), block)).fetchall()
            if not left:
                break


def free(db: apsw.Connection, models: Iterable[int], pack: str, rows: str) -> None:
    """Empty the places of *rows*, which are JSON. A block without any goes."""
    emptied = defaultdict[int, list[int]](list)
    for model in models:
        for block, at in db.execute(_LEAVE, (model, pack, rows)):
            emptied[block].append(at)
    version = tick(db) if emptied else 0
    nothing = bytes(8)
    for block, places in emptied.items():
        if db.execute(_CHANGED, (version, -len(places), block)).get == 0:
            db.execute(_REMOVE, (block,))
            continue
        with db.blob_open("main", "vector_data", "packed", block, True) as blob:
            for at in places:
                blob.seek(at * 8)  # the rows come first
                blob.write(nothing)


def drop_blocks(db: apsw.Connection, model: int) -> None:
    """Take everything of *model* out of the search; its vectors stay."""
    db.execute(_DROP, (model,))
    db.execute(_DROP_SLOTS, (model,))


def unpacked_ids(db: apsw.Connection, model: int) -> list[int]:
    """The vectors of *model* that are in no block, the oldest first."""
    return [vector for (vector,) in db.execute(_UNPACKED, (model, model))]


def _with_room(
    db: apsw.Connection, model: int, pack: str, layout: _Layout
) -> Iterator[tuple[int, int]]:
    """Blocks with a free place and how many of theirs are taken; at last new ones."""
    yield from list(db.execute(_ROOM, (model, pack, PLACES)))
    while True:
        block: int = db.execute(_NEW, (model, pack)).get
        db.execute(_NEW_DATA, (block, layout.size))
        yield block, 0


def _fill(
    db: apsw.Connection,
    model: int,
    block: int,
    layout: _Layout,
    placings: Sequence[Placing],
) -> None:
    """Write *placings* into the first free places of the block, in their order."""
    import numpy as np

    ids, values = values_of(db, [each.vector for each in placings])
    wanted = np.array([(each.row, each.vector) for each in placings], "<i8")
    values = values[np.searchsorted(ids, wanted[:, 1])]
    parts = (wanted[:, 0], wanted[:, 1], *_encoded(values))
    with db.blob_open("main", "vector_data", "packed", block, True) as blob:
        taken = np.frombuffer(blob.read(PLACES * 8), "<i8")
        at = np.flatnonzero(taken == 0)[: len(placings)]
        # Neighbouring places are written at once.
        ends = [*(np.flatnonzero(np.diff(at) > 1) + 1).tolist(), len(at)]
        begin = 0
        for end in ends:
            written = [part[begin:end].tobytes() for part in parts]
            layout.write(blob, int(at[begin]), written)
            begin = end
    db.executemany(
        _TAKE,
        [
            (model, each.pack, each.row, each.part, block, int(where), each.vector)
            for each, where in zip(placings, at, strict=True)
        ],
    )


def _encoded(
    values: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.uint64], NDArray[np.int8]]:
    """Scales, signs and codes, as they are packed."""
    import numpy as np

    scales = np.abs(values).max(axis=1, keepdims=True) / np.float32(_MOST)
    codes = np.rint(values / scales).astype(np.int8)
    return scales[:, 0].astype("<f4"), sign_words(values > 0), codes


def sign_words(positive: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """A bit for each dimension, filled up with zeros to whole words."""
    import numpy as np

    count, dimension = positive.shape
    padded = np.zeros((count, -(-dimension // 64) * 64), np.bool_)
    padded[:, :dimension] = positive
    return np.packbits(padded, axis=1).view("<u8")


# -- reading ---------------------------------------------------------------------------


class Blocks:
    """Blocks that have been loaded, for every reader of one database in the process.

    A block is known by its id and version, so a reader gets the state its own snapshot
    has, whatever the others see.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded: dict[tuple[int, int], Block] = {}
        self._counts: dict[tuple[int, str], tuple[int, int, int]] = {}

    def of(
        self, db: apsw.Connection, model: int, dimension: int, pack: str
    ) -> list[Block]:
        """The blocks of a model and pack, as the snapshot of *db* has them."""
        # First: a block that changes in between has a higher version, and is kept.
        newest: int = db.execute(_NOW).get
        listed: set[tuple[int, int]] = set()
        wanted: list[tuple[int, int]] = []
        for block, version, is_wanted in db.execute(_LISTED, (model, pack)):
            listed.add((block, version))
            if is_wanted:
                wanted.append((block, version))
        with self._lock:
            # What is newer than this reader belongs to others; older is gone for good.
            for key in self._loaded.keys() - listed:
                if key[1] <= newest:
                    del self._loaded[key]
            found = {key: self._loaded.get(key) for key in wanted}
        layout = _Layout(dimension)
        fresh = {
            key: layout.unpacked(db.execute(_DATA, (key[0],)).get)
            for key, block in found.items()
            if block is None
        }
        # What is not committed may be taken back, and its version given again.
        if fresh and db.txn_state("main") != apsw.SQLITE_TXN_WRITE:
            with self._lock:
                self._loaded.update(fresh)
        return [found[key] or fresh[key] for key in wanted]

    def counts(
        self, db: apsw.Connection, model: int, dimension: int, pack: str
    ) -> tuple[int, int]:
        """How many rows of a pack have vectors of a model, and how many there are."""
        import numpy as np

        now: int = db.execute(_NOW).get
        with self._lock:
            counted = self._counts.get((model, pack))
        if counted is None or counted[0] != now:
            rows = [block.rows for block in self.of(db, model, dimension, pack)]
            found = len(np.unique(np.concatenate(rows))) if rows else 0
            total: int = db.execute(_PASSAGES, (pack,)).get
            counted = (now, found, total)
            with self._lock:
                self._counts[model, pack] = counted
        return counted[1:]

    @property
    def size(self) -> int:
        """Bytes of what is loaded."""
        with self._lock:
            blocks = list(self._loaded.values())
        return sum(part.nbytes for block in blocks for part in block)


def vectors_of(
    db: apsw.Connection, model: int, pack: str, rows: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Those of *rows* that can be searched, with each of their vectors."""
    asked = msgspec.json.encode(list(rows)).decode()
    yield from db.execute(_VECTORS_OF, (asked, model, pack))


def values_of(
    db: apsw.Connection, ids: Iterable[int]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The vectors with *ids*, one line for each, and the ids of the lines, sorted."""
    import numpy as np

    asked = msgspec.json.encode(list(ids)).decode()
    found = list(db.execute(_VALUES, (asked,)))
    if not found:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    values = np.frombuffer(b"".join(value for _, value in found), "<f4")
    sorted_ids = np.array([each for each, _ in found], np.int64)
    return sorted_ids, values.reshape(len(found), -1)

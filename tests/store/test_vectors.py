"""Which texts wait, for which model, and what becomes of their vectors.

Random histories are compared with plain dictionaries; the rest are single sentences.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import apsw
import numpy as np
import pytest
from databases import fresh
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vaults import write_files

from ubp.store import migrations, vector_blocks, vectors
from ubp.store.connection import open_writer, transaction
from ubp.store.migrations import Set
from ubp.store.nearest import nearest
from ubp.store.vector_blocks import Blocks
from ubp.store.vectors import (
    ModelRow,
    Passage,
    VectorMismatch,
    Waiting,
    aim,
    forget,
    note,
    progress,
    promote,
    serving,
    skip,
    store,
    target,
    tidy,
    waiting,
)

DIMENSION = 70
"""Not a multiple of 8, nor of 64."""

MANY_PARTS = "long"
"""Texts that begin so have several vectors, as those longer than a model's window."""

LONG = {sha256(f"{MANY_PARTS}{n}".encode()).digest() for n in range(3)}

Step = tuple[str, str, list[tuple[int, str]]]


def digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


def embedded(text: str | bytes, model: str = "one") -> NDArray[np.float32]:
    """A vector that is a function of model and text; not of length 1."""
    known = digest(text) if isinstance(text, str) else text
    seed = int.from_bytes(sha256(model.encode() + known).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)


def parts_of(text: str | bytes, model: str = "one") -> NDArray[np.float32]:
    """One vector or more, as for a text longer than the model's window."""
    known = digest(text) if isinstance(text, str) else text
    count = 3 if known in LONG else 1
    return np.array([embedded(known + bytes([n]), model) for n in range(count)])


def vectors_of(
    db: apsw.Connection, model: ModelRow, pack: str
) -> dict[int, NDArray[np.float32]]:
    """What is in the search: the vectors of each row, in the order of its parts."""
    placed = db.execute(
        "SELECT slot.row, value FROM slot JOIN vector ON vector.id = slot.vector "
        "WHERE slot.model = ? AND pack = ? ORDER BY slot.row, slot.part",
        (model.id, pack),
    )
    found: dict[int, list[NDArray[np.float32]]] = {}
    for row, value in placed:
        found.setdefault(row, []).append(np.frombuffer(value, np.float32))
    return {row: np.array(values) for row, values in found.items()}


def passage(row: int, text: str, language: str = "en") -> Passage:
    return Passage(row, digest(text), language)


def take(
    db: apsw.Connection, identity: str = "one", languages: Sequence[str] = ("en",)
) -> ModelRow:
    with transaction(db):
        return aim(db, identity=identity, name=identity, spec="{}", languages=languages)


def embed(db: apsw.Connection, limit: int = 10_000) -> int:
    """What whoever embeds does: take some, make vectors, store them."""
    model = target(db)
    assert model
    with transaction(db):
        work = waiting(db, model, limit)
        made = [(each, parts_of(each.digest, model.identity)) for each in work]
        return store(db, model.id, made)


def rows_found(db: apsw.Connection, pack: str = "docs") -> list[int]:
    model = serving(db)
    assert model
    query = np.ones(DIMENSION, np.float32)
    return sorted(near.row for near in nearest(db, Blocks(), model, pack, query, 9_999))


def count(db: apsw.Connection, table: str) -> int:
    found: int = db.execute(f"SELECT count(*) FROM {table}").get  # noqa: S608
    return found


def check_places(db: apsw.Connection) -> None:
    """Slots and blocks say the same, and neither says anything twice."""
    packed: set[tuple[object, ...]] = set()
    for block, model, pack, used in db.execute(
        "SELECT id, model, pack, used FROM vector_block"
    ):
        data = db.execute("SELECT packed FROM vector_data WHERE block = ?", (block,))
        raw: bytes = data.get
        rows = np.frombuffer(raw, "<i8", vector_blocks.PLACES)
        ids = np.frombuffer(raw, "<i8", vector_blocks.PLACES, vector_blocks.PLACES * 8)
        places = np.flatnonzero(rows)
        assert len(places) == used > 0
        packed |= {
            (model, pack, int(rows[at]), block, int(at), int(ids[at])) for at in places
        }
    assert (
        set(db.execute("SELECT model, pack, row, block, place, vector FROM slot"))
        == packed
    )
    assert count(db, "vector_data") == count(db, "vector_block")


@pytest.fixture
def db() -> apsw.Connection:
    return fresh()


# -- a text on its way -----------------------------------------------------------------


def test_noted_passage_waits_until_its_vector_is_stored(db: apsw.Connection) -> None:
    model = take(db)
    note(db, "docs", [passage(7, "a")])

    assert waiting(db, model, 10) == [Waiting("docs", 7, digest("a"))]
    assert embed(db) == 1
    assert waiting(db, model, 10) == []
    assert rows_found(db) == [7]


def test_latest_change_is_embedded_first(db: apsw.Connection) -> None:
    model = take(db, languages=("en", "ja"))
    note(db, "docs", [passage(1, "a"), passage(2, "b", "ja")])
    note(db, "docs", [passage(3, "c", "ja")])
    note(db, "docs", [passage(1, "d")])

    assert [each.row for each in waiting(db, model, 2)] == [1, 3]
    assert [each.row for each in waiting(db, model, 9)] == [1, 3, 2]


def test_unchanged_passage_is_left_alone(db: apsw.Connection) -> None:
    take(db)
    note(db, "docs", [passage(1, "a")])
    embed(db)
    before = list(db.execute("SELECT * FROM vector_block"))

    note(db, "docs", [passage(1, "a")])

    assert list(db.execute("SELECT * FROM vector_block")) == before


def test_changed_passage_is_out_of_the_search_until_it_is_embedded(
    db: apsw.Connection,
) -> None:
    take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db)

    note(db, "docs", [passage(1, "c")])

    assert rows_found(db) == [2]
    assert embed(db) == 1
    assert rows_found(db) == [1, 2]


def test_text_that_comes_back_is_placed_at_once(db: apsw.Connection) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db)
    note(db, "docs", [passage(1, "c")])
    forget(db, "docs", [2])

    note(db, "docs", [passage(1, "a"), passage(3, "b")])

    assert waiting(db, model, 9) == []
    assert rows_found(db) == [1, 3]


def test_rows_with_the_same_text_share_a_vector(db: apsw.Connection) -> None:
    take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "a")])
    note(db, "memory", [passage(1, "a")])

    assert embed(db, limit=1) == 3
    assert count(db, "vector") == 1
    assert rows_found(db) == [1, 2]
    assert rows_found(db, "memory") == [1]


def test_vector_of_a_text_that_changed_meanwhile_is_dropped(
    db: apsw.Connection,
) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a")])
    work = waiting(db, model, 1)
    note(db, "docs", [passage(1, "b")])

    assert store(db, model.id, [(each, parts_of("a")) for each in work]) == 0
    assert count(db, "vector") == 0
    assert [each.digest for each in waiting(db, model, 9)] == [digest("b")]


def test_forgotten_rows_are_not_found_and_do_not_wait(db: apsw.Connection) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a")])
    embed(db)
    note(db, "docs", [passage(2, "b")])

    forget(db, "docs", [1, 2, 3])

    assert rows_found(db) == []
    assert waiting(db, model, 9) == []
    assert count(db, "vector_block") == count(db, "vector_data") == 0


def test_freed_places_are_used_again(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_blocks, "PLACES", 8)
    take(db)
    note(db, "docs", [passage(row, f"{row}") for row in range(1, 25)])
    embed(db)
    assert count(db, "vector_block") == 3

    forget(db, "docs", [2, 3, 12, 23])
    note(db, "docs", [passage(row, f"{row}") for row in range(30, 34)])
    embed(db)

    assert count(db, "vector_block") == 3
    check_places(db)


def test_the_languages_there_are_do_not_depend_on_what_is_embedded(
    db: apsw.Connection,
) -> None:
    assert vectors.languages(db) == frozenset()
    take(db, languages=["en"])
    note(db, "docs", [passage(1, "a"), passage(2, "b"), passage(3, "c", "ja")])
    embed(db, 1)

    assert vectors.languages(db) == {"en", "ja"}

    forget(db, "docs", [3])
    assert vectors.languages(db) == {"en"}


def test_passage_in_a_language_the_model_does_not_know_does_not_wait(
    db: apsw.Connection,
) -> None:
    model = take(db, languages=["en"])
    note(db, "docs", [passage(1, "a"), passage(2, "a", "ja"), passage(3, "c", "ja")])

    assert embed(db) == 1
    assert waiting(db, model, 9) == []
    assert progress(db)[:2] == (1, 1)

    note(db, "docs", [passage(1, "a", "ja")])
    assert rows_found(db) == []
    note(db, "docs", [passage(2, "a")])
    assert rows_found(db) == [2]


def test_model_that_learns_a_language_takes_up_its_passages(
    db: apsw.Connection,
) -> None:
    take(db, languages=["en"])
    note(db, "docs", [passage(1, "a"), passage(2, "a", "ja"), passage(3, "c", "ja")])
    embed(db)

    model = take(db, languages=["ja"])

    assert rows_found(db) == [2]
    assert [each.row for each in waiting(db, model, 9)] == [3]
    check_places(db)


# -- vectors that are none -------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        np.ones(DIMENSION + 1, np.float32),
        np.ones((1, DIMENSION), np.float32),
        np.zeros(DIMENSION, np.float32),
        np.full(DIMENSION, np.nan, np.float32),
        np.full(DIMENSION, np.inf, np.float32),
    ],
    ids=["longer", "matrix", "zero", "nan", "infinite"],
)
def test_vector_that_is_no_direction_is_refused(
    db: apsw.Connection, wrong: NDArray[np.float32]
) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db, limit=1)
    [entry] = waiting(db, model, 9)

    with pytest.raises(VectorMismatch):
        store(db, model.id, [(entry, wrong[None])])

    assert waiting(db, model, 9) == [entry]
    assert progress(db).completed == 1


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_vector_of_any_length_is_kept_with_length_one(
    db: apsw.Connection, size: float
) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a")])
    value = embedded("a") * np.float32(size)

    store(db, model.id, [(waiting(db, model, 1)[0], value[None])])

    [kept] = vectors_of(db, model, "docs")[1]
    assert np.linalg.norm(kept) == pytest.approx(1, abs=1e-6)


def test_text_that_cannot_be_embedded_waits_again_when_it_changes(
    db: apsw.Connection,
) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])

    skip(db, [Waiting("docs", 1, digest("a"))])

    assert [each.row for each in waiting(db, model, 9)] == [2]
    assert progress(db) == (0, 2, "one", None, 1, 0)
    note(db, "docs", [passage(1, "c")])
    assert [each.row for each in waiting(db, model, 9)] == [1, 2]


# -- one model after another -----------------------------------------------------------


def test_there_is_no_progress_without_a_model(db: apsw.Connection) -> None:
    note(db, "docs", [passage(1, "a")])

    assert serving(db) is target(db) is None
    assert progress(db) == (0, 0, None, None, 0, 0)
    assert not promote(db)
    assert not tidy(db)


def test_first_model_serves(db: apsw.Connection) -> None:
    note(db, "docs", [passage(1, "a")])

    model = take(db)

    assert serving(db) == target(db) == model
    assert progress(db) == (0, 1, "one", None, 0, 0)


def test_aiming_again_changes_nothing(db: apsw.Connection) -> None:
    take(db)
    note(db, "docs", [passage(1, "a")])
    embed(db)
    before = db.total_changes()

    model = take(db)

    assert db.total_changes() == before
    assert model.dimension == DIMENSION


def test_progress_is_told_of_some_packs_without_some_rows(
    db: apsw.Connection,
) -> None:
    take(db)
    note(db, "docs", [passage(1, "a")])
    note(db, "notes", [passage(1, "a"), passage(2, "b")])
    embed(db)
    note(db, "notes", [passage(3, "c"), passage(4, "d")])
    note(db, "notes", [passage(5, "e", "fr"), passage(6, "f", "fr")])

    assert progress(db) == (3, 5, "one", None, 0, 2)
    assert progress(db, {}) == (0, 0, "one", None, 0, 0)
    assert progress(db, {"notes": []}) == (2, 4, "one", None, 0, 2)
    assert progress(db, {"docs": [], "notes": [1, 3, 5]}) == (2, 3, "one", None, 0, 1)


def test_old_model_serves_until_nothing_waits_for_the_new_one(
    db: apsw.Connection,
) -> None:
    old = take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db)

    new = take(db, "two")
    embed(db, limit=1)

    assert not promote(db)
    assert progress(db) == (1, 2, "one", "two", 0, 0)
    assert (serving(db), target(db)) == (
        old._replace(dimension=DIMENSION),
        new._replace(dimension=DIMENSION),
    )
    assert rows_found(db) == [1, 2]
    embed(db)
    assert promote(db)
    assert progress(db) == (2, 2, "two", None, 0, 0)
    assert rows_found(db) == [1, 2]
    check_places(db)


def test_text_known_to_both_models_is_placed_for_both(db: apsw.Connection) -> None:
    take(db)
    note(db, "docs", [passage(1, "a")])
    embed(db)
    take(db, "two")
    embed(db)

    note(db, "docs", [passage(1, "b")])
    note(db, "docs", [passage(1, "a")])

    assert rows_found(db) == [1]
    assert promote(db)
    assert rows_found(db) == [1]


def test_vectors_of_a_model_no_longer_aimed_at_are_ignored(
    db: apsw.Connection,
) -> None:
    old = take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db, limit=1)
    work = waiting(db, old, 9)
    take(db, "two")

    assert store(db, old.id, [(work[0], parts_of("b"))]) == 0
    assert count(db, "vector") == 1


def test_going_back_to_the_old_model_drops_the_new_one(db: apsw.Connection) -> None:
    take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db, limit=1)
    take(db, "two")
    embed(db)

    take(db)

    assert progress(db) == (1, 2, "one", None, 0, 0)
    assert len(rows_found(db)) == 1
    while tidy(db):
        pass
    assert count(db, "model") == count(db, "vector") == 1


def test_model_that_comes_back_before_it_is_tidied_keeps_its_vectors(
    db: apsw.Connection,
) -> None:
    take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b")])
    embed(db)
    take(db, "two")
    embed(db)
    promote(db)

    take(db)

    assert progress(db) == (2, 2, "two", "one", 0, 0)
    assert promote(db)
    check_places(db)


def test_model_that_never_embedded_anything_gives_way_at_once(
    db: apsw.Connection,
) -> None:
    take(db)

    model = take(db, "two")

    assert serving(db) == target(db) == model


def test_model_that_fails_at_everything_does_not_come_to_serve(
    db: apsw.Connection,
) -> None:
    take(db)
    note(db, "docs", [passage(1, "a")])
    embed(db)
    skip(db, waiting(db, take(db, "two"), 9))

    assert not promote(db)
    assert rows_found(db) == [1]


def test_oldest_unused_vectors_go_when_they_outnumber_the_others(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_FEWEST_UNUSED", 3)
    monkeypatch.setattr(vectors, "_MOST_REMOVED", 1)
    take(db)
    for row in range(1, 11):
        note(db, "docs", [passage(row, f"{row}")])
        embed(db)

    forget(db, "docs", range(1, 6))
    assert not tidy(db)
    assert count(db, "vector") == 10
    forget(db, "docs", [6])
    assert tidy(db)
    assert not tidy(db)

    assert {each for (each,) in db.execute("SELECT digest FROM vector")} == {
        digest(f"{row}") for row in range(3, 11)
    }
    assert rows_found(db) == [7, 8, 9, 10]


def test_index_of_the_version_before_is_taken_over(tmp_path: Path) -> None:
    name = "0001_files.sql"
    sql = (migrations.CORE.folder / name).read_text(encoding="utf-8")
    write_files(tmp_path, {name: sql})
    db = open_writer(":memory:")
    migrations.apply(db, [Set("core", tmp_path)])
    db.execute("INSERT INTO file VALUES ('docs', 'a.md', 1, 1, 1, 'd')")

    migrations.apply(db, [migrations.CORE])

    take(db)
    note(db, "docs", [passage(1, "a")])
    assert embed(db) == 1
    assert count(db, "file") == 1


# -- any history -----------------------------------------------------------------------

texts = st.sampled_from(("a", "b", "c", "d", f"{MANY_PARTS}0", f"{MANY_PARTS}1"))
models = st.sampled_from(("one", "two", "three"))
steps = st.lists(
    st.tuples(
        st.sampled_from(("note", "note", "embed", "forget", "aim", "promote"))
        | st.sampled_from(("note", "embed", "tidy", "rollback")),
        models,
        st.lists(st.tuples(st.integers(1, 9), texts), max_size=6),
    ),
    max_size=25,
)


class Interrupted(Exception):
    """What ends a transaction in the middle."""


def play(db: apsw.Connection, step: Step, held: dict[int, str]) -> None:
    """One step of a history; *held* is what the pack has afterwards."""
    what, identity, rows = step
    match what:
        case "note":
            note(db, "docs", [passage(*each) for each in rows])
            held |= dict(rows)
        case "forget":
            forget(db, "docs", [row for row, _ in rows])
            for row, _ in rows:
                held.pop(row, None)
        case "embed":
            embed(db, limit=len(rows))
        case "aim":
            take(db, identity)
        case "promote":
            promote(db)
        case _:
            tidy(db)


def break_off(
    db: apsw.Connection, step: Step, blocks: Blocks, held: dict[int, str]
) -> None:
    """A transaction that changes much, is searched in, and never was."""
    with transaction(db):
        play(db, ("note", *step[1:]), held)
        embed(db)
        search(db, blocks, held)
        raise Interrupted


@given(steps)
def test_any_history_leaves_what_the_passages_say(history: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_blocks, "PLACES", 4)
        db = fresh()
        take(db)
        held: dict[int, str] = {}
        blocks = Blocks()
        versions: set[int] = set()
        for step in history:
            if step[0] == "rollback":
                with pytest.raises(Interrupted):
                    break_off(db, step, blocks, dict(held))
            else:
                with transaction(db):
                    play(db, step, held)
            check(db, blocks, held)
            check_versions(db, versions)
        db.close()


def search(
    db: apsw.Connection, blocks: Blocks, held: dict[int, str]
) -> list[tuple[int, float]]:
    model = serving(db)
    assert model
    query = embedded(",".join(held.values()))
    return list(nearest(db, blocks, model, "docs", query, 99))


def check(db: apsw.Connection, blocks: Blocks, held: dict[int, str]) -> None:
    current, aimed = serving(db), target(db)
    assert current
    assert aimed
    check_places(db)
    waits = {each.row for each in waiting(db, aimed, 99)}
    placed = vectors_of(db, aimed, "docs")
    assert waits | placed.keys() == held.keys()
    assert not waits & placed.keys()
    assert progress(db)[:2] == (len(placed), len(held))
    # Whatever is found is what the model makes of the text there is now.
    served = vectors_of(db, current, "docs")
    assert served.keys() <= held.keys()
    query = vectors.unit(embedded(",".join(held.values())), DIMENSION)
    expected = []
    for row, kept in served.items():
        parts = parts_of(held[row], current.identity)
        made = np.array([vectors.unit(part, DIMENSION) for part in parts])
        assert np.array_equal(kept, made)
        expected.append((row, float((made * query).sum(axis=1).max())))
    expected.sort(key=lambda each: (-each[1], each[0]))
    assert search(db, blocks, held) == expected
    assert search(db, Blocks(), held) == expected


def check_versions(db: apsw.Connection, versions: set[int]) -> None:
    """A version that was there is there still, or never again."""
    present = dict(db.execute("SELECT version, id FROM vector_block"))
    new = present.keys() - versions
    assert not versions or not new or min(new) > max(versions)
    versions |= present.keys()


def test_rows_without_vectors_that_go_change_the_count(db: apsw.Connection) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a"), passage(2, "b", "ja")])
    embed(db)
    blocks = Blocks()
    assert blocks.counts(db, model.id, DIMENSION, "docs") == (1, 2)

    forget(db, "docs", [2])

    assert blocks.counts(db, model.id, DIMENSION, "docs") == (1, 1)


def test_a_text_keeps_all_of_its_parts_or_none(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_MOST_REMOVED", 2)
    take(db)
    note(db, "docs", [passage(n + 1, f"{MANY_PARTS}{n}") for n in range(3)])
    embed(db)
    take(db, "two")
    embed(db)
    assert promote(db)

    assert tidy(db)

    counts = db.execute("SELECT count(*) FROM vector GROUP BY model, digest")
    assert {count for (count,) in counts} == {3}


def test_what_failed_waits_again_when_it_is_asked_for(db: apsw.Connection) -> None:
    model = take(db)
    note(db, "docs", [passage(1, "a")])
    vectors.skip(db, waiting(db, model, 1))
    assert waiting(db, model, 1) == []

    vectors.try_again(db)

    assert len(waiting(db, model, 1)) == 1

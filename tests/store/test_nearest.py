"""The nearest rows, against comparing everything with everything."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import numpy as np
import pytest
from databases import fresh
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ubp.store import nearest as searching
from ubp.store import vector_blocks
from ubp.store.connection import open_reader, snapshot, transaction
from ubp.store.nearest import Near, each_nearest, nearest, similar
from ubp.store.vector_blocks import Blocks
from ubp.store.vectors import (
    ModelRow,
    Passage,
    VectorMismatch,
    aim,
    forget,
    note,
    serving,
    store,
    unit,
    waiting,
)

Floats = NDArray[np.float32]


def clustered(count: int, dimension: int, seed: int = 1) -> Floats:
    """Directions in bunches of about thirty, as texts on the same subject are."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(max(1, count // 30), dimension))
    of = chance.integers(0, len(centres), count)
    made = centres[of] + 0.6 * chance.normal(size=(count, dimension))
    return made.astype(np.float32)


def fill(db: apsw.Connection, values: Floats, first: int = 1) -> ModelRow:
    """Rows from *first* on, with these vectors."""
    with transaction(db):
        model = aim(db, identity="m", name="m", spec="{}", languages=["en"])
        rows = range(first, first + len(values))
        digests = [value.tobytes()[:64] for value in values]
        texts = zip(rows, digests, strict=True)
        note(db, "docs", [Passage(*each, "en") for each in texts])
        by_row = dict(zip(rows, values, strict=True))
        work = waiting(db, model, len(values))
        store(db, model.id, [(each, by_row[each.row][None]) for each in work])
    found = serving(db)
    assert found
    return found


def by_force(values: Floats, query: Floats, first: int = 1) -> list[Near]:
    """Every row, the nearest first."""
    dimension = len(query)
    direction = unit(query, dimension)
    similar = [float((unit(each, dimension) * direction).sum()) for each in values]
    found = [Near(row, each) for row, each in enumerate(similar, first)]
    return sorted(found, key=lambda near: (-near.similarity, near.row))


def recall(found: list[Near], truth: list[Near]) -> float:
    return len({near.row for near in found} & {near.row for near in truth}) / len(truth)


@contextmanager
def places(count: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_blocks, "PLACES", count)
        yield


@given(
    st.integers(1, 40),
    st.integers(1, 130),
    st.integers(1, 45),
    st.integers(0, 2**32 - 1),
    st.none() | st.lists(st.integers(0, 50)),
)
def test_few_rows_are_found_exactly(
    count: int, dimension: int, limit: int, seed: int, allowed: list[int] | None
) -> None:
    with places(8):
        db = fresh()
        values = clustered(count, dimension, seed)
        model = fill(db, values)
        query = clustered(1, dimension, seed + 1)[0]
        only = None if allowed is None else np.array(allowed, np.int64)

        found = nearest(db, Blocks(), model, "docs", query, limit, only)

        truth = by_force(values, query)
        if allowed is not None:
            truth = [near for near in truth if near.row in allowed]
        assert found == truth[:limit]
        db.close()


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sets(st.integers(-2, 50)))
def test_certain_rows_are_as_near_as_they_are_among_all(
    count: int, seed: int, rows: set[int]
) -> None:
    with places(8):
        db = fresh()
        values = clustered(count, 70, seed)
        model = fill(db, values)
        query = clustered(1, 70, seed + 1)[0]

        found = similar(db, model, "docs", query, rows)

        assert found == [near for near in by_force(values, query) if near.row in rows]
        assert similar(db, model, "notes", query, rows) == []
        db.close()


@pytest.fixture(scope="module")
def many() -> Iterator[tuple[apsw.Connection, Floats]]:
    db = fresh()
    values = clustered(6_000, 96)
    fill(db, values)
    yield db, values
    db.close()


@pytest.mark.parametrize(("limit", "scored"), [(10, 600), (100, 4_000)])
def test_of_many_rows_hardly_any_of_the_nearest_is_missed(
    many: tuple[apsw.Connection, Floats],
    limit: int,
    scored: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "_FEWEST_SCORED", scored)
    db, values = many
    model = serving(db)
    assert model
    blocks = Blocks()
    hits = []
    for query in values[::600] + 0.3 * clustered(10, 96, seed=2):
        found = nearest(db, blocks, model, "docs", query, limit)
        hits.append(recall(found, by_force(values, query)[:limit]))

    assert np.mean(hits) >= 0.99


def test_narrow_filter_finds_as_much_as_none(
    many: tuple[apsw.Connection, Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_FEWEST_SCORED", 300)
    db, values = many
    model = serving(db)
    assert model
    for allowed in (np.arange(7, 6_000, 500), np.arange(1, 6_001, 3)):
        truth = by_force(values, values[0])
        allowed_truth = [near for near in truth if near.row in set(allowed.tolist())]

        found = nearest(db, Blocks(), model, "docs", values[0], 10, allowed)

        assert found == allowed_truth[:10]


def test_equal_vectors_come_in_the_order_of_their_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "_FEWEST_SCORED", 10)
    monkeypatch.setattr(searching, "_SCORED_FOR_EACH", 1)
    db = fresh()
    same = np.repeat(clustered(1, 48), 300, axis=0)
    fill(db, same, first=301)
    model = fill(db, same)

    found = nearest(db, Blocks(), model, "docs", same[0], 20)

    assert [near.row for near in found] == list(range(1, 21))


def test_before_the_first_vector_nothing_is_near() -> None:
    db = fresh()
    model = aim(db, identity="m", name="m", spec="{}", languages=["en"])
    query = np.ones(4, np.float32)

    assert nearest(db, Blocks(), model, "docs", query, 5) == []
    assert list(each_nearest(db, Blocks(), model, "docs", 5)) == []


def test_other_packs_are_not_near() -> None:
    db = fresh()
    model = fill(db, clustered(5, 16))

    assert nearest(db, Blocks(), model, "other", np.ones(16, np.float32), 5) == []
    assert nearest(db, Blocks(), model, "docs", np.ones(16, np.float32), 0) == []


@pytest.mark.parametrize(
    "query", [np.ones(15, np.float32), np.zeros(16, np.float32)], ids=["short", "zero"]
)
def test_query_that_is_no_vector_of_the_model_is_refused(query: Floats) -> None:
    db = fresh()
    model = fill(db, clustered(5, 16))

    with pytest.raises(VectorMismatch):
        nearest(db, Blocks(), model, "docs", query, 5)


def test_every_row_has_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_blocks, "PLACES", 64)
    db = fresh()
    values = clustered(200, 40)
    model = fill(db, values)

    found = dict(each_nearest(db, Blocks(), model, "docs", 5))

    assert found.keys() == set(range(1, 201))
    for row, near in found.items():
        truth = by_force(values, values[row - 1])
        assert near == [each for each in truth if each.row != row][:5]


# -- readers ---------------------------------------------------------------------------


def test_restart_gives_the_same_answers(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    db = fresh(path)
    values = clustered(50, 33)
    model = fill(db, values)
    before = nearest(db, Blocks(), model, "docs", values[3], 9)
    db.close()

    reader = open_reader(path)

    again = serving(reader)
    assert again == model
    assert nearest(reader, Blocks(), model, "docs", values[3], 9) == before
    assert before == by_force(values, values[3])[:9]


def test_reader_keeps_seeing_its_snapshot_through_shared_blocks(
    tmp_path: Path,
) -> None:
    path = tmp_path / "index.db"
    writer = fresh(path)
    values = clustered(20, 33)
    model = fill(writer, values)
    blocks = Blocks()
    old, new = open_reader(path), open_reader(path)

    def ask(db: apsw.Connection) -> list[Near]:
        return nearest(db, blocks, model, "docs", values[0], 99)

    after: list[Near] = []
    with snapshot(old):
        before = ask(old)
        for _ in range(3):
            with transaction(writer):
                forget(writer, "docs", range(1, 11))
            fill(writer, clustered(5, 33, seed=9), first=30)

            with snapshot(new):
                after = ask(new)
            assert ask(old) == before

    assert {near.row for near in before} == set(range(1, 21))
    assert {near.row for near in after} == {*range(11, 21), *range(30, 35)}
    with snapshot(old):
        assert ask(old) == after


def test_only_changed_blocks_are_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_blocks, "PLACES", 16)
    db = fresh()
    model = fill(db, clustered(64, 33))
    blocks = Blocks()
    before = blocks.of(db, model.id, 33, "docs")

    forget(db, "docs", [20])

    after = blocks.of(db, model.id, 33, "docs")
    assert [now is then for now, then in zip(after, before, strict=True)] == [
        True,
        False,
        True,
        True,
    ]


def test_what_is_gone_is_not_kept() -> None:
    db = fresh()
    model = fill(db, clustered(64, 33))
    blocks = Blocks()
    blocks.of(db, model.id, 33, "docs")
    assert blocks.size > 64 * 33

    forget(db, "docs", range(1, 65))

    assert blocks.of(db, model.id, 33, "docs") == []
    assert blocks.size == 0


def test_what_is_not_committed_is_not_kept() -> None:
    db = fresh()
    model = fill(db, clustered(4, 33))
    blocks = Blocks()

    with transaction(db):
        forget(db, "docs", [1])
        assert len(nearest(db, blocks, model, "docs", np.ones(33, np.float32), 9)) == 3

    assert blocks.size == 0


def test_readers_in_threads_share_blocks(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    writer = fresh(path)
    values = clustered(200, 33)
    model = fill(writer, values)
    blocks = Blocks()
    truth = {row: by_force(values, values[row])[:5] for row in range(20)}

    def ask(row: int) -> tuple[int, list[Near]]:
        reader = open_reader(path)
        with snapshot(reader):
            return row, nearest(reader, blocks, model, "docs", values[row], 5)

    with ThreadPoolExecutor(4) as pool:
        assert dict(pool.map(ask, range(20))) == truth


def test_a_row_with_many_parts_is_found_once_by_its_best_one() -> None:
    db = fresh()
    values = clustered(400, 32)
    query = values[0]
    with transaction(db):
        model = aim(db, identity="m", name="m", spec="{}", languages=["en"])
        rows = range(1, 41)
        note(db, "docs", [Passage(row, bytes([row]) * 16, "en") for row in rows])
        parts = {row: values[(row - 1) * 10 : row * 10] for row in rows}
        work = waiting(db, model, 40)
        assert store(db, model.id, [(each, parts[each.row]) for each in work]) == 40
    found_model = serving(db)
    assert found_model

    found = nearest(db, Blocks(), found_model, "docs", query, 30)

    unit = query / np.linalg.norm(query)
    best = {
        row: float(((part / np.linalg.norm(part, axis=1)[:, None]) @ unit).max())
        for row, part in parts.items()
    }
    expected = sorted(best, key=lambda row: -best[row])[:30]
    assert [near.row for near in found] == expected
    for near in found:
        assert near.similarity == pytest.approx(best[near.row], abs=1e-5)

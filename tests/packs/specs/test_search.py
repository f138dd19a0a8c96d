"""Finding sections, by words and by meaning."""

import apsw
import numpy as np
import pytest
from notebooks import vector_of
from spec_books import book, found, keep

from ubp.messages import QueryVector
from ubp.packs.specs import queries
from ubp.packs.specs.query_syntax import understood
from ubp.packs.specs.search import Hit, by_meaning, by_words, together
from ubp.store import vectors
from ubp.store.connection import transaction
from ubp.store.vector_blocks import Blocks

PAGES = {
    "all.md": """# Types

Overview of kinds.

## Slice types

A slice is a view of an array.

## Map types

A map holds keys; a slice is no map.

# Types of errors

A slice may fail.

# 100% coverage

A covered slice.

# Fruit

## Apples

The red apple grows.

## Pears

The pear grows, red leaves near no apple tree; bananas are elsewhere.

## Bananas

A banana is long; see fig and lantern, lantern, lantern.

# Lantern

It shines.

# Operators

Short declarations use := and channels use <- in code.

# 型

配列の型を推論する。
""",
}


@pytest.fixture(scope="module")
def db() -> apsw.Connection:
    return book(PAGES)


def newest(db: apsw.Connection) -> int:
    snapshot = queries.newest(db, "demo", "demo-spec")
    assert snapshot is not None
    return snapshot.id


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("slice types", ["Slice types", "Map types", "Types of errors"]),
        ("lantern", ["Lantern", "Bananas"]),
        ("apple pear", ["Pears"]),
        ("fig OR pear", ["Pears", "Bananas"]),
        ("apple NOT pear", ["Apples"]),
        ('"red apple"', ["Apples"]),
        ("lanter*", ["Lantern", "Bananas"]),
        ("bananas", ["Bananas", "Pears"]),
        (":=", ["Operators"]),
        ("<- :=", ["Operators"]),
        ("推論", ["型"]),
        ("型", ["型"]),
        ("xylophonequartet", []),
        (" ", []),
    ],
)
def test_sections_are_found_by_their_words(
    db: apsw.Connection, query: str, titles: list[str]
) -> None:
    assert found(db, query) == titles


def test_some_of_the_words_are_enough_where_no_section_has_all(
    db: apsw.Connection,
) -> None:
    result = by_words(db, newest(db), understood("apple nonexistentword"), None)

    assert [hit.match for hit in result.hits] == ["any", "any"]
    assert result.is_little
    assert found(db, "apple nonexistentword") == ["Apples", "Pears"]


def test_meaning_is_asked_only_where_it_could_be_shown(db: apsw.Connection) -> None:
    def asks(query: str, limit: int) -> bool:
        return by_words(db, newest(db), understood(query), None).leaves_room(limit)

    assert asks("lantern", 10)
    assert not asks("lantern", 2)
    assert asks("apple nonexistentword", 1)
    assert asks("xylophonequartet", 1)
    assert not asks(":=", 10)
    assert not asks(" ", 10)


def test_scores_are_negative_and_ascending(db: apsw.Connection) -> None:
    hits = by_words(db, newest(db), understood("slice"), None).hits
    scores = [hit.score for hit in hits]

    assert len(scores) == 4
    assert scores == sorted(scores)
    assert all(score < 0 for score in scores)


@pytest.mark.parametrize(
    ("prefix", "titles"),
    [
        ("Types", {"Slice types", "Map types"}),
        ("Types > Map types", {"Map types"}),
        ("", {"Slice types", "Map types", "100% coverage", "Types of errors"}),
        ("Type", set()),
        ("types", set()),
        ("100% coverage", {"100% coverage"}),
        ("%", set()),
        ("' OR 1=1 --", set()),
    ],
)
def test_a_prefix_is_one_of_whole_headings(
    db: apsw.Connection, prefix: str, titles: set[str]
) -> None:
    assert set(found(db, "slice", prefix)) == titles


def test_other_documents_and_versions_change_no_score() -> None:
    db = book(PAGES)
    before = by_words(db, newest(db), understood("slice types"), None).hits

    keep(db, {"b.md": "# Slice\n\nslice slice\n" * 5}, language="other")
    keep(db, {"a.md": "# Slice\n\nslice\n"}, day="2025-01-01")

    assert by_words(db, newest(db), understood("slice types"), None).hits == before


def embedded(db: apsw.Connection) -> None:
    with transaction(db):
        model = vectors.aim(db, identity="m", name="m", spec="{}", languages=["en"])
        waiting = vectors.waiting(db, model, 1_000)
        texts = queries.passages(db, [entry.row for entry in waiting])
        vectors.store(
            db,
            model.id,
            [(each, vector_of("\n".join(texts[each.row]))[None]) for each in waiting],
        )


def near(
    db: apsw.Connection,
    text: str,
    prefix: str | None = None,
    *,
    related: float = 0.9,
    alone: bool = False,
) -> list[str]:
    model = vectors.serving(db)
    assert model is not None
    values = vector_of(text).astype(np.float32).tobytes()
    vector = QueryVector(model.id, values, 0.3, related)
    hits = by_meaning(db, Blocks(), newest(db), vector, prefix, 10, alone=alone)
    assert all((hit.score, hit.match) == (0.0, "meaning") for hit in hits)
    sections = queries.sections(db, [hit.row for hit in hits])
    return [sections[hit.row].row.title for hit in hits]


def test_sections_are_found_by_meaning_in_the_newest_snapshot_alone() -> None:
    db = book({"a.md": "# Old\n\nThe bird sings.\n"})
    keep(
        db,
        {"a.md": "# Wings\n\nA bird flies.\n\n# Tea\n\nThe kettle boils.\n"},
        day="2026-01-02",
    )
    embedded(db)

    assert near(db, "bird") == ["Wings"]
    assert near(db, "bird", "Tea") == []
    assert near(db, "chess") == []


def test_less_similarity_is_enough_where_no_word_was_found() -> None:
    db = book({"a.md": "# Wings\n\nA bird flies.\n\n# Tea\n\nThe kettle boils.\n"})
    embedded(db)

    assert near(db, "bird", related=4.3) == []
    assert near(db, "bird", related=4.3, alone=True) == ["Wings"]
    assert near(db, "chess", related=4.3, alone=True) == []


def test_what_is_near_follows_what_has_the_words_and_is_there_once() -> None:
    some = [Hit(row, -1.0, "any") for row in range(8)]
    close = [Hit(row, 0.0, "meaning") for row in (2, 20, 21)]

    assert [hit.row for hit in together(some, close, 10)] == [0, 1, 2, 3, 20, 21]
    assert [hit.row for hit in together(some, close, 5)] == [0, 1, 2, 3, 20]
    assert together(some, [], 10) == some
    complete = [Hit(row, -1.0) for row in range(6)]
    assert [hit.row for hit in together(complete, close, 50)] == [*range(6), 20, 21]

"""Storing snapshots, and comparing them."""

import msgspec
import pytest
from databases import fresh
from spec_books import book, found, keep, titles

from ubp.config import Settings
from ubp.packs.specs import queries
from ubp.packs.specs.comparing import compared
from ubp.packs.specs.failures import NotIngested, UnknownVersion
from ubp.packs.specs.languages import Language, language
from ubp.store import vectors

ONE = {"a.md": "# A\n\nOne.\n\n# B\n\nTwo.\n", "b.md": "# C\n\nThree.\n"}


def demo() -> Language:
    source = {"demo": {"strategy": "local", "path": "x"}}
    settings = msgspec.convert({"specs": {"sources": source}}, Settings)
    return language(settings, "demo")


def test_the_first_snapshot_is_new_throughout() -> None:
    done = keep(fresh(), ONE)

    assert done == ("snapshot-20260101", None, 3, 0, 0, 0, 0)


def test_the_same_pages_make_no_new_snapshot() -> None:
    db = book(ONE)

    done = keep(db, ONE, day="2026-01-02")

    assert done == ("snapshot-20260101", "snapshot-20260101", 0, 0, 3, 0, 0)
    assert len(queries.snapshots(db, "demo")) == 1


def test_a_change_makes_a_complete_new_one_and_leaves_the_old() -> None:
    db = book(ONE)

    done = keep(db, {**ONE, "b.md": "# C\n\nChanged.\n\n# D\n"}, day="2026-01-02")

    assert done == ("snapshot-20260102", "snapshot-20260101", 1, 1, 2, 0, 0)
    assert titles(db) == ["A", "B", "C", "D"]
    versions = [each.version for each in queries.snapshots(db, "demo")]
    assert versions == ["snapshot-20260102", "snapshot-20260101"]
    old = queries.of_version(db, "demo", "demo-spec", "snapshot-20260101")
    assert old is not None
    assert [each.title for each in queries.placed(db, old.id)] == ["A", "B", "C"]


def test_on_the_same_day_what_is_gone_is_gone_and_what_moved_moves() -> None:
    db = book(ONE)

    done = keep(db, {"b.md": ONE["b.md"], "a.md": "# B\n\nTwo.\n"})

    assert done == ("snapshot-20260101", "snapshot-20260101", 0, 0, 2, 1, 0)
    assert titles(db) == ["C", "B"]
    assert found(db, "one") == []
    assert found(db, "two") == ["B"]


def test_a_title_or_a_policy_alone_is_a_change() -> None:
    db = book(ONE)

    assert keep(db, {**ONE, "b.md": "# See {#c}\n\nThree.\n"}).updated == 1
    assert keep(db, ONE, policy="excerpt_only").updated == 3


def test_a_snapshot_of_an_earlier_day_does_not_become_the_newest() -> None:
    db = book(ONE)

    done = keep(db, {"a.md": "# Old\n"}, day="2025-01-01")

    assert done.version == "snapshot-20260101"
    assert titles(db) == ["A", "B", "C"]


def test_what_was_carried_over_is_counted_and_confirmed_when_it_is_had() -> None:
    db = book(ONE)
    changed = {**ONE, "a.md": "# A\n\nNew.\n"}

    done = keep(db, changed, day="2026-01-02", carried=frozenset({"b.md"}))
    assert done.carried_over == 1
    snapshot = queries.newest(db, "demo", "demo-spec")
    assert snapshot is not None
    assert [p.carried for p in queries.stored_pages(db, snapshot.id)] == [False, True]

    keep(db, changed, day="2026-01-03")
    assert [p.carried for p in queries.stored_pages(db, snapshot.id)] == [False, False]


def test_only_the_newest_snapshot_waits_for_vectors() -> None:
    db = book(ONE)
    vectors.aim(db, identity="m", name="m", spec="{}", languages=["en"])

    keep(db, {**ONE, "b.md": "# C\n\nChanged.\n"}, day="2026-01-02")

    model = vectors.target(db)
    assert model is not None
    waiting = {entry.row for entry in vectors.waiting(db, model, 100)}
    newest = queries.newest(db, "demo", "demo-spec")
    assert newest is not None
    assert waiting == {each.row for each in queries.passages_of(db, newest.id)}


def test_of_a_source_for_excerpts_no_more_than_one_is_embedded() -> None:
    db = fresh()
    keep(db, {"a.md": f"# A\n\n{'secret ' * 500}\n"}, policy="excerpt_only")
    newest = queries.newest(db, "demo", "demo-spec")
    assert newest is not None

    [text] = queries.passages(
        db, [each.row for each in queries.passages_of(db, newest.id)]
    ).values()

    assert len(text.body) <= 1200


def test_a_difference_names_sections_and_quotes_nothing() -> None:
    db = book(ONE)
    keep(
        db,
        {"a.md": "# A\n\nNew words.\n\n# D\n", "b.md": ONE["b.md"]},
        day="2026-01-02",
    )

    told = compared(db, demo(), None, "snapshot-20260101", "latest")

    assert msgspec.to_builtins(told) == {
        "added": [{"section_id": "d", "title": "D"}],
        "removed": [{"section_id": "b", "title": "B"}],
        "changed": [{"section_id": "a", "title": "A"}],
    }


def test_a_difference_between_what_is_not_there_is_refused() -> None:
    with pytest.raises(NotIngested):
        compared(fresh(), demo(), None, "latest", "latest")
    with pytest.raises(UnknownVersion) as caught:
        compared(book(ONE), demo(), None, "snapshot-19990101", "latest")
    assert "snapshot-20260101" in caught.value.message

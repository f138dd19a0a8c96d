"""Finding chunks by meaning, within tags, with a net of words below."""

import pytest
from hypothesis import given
from notebooks import embed, found, keep, notebook
from strategies import anything, mixed

from ubp.packs.notes import writes
from ubp.store.connection import transaction

BIRDS = "## Birds\n\nThe bird sings at dawn."
KETTLE = "## Kettle\n\nThe kettle boils slowly."
NOTES = {
    "docs/birds.md": f"---\ntitle: Finches\ntags: [a, b]\n---\n{BIRDS}",
    "docs/kettle.md": f"---\ntags: [b]\n---\n{KETTLE}",
    "docs/茶.md": "---\ntitle: お茶\ntags: [茶]\n---\n## 手順\n\n急須にお湯を注ぐ。",
}


def paths(*given: object, **more: object) -> list[str]:
    return [path for path, _ in found(*given, **more)]  # type: ignore[arg-type]


def test_what_is_close_in_meaning_is_found_and_nothing_else() -> None:
    db = notebook(NOTES)
    embed(db)

    [(path, similarity)] = found(db, "bird watching")

    assert path == "docs/birds.md"
    assert similarity > 0.9


def test_a_threshold_that_nothing_reaches_finds_nothing() -> None:
    db = notebook(NOTES)
    embed(db)

    assert found(db, "bird watching", threshold=0.999) == []


def test_what_has_every_word_is_found_at_the_threshold() -> None:
    db = notebook(NOTES)
    embed(db)

    assert ("docs/kettle.md", 0.7) in found(db, "boils slowly")
    assert found(db, "boils slowly", threshold=0.99) == [("docs/kettle.md", 0.99)]


@pytest.mark.parametrize("query", ["Finches", "finches sings", "FINCHES dawn."])
def test_words_of_the_title_count_as_well(query: str) -> None:
    db = notebook(NOTES)
    embed(db)

    assert "docs/birds.md" in paths(db, query)


def test_some_of_the_words_are_not_enough_where_there_is_a_vector() -> None:
    db = notebook(NOTES)
    embed(db)

    assert paths(db, "boils quickly") == []


def test_a_part_of_a_word_is_not_the_word() -> None:
    db = notebook(NOTES)

    assert paths(db, "boil") == []
    assert paths(db, "急須") == ["docs/茶.md"]


def test_a_language_the_model_does_not_know_is_found_by_its_words() -> None:
    db = notebook(NOTES)
    embed(db)

    assert found(db, "急須 お湯", by_meaning=False) == [("docs/茶.md", 0.7)]
    assert paths(db, "電車の時刻表", by_meaning=False) == []


def test_what_is_not_embedded_yet_is_found_by_its_words() -> None:
    db = notebook(NOTES)
    embed(db)
    keep(db, "docs/new.md", "## New\n\nA walrus sleeps on the ice.")

    assert paths(db, "where is the walrus on ice") == ["docs/new.md"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["a"], ["docs/birds.md"]),
        (["b"], ["docs/birds.md", "docs/kettle.md"]),
        (["a", "茶"], ["docs/birds.md", "docs/茶.md"]),
        (["A"], ["docs/birds.md"]),
        (["#a"], ["docs/birds.md"]),
        (["nowhere"], []),
        ([""], []),
        ([], sorted(NOTES)),
    ],
)
def test_a_threshold_of_0_finds_everything_with_the_tag(
    tags: list[str], expected: list[str]
) -> None:
    db = notebook(NOTES)
    embed(db)

    assert sorted(paths(db, "anything at all", *tags, threshold=0)) == expected
    plain = paths(db, "anything at all", *tags, threshold=0, by_meaning=False)
    assert sorted(plain) == expected


def test_what_is_equal_comes_by_how_well_its_words_fit_then_by_path() -> None:
    db = notebook(
        {
            "docs/2.md": "## X\n\nA walrus.",
            "docs/1.md": "## X\n\nA walrus.",
            "docs/0.md": f"## X\n\nA walrus. {'And something else. ' * 20}",
        }
    )

    expected = ["docs/1.md", "docs/2.md", "docs/0.md"]
    assert paths(db, "walrus", by_meaning=False) == expected


def test_the_limit_holds() -> None:
    db = notebook({f"docs/{n}.md": BIRDS for n in range(9)})
    embed(db)

    assert paths(db, "bird", limit=3) == ["docs/0.md", "docs/1.md", "docs/2.md"]
    assert len(paths(db, "bird", limit=3, threshold=0, by_meaning=False)) == 3


def test_a_word_too_long_for_the_index_is_found_all_the_same() -> None:
    digest = "deadbeef" * 10
    db = notebook({"docs/a.md": f"## X\n\nIt is {digest}.", "docs/b.md": BIRDS})

    assert paths(db, digest) == ["docs/a.md"]
    assert paths(db, f"it {digest}") == ["docs/a.md"]
    assert paths(db, f"nothing {digest}") == []
    assert paths(db, digest, "t") == []


def test_names_with_punctuation_are_words() -> None:
    db = notebook(
        {"docs/c.md": "## X\n\nC is old.", "docs/cpp.md": "## X\n\nC++ is not."}
    )

    assert paths(db, "C++") == ["docs/cpp.md"]


# -- superseded ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "replaced"),
    [
        ("old", ["docs/old.md", "docs/sub/old.md"]),
        ("old.md", ["docs/old.md", "docs/sub/old.md"]),
        ("docs/old.md", ["docs/old.md"]),
        ("docs/sub/old", ["docs/sub/old.md"]),
        ("ld", []),
    ],
)
def test_a_note_that_another_replaces_is_not_found(
    name: str, replaced: list[str]
) -> None:
    files = {
        "docs/old.md": "A walrus.",
        "docs/new.md": f"---\nprevious: [{name}]\n---\nA walrus.",
        "docs/sub/old.md": "A walrus.",
        "docs/my-old.md": "A walrus.",
    }
    expected = sorted(files.keys() - set(replaced))

    for order in (list(files), list(reversed(files))):
        db = notebook({path: files[path] for path in order})
        embed(db)
        assert sorted(paths(db, "walrus", threshold=0)) == expected


def test_it_is_found_again_when_nobody_replaces_it_any_more() -> None:
    db = notebook(
        {"docs/a.md": "A bird.", "docs/b.md": "---\nprevious: a\n---\nA bird."}
    )
    embed(db)
    assert paths(db, "bird") == ["docs/b.md"]

    keep(db, "docs/b.md", "A bird.")
    embed(db)

    assert paths(db, "bird") == ["docs/a.md", "docs/b.md"]
    keep(db, "docs/b.md", "---\nprevious: a\n---\nA bird.")
    with transaction(db):
        writes.forget(db, "docs/b.md")
    embed(db)
    assert paths(db, "bird") == ["docs/a.md"]


def test_a_note_does_not_replace_itself() -> None:
    db = notebook({"docs/a.md": "---\nprevious: a\n---\nA bird."})

    assert paths(db, "bird") == ["docs/a.md"]


def test_a_moved_note_is_replaced_by_its_new_name() -> None:
    db = notebook(
        {"docs/a.md": "A bird.", "docs/b.md": "---\nprevious: c\n---\nA bird."}
    )
    with transaction(db):
        writes.rename(db, "docs/a.md", "docs/c.md")
    keep(db, "docs/c.md", "A bird.")

    assert paths(db, "bird") == ["docs/b.md"]


def test_what_is_edited_away_is_found_no_more() -> None:
    db = notebook({"docs/a.md": "## A\n\nA bird.\n\n## B\n\nA kettle."})
    embed(db)

    keep(db, "docs/a.md", "## A\n\nA kettle.")
    embed(db)

    assert paths(db, "kettle") == ["docs/a.md"]
    assert paths(db, "bird") == []
    keep(db, "docs/a.md", "## A\n")
    assert paths(db, "kettle", threshold=0) == []


@given(anything | mixed)
def test_any_question_is_answered(query: str) -> None:
    db = notebook(NOTES)

    for threshold in (0.0, 0.7):
        assert len(found(db, query, threshold=threshold, by_meaning=False)) <= 3

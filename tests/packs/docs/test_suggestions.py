"""Pairs of pages close in meaning: the best sections, no links, an order that holds."""

from pathlib import Path

import pytest
from meanings import RealModel

from ubp.packs.docs.suggestions import suggest_links
from ubp.store.connection import snapshot

BREAD = "Feed the sourdough starter with flour and water each morning before baking."
LOAF = "Every morning, before you bake, give flour and water to the sourdough starter."
CHESS = "The king may castle with a rook when neither of the two has moved."


@pytest.fixture(scope="module")
def model(models: Path) -> RealModel:
    return RealModel(models)


def pairs(
    model: RealModel, pages: dict[str, str], least: float = 0.7, limit: int = 10
) -> list[tuple[str, str]]:
    db = model.pages(pages)
    with snapshot(db):
        found = suggest_links(db, least, limit)
    assert found.total >= len(found.suggestions)
    scores = [each.similarity for each in found.suggestions]
    assert scores == sorted(scores, reverse=True)
    assert all(least <= score <= 1.0001 for score in scores)
    return [(each.source_filepath, each.target_filepath) for each in found.suggestions]


def test_close_pages_are_suggested_and_others_are_not(model: RealModel) -> None:
    pages = {"loaf.md": LOAF, "chess.md": CHESS, "bread.md": BREAD}

    assert pairs(model, pages) == [("bread.md", "loaf.md")]
    assert pairs(model, pages, least=0.999) == []


@pytest.mark.parametrize("link", ["[[bread]]", "[it](bread.md)"])
def test_pages_linked_either_way_are_not_suggested(model: RealModel, link: str) -> None:
    assert pairs(model, {"loaf.md": f"{LOAF} {link}", "bread.md": BREAD}) == []


def test_of_many_close_sections_the_closest_two_are_shown(model: RealModel) -> None:
    filler = "A paragraph about something else entirely, such as trains. " * 12
    two = f"## Baking\n\n{BREAD} {filler}\n\n## Exactly\n\n{BREAD}\n\n{BREAD} {BREAD}"
    one = f"## The same\n\n{BREAD}\n\n{BREAD} {BREAD}"
    db = model.pages({"a.md": two, "b.md": one})

    with snapshot(db):
        [found] = suggest_links(db, 0.5, 10).suggestions

    assert (found.source_section, found.target_section) == ("Exactly", "The same")


def test_sections_of_one_page_are_no_pair(model: RealModel) -> None:
    text = f"## One\n\n{BREAD} {BREAD} {BREAD}\n\n## Two\n\n{BREAD} {BREAD} {BREAD}"

    assert pairs(model, {"a.md": text}) == []


def test_a_section_without_heading_is_called_by_its_beginning(model: RealModel) -> None:
    db = model.pages({"a.md": BREAD, "b.md": LOAF})

    with snapshot(db):
        [found] = suggest_links(db, 0.5, 10).suggestions

    assert found.source_section == BREAD
    assert len(found.target_section) <= 100


def test_the_limit_cuts_what_is_shown_not_what_is_counted(model: RealModel) -> None:
    db = model.pages({f"{name}.md": BREAD for name in "abc"})

    with snapshot(db):
        found = suggest_links(db, 0.5, 1)

    assert (len(found.suggestions), found.total) == (1, 3)


def test_without_vectors_nothing_is_suggested(model: RealModel) -> None:
    db = model.pages({})

    with snapshot(db):
        assert suggest_links(db, 0.0, 10).total == 0

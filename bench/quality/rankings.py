"""What the product finds for a query, as a ranking of pages and one of sections."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import apsw

from bench.quality.score import CUT, normal_heading, normal_path, unique
from ubp.config import SearchSettings
from ubp.languages import language_of
from ubp.messages import QueryVector
from ubp.packs.docs import queries
from ubp.packs.docs.hybrid import Question, find
from ubp.packs.docs.meaning_signals import by_meaning
from ubp.store.vector_blocks import Blocks

__all__ = ("MODES", "Mode", "Place", "Ranking", "rank", "unnamed")

Mode = Literal["keyword", "vector", "hybrid"]

MODES: tuple[Mode, ...] = ("keyword", "vector", "hybrid")


Place = tuple[str, str]
"""A section by the path of its page and its heading, as relevance sets name it."""


class Ranking(NamedTuple):
    """Best first, and each only once."""

    pages: list[str]
    sections: list[Place]


class _Hit(NamedTuple):
    """A section, by the path of its page."""

    path: str
    row: int
    score: float


def rank(
    db: apsw.Connection,
    blocks: Blocks,
    mode: Mode,
    text: str,
    vector: QueryVector | None,
    defaults: SearchSettings,
) -> Ranking:
    """What is found by words alone, by the vector alone, or as clients see it."""
    if mode == "vector":
        return _by_vector(db, blocks, text, vector)
    question = Question(
        text=text,
        vector=vector if mode == "hybrid" else None,
        limit=CUT,
        depth=defaults.max_depth,
        link_types=None,
        doc_type=None,
        alpha=defaults.alpha,
    )
    return _as_answered(db, blocks, question)


def unnamed(db: apsw.Connection, wanted: set[Place]) -> set[Place]:
    """Those of *wanted* that no section of the index is called by.

    No search can find them: a very short section is part of the one before, and
    headings of the fourth level and below begin none.
    """
    asked = {path for path, _ in wanted}
    pages = [p for p in queries.all_pages(db) if normal_path(p.path) in asked]
    titles = {page.id: page.title for page in pages}
    there = {
        (normal_path(page.path), _called(section, titles))
        for page in pages
        for section in queries.sections(db, page.id)
    }
    return wanted - there


def _called(section: queries.Section, titles: dict[int, str]) -> str:
    """What a reader would call a section: before the first heading, by the title."""
    return normal_heading(section.heading or titles[section.page_id])


def _titles(db: apsw.Connection, pages: set[int]) -> dict[int, str]:
    return {page.id: page.title for page in queries.pages(db, pages).values()}


def _as_answered(db: apsw.Connection, blocks: Blocks, question: Question) -> Ranking:
    ranked = find(db, blocks, question).pages
    # Of a page that only links brought in, an answer shows how it begins.
    without = [each.page.id for each in ranked if not each.sections]
    first = queries.first_sections(db, without, None)
    hits: list[_Hit] = []
    for each in ranked:
        path = each.page.path
        hits += [_Hit(path, hit.row, hit.score) for hit in each.sections]
        if each.page.id in first:
            hits.append(_Hit(path, first[each.page.id], 0.0))
    return _ranking(db, [each.page.path for each in ranked], hits)


def _by_vector(
    db: apsw.Connection, blocks: Blocks, text: str, vector: QueryVector | None
) -> Ranking:
    """By similarity alone; nothing without a vector."""
    if vector is None:
        return Ranking([], [])
    meaning = by_meaning(db, blocks, vector, None, language_of(text)).pages
    pages = queries.pages(db, meaning)
    ordered = sorted(
        pages.values(), key=lambda page: (-meaning[page.id].similarity, page.path)
    )
    hits = [
        _Hit(page.path, row, similarity)
        for page in ordered
        for row, similarity in meaning[page.id].sections
    ]
    return _ranking(db, [page.path for page in ordered], hits)


def _ranking(
    db: apsw.Connection, paths: Iterable[str], hits: Iterable[_Hit]
) -> Ranking:
    # Sorting keeps the order of equals: by rank of the page, then as it lists them.
    best = sorted(hits, key=lambda hit: -hit.score)
    texts = queries.section_texts(db, [hit.row for hit in best])
    titles = _titles(db, {text.page_id for text in texts.values()})
    sections = [
        (normal_path(hit.path), _called(texts[hit.row], titles)) for hit in best
    ]
    pages = [normal_path(path) for path in paths]
    return Ranking(unique(pages)[:CUT], unique(sections)[:CUT])

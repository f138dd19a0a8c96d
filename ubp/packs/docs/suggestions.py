"""Pages that are close in meaning and not linked: links somebody may want to write."""

from typing import NamedTuple

import apsw
from msgspec import Struct

from ubp.packs.docs import queries
from ubp.packs.docs.text_index import PACK_NAME
from ubp.store import vectors
from ubp.store.nearest import each_nearest
from ubp.store.vector_blocks import Blocks

__all__ = ("Suggestion", "Suggestions", "suggest_links")

_NEIGHBOURS = 10
"""Sections looked at around each one."""

_LABEL = 100
"""Characters of a section without a heading that stand for it."""


class Suggestion(Struct, frozen=True):
    """Two pages, and their two sections that are closest."""

    source_filepath: str
    target_filepath: str
    similarity: float
    source_section: str
    target_section: str


class Suggestions(Struct, frozen=True):
    """The closest pairs, and how many there are in all."""

    suggestions: list[Suggestion]
    total: int


class _Pair(NamedTuple):
    similarity: float
    source: int
    target: int


def suggest_links(db: apsw.Connection, min_score: float, limit: int) -> Suggestions:
    """Pairs of pages at least *min_score* alike with no link between them."""
    model = vectors.serving(db)
    if model is None:
        return Suggestions([], 0)
    page_of = queries.all_section_pages(db)
    linked = {frozenset((edge.source, edge.target)) for edge in queries.all_edges(db)}
    best: dict[frozenset[int], _Pair] = {}
    for row, neighbours in each_nearest(db, Blocks(), model, PACK_NAME, _NEIGHBOURS):
        for near in neighbours:
            if near.similarity < min_score:
                break  # the others are farther
            pages = frozenset((page_of[row], page_of[near.row]))
            if len(pages) == 1 or pages in linked:
                continue
            first, second = sorted((row, near.row))
            pair = _Pair(near.similarity, first, second)
            if pages not in best or pair > best[pages]:
                best[pages] = pair
    return _shown(db, list(best.values()), page_of, limit)


def _shown(
    db: apsw.Connection, pairs: list[_Pair], page_of: dict[int, int], limit: int
) -> Suggestions:
    pages = queries.pages(db, {page_of[row] for pair in pairs for row in pair[1:]})
    path_of = {row: pages[page_of[row]].path for pair in pairs for row in pair[1:]}
    # Each pair in the order of its paths, so that the same one reads the same.
    pairs = [
        pair
        if path_of[pair.source] <= path_of[pair.target]
        else _Pair(pair.similarity, pair.target, pair.source)
        for pair in pairs
    ]
    pairs.sort(
        key=lambda pair: (-pair.similarity, path_of[pair.source], path_of[pair.target])
    )
    shown = pairs[:limit]
    texts = queries.section_texts(db, [row for pair in shown for row in pair[1:]])
    labels = {
        row: text.heading or " ".join(text.content.split())[:_LABEL]
        for row, text in texts.items()
    }
    return Suggestions(
        [
            Suggestion(
                path_of[pair.source],
                path_of[pair.target],
                round(pair.similarity, 4),
                labels[pair.source],
                labels[pair.target],
            )
            for pair in shown
        ],
        len(pairs),
    )

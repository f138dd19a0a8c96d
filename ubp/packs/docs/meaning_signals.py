"""How close pages are in meaning to a question."""

from collections.abc import Collection
from typing import NamedTuple

import apsw
import numpy as np

from ubp.languages import Language
from ubp.messages import QueryVector
from ubp.packs.docs import queries
from ubp.packs.docs.page_signals import PageMeaning
from ubp.packs.docs.text_index import PACK_NAME
from ubp.store import vectors
from ubp.store.nearest import nearest, similar
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import phase

__all__ = ("FoundByMeaning", "by_meaning", "without_vectors")

_MOST_ROWS = 200
"""Sections looked at: far more than pages are asked for, because some pages have
many."""

_BEST = 0.8
_OTHERS = 3
"""A page is as close as its best section; a fifth comes of its best three together."""


class FoundByMeaning(NamedTuple):
    """Pages with how close they are."""

    pages: dict[int, PageMeaning]
    abroad: float
    """The share of what is closest that is in another language than the question."""


_NOTHING = FoundByMeaning({}, 0.0)


def by_meaning(
    db: apsw.Connection,
    blocks: Blocks,
    vector: QueryVector,
    doc_type: str | None,
    language: Language,
    also: Collection[int] = (),
) -> FoundByMeaning:
    """The pages closest to *vector*; none if its model no longer serves.

    *language* is that of the question. *also* are sections found by other means: not to
    be among the closest must not count as not being close at all.
    """
    model = vectors.serving(db)
    if model is None or model.id != vector.model:
        return _NOTHING
    allowed = None
    if doc_type is not None:
        allowed = np.array(queries.sections_of_type(db, doc_type), np.int64)
    values = np.frombuffer(vector.values, np.float32)
    with phase("nearest"):
        near = nearest(db, blocks, model, PACK_NAME, values, _MOST_ROWS, allowed)
        among = {each.row for each in near}
        further = similar(db, model, PACK_NAME, values, set(also) - among)
    known = [each for each in (*near, *further) if each.similarity > 0]
    known.sort(key=lambda each: (-each.similarity, each.row))
    page_of = queries.pages_of_sections(db, [each.row for each in known], None)
    foreign = vectors.in_other_languages(db, PACK_NAME, page_of, language)
    of_page: dict[int, list[tuple[int, float]]] = {}
    for row, similarity in known:
        if row in page_of:
            of_page.setdefault(page_of[row], []).append((row, similarity))
    pages = {
        page: PageMeaning(
            # What words found says nothing of a page that is among the closest anyway.
            _blended([each for row, each in found if row in among])
            or _blended([each for _, each in found]),
            tuple(found),
            foreign.intersection(row for row, _ in found),
        )
        for page, found in of_page.items()
    }
    closest = {page_of[row] for row in among & page_of.keys()}
    abroad = [pages[page].is_foreign for page in closest]
    return FoundByMeaning(pages, sum(abroad) / len(abroad) if abroad else 0.0)


def without_vectors(db: apsw.Connection, blocks: Blocks) -> float:
    """The share of sections that cannot be found by meaning."""
    model = vectors.serving(db)
    if model is None or model.dimension is None:
        return 1.0
    found, total = blocks.counts(db, model.id, model.dimension, PACK_NAME)
    return 1.0 - found / total if total else 1.0


def _blended(similarities: list[float]) -> float:
    if not similarities:
        return 0.0
    best = similarities[:_OTHERS]
    return _BEST * best[0] + (1 - _BEST) * sum(best) / len(best)

"""Walk the document graph, breadth first.

Directions are never mixed along one path: two pages that only share a target are not
neighbours. Link types, where given, hold for every step of a path.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

import apsw

from ubp.packs.docs import queries
from ubp.packs.docs.queries import Page

__all__ = ("Reached", "around", "hops")


Direction = Literal["outlink", "backlink"]


class Reached(NamedTuple):
    """A page, and how the walk first came to it."""

    page: Page
    depth: int
    link_type: str
    direction: Direction


class _Step(NamedTuple):
    depth: int
    link_type: str


def around(
    db: apsw.Connection,
    center: int,
    depth: int,
    link_types: Collection[str] | None = None,
) -> list[Reached]:
    """The pages within *depth* links of *center*, by depth, then title.

    The smaller depth wins; at the same depth an outlink does.
    """
    forward = _walk(db, [center], depth, "outlink", link_types)
    backward = _walk(db, [center], depth, "backlink", link_types)
    pages = queries.pages(db, forward.keys() | backward.keys())
    reached: list[Reached] = []
    for ident, page in pages.items():
        out, back = forward.get(ident), backward.get(ident)
        if out is not None and (back is None or out.depth <= back.depth):
            reached.append(Reached(page, out.depth, out.link_type, "outlink"))
        elif back is not None:
            reached.append(Reached(page, back.depth, back.link_type, "backlink"))
    return sorted(
        reached, key=lambda each: (each.depth, each.page.title, each.page.path)
    )


def hops(
    db: apsw.Connection,
    seeds: Collection[int],
    depth: int,
    link_types: Collection[str] | None = None,
) -> dict[int, int]:
    """How many links each page within *depth* is away from the nearest of *seeds*.

    The seeds themselves are 0 away.
    """
    found = dict.fromkeys(seeds, 0)
    directions: tuple[Direction, ...] = ("outlink", "backlink")
    for direction in directions:
        for page, step in _walk(db, seeds, depth, direction, link_types).items():
            found[page] = min(step.depth, found.get(page, step.depth))
    return found


def _walk(
    db: apsw.Connection,
    seeds: Collection[int],
    depth: int,
    direction: Direction,
    link_types: Collection[str] | None,
) -> dict[int, _Step]:
    seen: dict[int, _Step] = {}
    begin = set(seeds)
    frontier = list(seeds)
    for hops in range(1, depth + 1):
        reached: list[int] = []
        for edge in queries.neighbours(db, frontier, direction):
            if link_types is not None and edge.type not in link_types:
                continue
            page = edge.target if direction == "outlink" else edge.source
            if page not in begin and page not in seen:
                seen[page] = _Step(hops, edge.type)
                reached.append(page)
        if not reached:
            break
        frontier = reached
    return seen

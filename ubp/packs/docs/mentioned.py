"""Pages that things outside the document graph name: they are sources of links only."""

from collections.abc import Collection
from typing import NamedTuple

import apsw

from ubp.packs.docs.links import plan
from ubp.packs.docs.resolution import resolved
from ubp.packs.docs.writes import PagesByName
from ubp.store import mentions
from ubp.store.mentions import Mention

__all__ = ("Named", "naming")


class Named(NamedTuple):
    """A page, and what names it."""

    mention: Mention
    page: int


def naming(db: apsw.Connection, pages: Collection[int]) -> list[Named]:
    """What names one of *pages*, once for each; a name may be a path or a title."""
    names = PagesByName(db)
    found: dict[tuple[str, int], Named] = {}
    for mention in mentions.everything(db):
        target = resolved(plan("wiki", mention.target, ""), "", names)
        if target is not None and target.page in pages:
            key = (mention.path, target.page)
            found.setdefault(key, Named(mention, target.page))
    return list(found.values())

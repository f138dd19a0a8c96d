"""How cards hang together: parents, dependencies, and what is related.

Pure: from what is on the board and what is wanted to the cards that have to change.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from ubp.packs.board.cards import Card
from ubp.packs.board.failures import Conflict, InvalidValue, NotFound
from ubp.packs.board.ulids import ulid_or_none
from ubp.packs.board.view import Snapshot

__all__ = (
    "ANY",
    "Edge",
    "Kind",
    "Rewiring",
    "edges_of",
    "has_two_parents",
    "wanted_edges",
)

Kind = Literal["parent", "depends", "relates"]

ANY = "*"
"""Whichever parent it is."""


class Edge(NamedTuple):
    """A relation: from the child to its parent, from what depends to what it needs."""

    kind: Kind
    source: str
    target: str


def edges_of(card: Card) -> list[Edge]:
    """What the file of *card* says."""
    found = [Edge("parent", card.id, card.parent)] if card.parent else []
    found += [Edge("depends", card.id, each) for each in card.depends_on]
    for each in card.relates:
        found += [Edge("relates", card.id, each), Edge("relates", each, card.id)]
    return found


def has_two_parents(edges: Iterable[Edge]) -> bool:
    """Whether *edges* contradict themselves."""
    parents: dict[str, str] = {}
    return any(
        parents.setdefault(edge.source, edge.target) != edge.target
        for edge in edges
        if edge.kind == "parent"
    )


class _Links:
    """The relations of one card, as they are to be."""

    def __init__(self, card: Card) -> None:
        self.parent = card.parent
        self.depends_on = list(card.depends_on)
        self.relates = list(card.relates)


class Rewiring:
    """Relations that are taken away and added; the cards are as they were."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._links: dict[str, _Links] = {}
        self._added: list[Edge] = []

    # -- what is wanted ----------------------------------------------------------------

    def remove(self, edge: Edge) -> None:
        """Take a relation away; one that is not there is none to take away.

        Raises:
            NotFound: There is no such card.
        """
        cards = self._snapshot.cards
        if edge.source not in cards and not (
            edge.kind == "relates" and edge.target in cards
        ):
            raise NotFound(f"There is no card {edge.source}.")
        match edge.kind:
            case "parent":
                links = self._of(edge.source)
                if edge.target in (ANY, links.parent):
                    links.parent = None
            case "depends":
                _discard(self._of(edge.source).depends_on, edge.target)
            case "relates":
                for one, other in (
                    (edge.source, edge.target),
                    (edge.target, edge.source),
                ):
                    if one in cards:
                        _discard(self._of(one).relates, other)

    def add(self, edge: Edge) -> None:
        """Add a relation, once; a new parent takes the place of the old one.

        Raises:
            NotFound: There is no such card.
            InvalidValue: It would relate a card to itself.
            Conflict: It was given another parent already.
        """
        for ident in (edge.source, edge.target):
            self._snapshot.card(ident)
        if edge.source == edge.target:
            raise InvalidValue(f"A card cannot be related to itself: {edge.source}.")
        match edge.kind:
            case "parent":
                links = self._of(edge.source)
                again = [
                    each.target
                    for each in self._added
                    if each.kind == "parent" and each.source == edge.source
                ]
                if any(target != edge.target for target in again):
                    raise Conflict(
                        f"{edge.source} is given two parents: {again[0]} and "
                        f"{edge.target}.",
                        cause="A card has one parent at most.",
                    )
                links.parent = edge.target
            case "depends":
                _include(self._of(edge.source).depends_on, edge.target)
            case "relates":
                _include(self._of(edge.source).relates, edge.target)
                _include(self._of(edge.target).relates, edge.source)
        self._added.append(edge)

    # -- what follows ------------------------------------------------------------------

    def cycles(self) -> list[str]:
        """What is said of every circle that an added relation closes."""
        found: list[str] = []
        for edge in self._added:
            if edge.kind == "relates" or not self._leads_back(edge):
                continue
            what = "parent" if edge.kind == "parent" else "dependency"
            found.append(
                f"{what} cycle: {edge.source} -> {edge.target} leads back to "
                f"{edge.source}"
            )
        return list(dict.fromkeys(found))

    def changes(self) -> dict[str, dict[str, Any]]:
        """By card, the values of its front matter that are to be others."""
        found: dict[str, dict[str, Any]] = {}
        for ident, links in self._links.items():
            card = self._snapshot.cards[ident]
            values: dict[str, Any] = {}
            if links.parent != card.parent:
                values["parent"] = links.parent
            if links.depends_on != card.depends_on:
                others = _no_ids(card, "depends_on")
                values["depends_on"] = [*others, *links.depends_on] or None
            if links.relates != card.relates:
                others = _no_ids(card, "relates", "relates_to")
                values["relates"] = [*others, *links.relates] or None
                if "relates_to" in card.values:
                    values["relates_to"] = None
            if values:
                found[ident] = values
        return found

    def _of(self, ident: str) -> _Links:
        if ident not in self._links:
            self._links[ident] = _Links(self._snapshot.card(ident))
        return self._links[ident]

    def _next(self, ident: str, kind: Kind) -> list[str]:
        now = self._links.get(ident) or self._snapshot.cards.get(ident)
        if now is None:
            return []
        if kind == "depends":
            return now.depends_on
        return [now.parent] if now.parent else []

    def _leads_back(self, edge: Edge) -> bool:
        seen: set[str] = set()
        waiting = [edge.target]
        while waiting:
            ident = waiting.pop()
            if ident == edge.source:
                return True
            if ident not in seen:
                seen.add(ident)
                waiting += self._next(ident, edge.kind)
        return False


def wanted_edges(
    card: Card, values: Mapping[str, Any]
) -> tuple[list[Edge], list[Edge]]:
    """What a patch of a card's relations comes to: edges to take away, and to add.

    A list that is given replaces the one there is.
    """
    gone: list[Edge] = []
    new: list[Edge] = []
    if "parent" in values:
        parent = values["parent"]
        if card.parent and card.parent != parent:
            gone.append(Edge("parent", card.id, ANY))
        if parent:
            new.append(Edge("parent", card.id, parent))
    kinds: tuple[tuple[str, Kind, list[str]], ...] = (
        ("depends_on", "depends", card.depends_on),
        ("relates", "relates", card.relates),
    )
    for key, kind, before in kinds:
        if key in values:
            after = values[key] or []
            gone += [Edge(kind, card.id, each) for each in before if each not in after]
            new += [Edge(kind, card.id, each) for each in after if each not in before]
    return gone, new


def _no_ids(card: Card, *keys: str) -> list[str]:
    """What its author put among the ids, a number of another tracker for one."""
    texts = (text for key in keys for text in card.texts(key))
    return [text for text in dict.fromkeys(texts) if ulid_or_none(text) is None]


def _discard(ids: list[str], ident: str) -> None:
    if ident in ids:
        ids.remove(ident)


def _include(ids: list[str], ident: str) -> None:
    if ident not in ids:
        ids.append(ident)

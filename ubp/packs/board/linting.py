"""What is wrong with a board."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from ubp.packs.board.cards import Card
from ubp.packs.board.names import DONE, column_key
from ubp.packs.board.ulids import ulid_or_none
from ubp.packs.board.view import Snapshot

__all__ = ("Finding", "findings")

Severity = Literal["error", "warn"]


class Finding(Struct, frozen=True, order=True):
    """Something that is wrong."""

    severity: Severity
    message: str


def findings(snapshot: Snapshot, kept: Iterable[str] = ()) -> list[Finding]:
    """Everything that is wrong, errors first, each once.

    *kept* are versions of cards that could not go back to their place.
    """
    found = {
        *(_warn(f"saved meanwhile, kept beside the card: {path}") for path in kept),
        *_of_rules(snapshot),
        *_of_files(snapshot),
        *_of_relations(snapshot),
        *_cycles(snapshot),
    }
    return sorted(found)


def _of_rules(snapshot: Snapshot) -> Iterator[Finding]:
    rules = snapshot.rules
    for warning in rules.warnings:
        yield Finding("warn" if rules.is_readable else "error", warning)
    for key, limit in rules.wip_limits.items():
        actual = snapshot.counts.get(key, 0)
        if actual > limit and rules.wip_enforce != "off":
            yield _warn(f"wip exceeded: {key} limit {limit} actual {actual}")
    if rules.is_given:
        known = {column_key(column.key) for column in rules.columns} | {DONE}
        for card in snapshot.cards.values():
            if card.column_key not in known:
                yield _warn(f"unknown column: {card.id} is in {card.column}")


def _of_files(snapshot: Snapshot) -> Iterator[Finding]:
    for ident, copies in snapshot.duplicates.items():
        paths = ", ".join(sorted(copy.path for copy in copies))
        yield _error(f"duplicate id: {ident} ({paths})")
    for card in snapshot.cards.values():
        if card.problem:
            yield _error(f"invalid card: {card.path}: {card.problem}")
            continue
        given = card.text("id")
        if given is None:
            yield _error(f"missing id: {card.path}")
        elif ulid_or_none(given) != card.id:
            yield _error(f"id mismatch: {card.path} says {given}")
        if card.text("title") is None:
            yield _error(f"missing title: {card.path}")
        if card.text("parent") is not None and card.parent is None:
            yield _error(f"invalid parent: {card.id}")


def _of_relations(snapshot: Snapshot) -> Iterator[Finding]:
    cards = snapshot.cards
    for card in cards.values():
        if card.parent is not None and card.parent not in cards:
            yield _error(f"dangling parent: {card.id} -> {card.parent}")
        for kind, others, arrow in (
            ("depends", card.depends_on, "->"),
            ("relates", card.relates, "<->"),
        ):
            for other in others:
                if other == card.id:
                    yield _warn(f"self {kind}: {card.id}")
                elif other not in cards:
                    yield _error(f"dangling {kind}: {card.id} {arrow} {other}")
        for child in snapshot.children.get(card.id, ()) if card.is_done else ():
            if not cards[child].is_done:
                yield _warn(f"parent done but child not complete: {card.id} -> {child}")


def _cycles(snapshot: Snapshot) -> Iterator[Finding]:
    def parents(card: Card) -> list[str]:
        return [card.parent] if card.parent else []

    def needs(card: Card) -> list[str]:
        return [other for other in card.depends_on if other != card.id]

    for what, leads_to in (("parent", parents), ("depends", needs)):
        for ident in _circles(snapshot.cards, leads_to):
            yield _error(f"{what} cycle detected at {ident}")


def _circles(
    cards: Mapping[str, Card], leads_to: Callable[[Card], Iterable[str]]
) -> list[str]:
    """The smallest id of every circle; those that share a card are one.

    A card that leads nowhere is in no circle: these are taken away until none is left.
    What can then be reached from a card, and leads back to it, is one circle.
    """
    ways = {
        ident: {other for other in leads_to(card) if other in cards}
        for ident, card in cards.items()
    }
    back = _reversed(ways)
    waiting = [ident for ident, others in ways.items() if not others]
    while waiting:
        ident = waiting.pop()
        for other in back.pop(ident):
            ways[other].discard(ident)
            if not ways[other]:
                waiting.append(other)
        del ways[ident]
    back = _reversed(ways)
    found: list[str] = []
    left = set(ways)
    while left:
        start = min(left)
        circle = _reached(ways, start) & _reached(back, start)
        if len(circle) > 1 or start in ways[start]:
            found.append(start)
        left -= circle
    return found


def _reversed(ways: Mapping[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {ident: set() for ident in ways}
    for ident, others in ways.items():
        for other in others:
            found[other].add(ident)
    return found


def _reached(ways: Mapping[str, set[str]], start: str) -> set[str]:
    seen = {start}
    waiting = [start]
    while waiting:
        new = ways[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def _error(message: str) -> Finding:
    return Finding("error", message)


def _warn(message: str) -> Finding:
    return Finding("warn", message)

"""The two indexes beside the cards: ``cards.ndjson`` and ``relations.ndjson``.

They are for other programs; we never answer from them. They are derived, so whoever
changes a card brings all of them in line with the cards: a line that is right stays
where it is, one that is wrong goes, one that is missing is added at the end. Lines that
cannot be read are somebody's, and stay.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ubp.packs.board.cards import Card
from ubp.packs.board.committing import replace_derived
from ubp.packs.board.relations import Edge, edges_of, has_two_parents
from ubp.packs.board.view import Snapshot

__all__ = ("CARDS", "REBUILT", "RELATIONS", "Indexes")

CARDS = "cards.ndjson"
RELATIONS = "relations.ndjson"

REBUILT = "relations: incremental update failed; ran full reindex"

_MOST_REMEMBERED = 20_000

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


_Stamp = tuple[int, int, int, int]


class _Lines(NamedTuple):
    """What the indexes have to say of a card."""

    card: Card
    own: bytes
    relations: tuple[bytes, ...]


class Indexes:
    """Those of one board; the caller holds its lock."""

    def __init__(self, kanban: Path) -> None:
        self._kanban = kanban
        self._known: dict[str, _Lines] = {}
        """Of the cards as they were last time: there may be thousands."""
        self._files: dict[str, tuple[_Stamp, list[bytes]]] = {}
        """What the files held when they were last looked at."""
        self._in_line: Mapping[str, Card] | None = None
        """The cards they were last brought in line with."""

    def are_in_line(self, snapshot: Snapshot) -> bool:
        """Whether they say what the cards say, for all we know."""
        if self._in_line != snapshot.cards:  # quick: cards that did not change are same
            return False
        return all(
            self._files.get(name, (None,))[0] == self._stamp(name)
            for name in (CARDS, RELATIONS)
        )

    def bring_in_line(self, snapshot: Snapshot) -> list[str]:
        """Let both say what the cards say; what there is to tell about that.

        Raises:
            OSError: The disk refuses.
        """
        lines = self._lines_of(snapshot)
        self._mend(CARDS, [each.own for each in lines], _is_about_a_card)
        contradicts = has_two_parents(self._edges())
        if contradicts:
            self.rebuild(snapshot, cards=False)
            return [REBUILT]
        self._mend(RELATIONS, _relations(lines), _is_a_relation)
        self._in_line = snapshot.cards
        return []

    def rebuild(
        self, snapshot: Snapshot, *, cards: bool = True, relations: bool = True
    ) -> None:
        """Write them anew, in the order of the ids.

        Raises:
            OSError: The disk refuses.
        """
        lines = self._lines_of(snapshot)
        if cards:
            self._write(CARDS, [each.own for each in lines])
        if relations:
            self._write(RELATIONS, _relations(lines))

    def _lines_of(self, snapshot: Snapshot) -> list[_Lines]:
        known = self._known
        now: dict[str, _Lines] = {}
        for ident, card in snapshot.cards.items():
            lines = known.get(ident)
            if lines is None or lines.card is not card:
                lines = _Lines(card, _card_line(card), _relation_lines(card))
            now[ident] = lines
        self._known = now if len(now) <= _MOST_REMEMBERED else {}
        return list(now.values())

    def _edges(self) -> Iterator[Edge]:
        for line in self._read(RELATIONS) or ():
            value = _decoded(line)
            if _is_a_relation(value):
                yield Edge(value["type"], value["from"], value["to"])

    def _mend(
        self, name: str, wanted: list[bytes], is_ours: Callable[[Any], bool]
    ) -> None:
        before = self._read(name)
        missing = dict.fromkeys(wanted)
        lines: list[bytes] = []
        for line in before or ():
            if line in missing:
                del missing[line]
                lines.append(line)
            elif line.strip() and not is_ours(_decoded(line)):
                lines.append(line)
        lines += missing
        if before is None and not lines:
            return  # nobody misses a file that says nothing
        if lines != before:
            self._write(name, lines)

    def _read(self, name: str) -> list[bytes] | None:
        stamp = self._stamp(name)
        if stamp is None:
            return None
        known = self._files.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        if (self._kanban / name).is_symlink():
            return None  # what it leads to is not ours to keep lines of
        try:
            content = (self._kanban / name).read_bytes()
        except FileNotFoundError:
            return None
        lines = content.split(b"\n")
        if not lines[-1]:
            lines.pop()
        self._files[name] = (stamp, lines)
        return lines

    def _stamp(self, name: str) -> _Stamp | None:
        try:
            info = (self._kanban / name).stat()
        except FileNotFoundError:
            return None
        return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns

    def _write(self, name: str, lines: Iterable[bytes]) -> None:
        written = list(lines)
        content = b"\n".join([*written, b""])
        replace_derived(self._kanban, self._kanban / name, content)
        stamp = self._stamp(name)
        if stamp is not None:
            self._files[name] = (stamp, written)


def _card_line(card: Card) -> bytes:
    return _encode(
        {
            "id": card.id,
            "title": card.title,
            "column": card.column,
            "lane": card.text("lane"),
            "priority": card.text("priority"),
            "labels": card.texts("labels"),
            "assignees": card.texts("assignees"),
            "completed_at": card.completed_at,
            "path": card.path,
        }
    )


def _relation_lines(card: Card) -> tuple[bytes, ...]:
    return tuple(
        _encode({"type": edge.kind, "from": edge.source, "to": edge.target})
        for edge in edges_of(card)
    )


def _relations(lines: Iterable[_Lines]) -> list[bytes]:
    """Each once: what is related is so on both cards."""
    return list(dict.fromkeys(line for each in lines for line in each.relations))


def _decoded(line: bytes) -> Any:
    try:
        return _decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_about_a_card(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str)


def _is_a_relation(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("type", "from", "to")
    )

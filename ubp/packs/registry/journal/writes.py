"""Bring back what the journal holds, into a database that holds nothing."""

from collections.abc import Iterable

import apsw
import msgspec

from ubp import lexicon
from ubp.packs.registry import writes
from ubp.packs.registry.journal import lines
from ubp.packs.registry.journal.lines import Entry, Gone, Item, Merit, Vote
from ubp.packs.registry.journal.queries import everything
from ubp.packs.registry.queries import item_texts
from ubp.packs.registry.text_index import PACK_NAME
from ubp.store import files, vectors
from ubp.store.connection import transaction
from ubp.store.vectors import Passage
from ubp.toolkit import Restored

__all__ = ("restore",)

_NOT_READ = "Not read since the index was made again."

_HAS_ITEMS = "SELECT EXISTS (SELECT 1 FROM registry_item)"


def restore(db: apsw.Connection) -> Restored:
    """Bring back what the journal holds, into a database that holds nothing.

    How many items, and how many lines of the journal are damaged. Where there is no
    journal yet it is begun.
    """
    path = lines.beside(db)
    if path is None or db.readonly("main"):
        return Restored(0, 0)
    if bool(db.execute(_HAS_ITEMS).get) == path.exists():
        return Restored(0, 0)  # both are there, or neither
    with transaction(db):
        if bool(db.execute(_HAS_ITEMS).get):
            if not path.exists():
                lines.rewrite(path, everything(db))
            return Restored(0, 0)
        entries, damaged = lines.read(path)
        if damaged:
            lines.set_aside(path)
        restored = _restore(db, _Whole(entries))
        # What is damaged or no longer so has no place in it.
        lines.rewrite(path, everything(db))
    return Restored(restored, damaged)


Key = tuple[str, str]
"""The id of an item, and whose it is."""


class _Whole:
    """What the entries of a journal come to, in the order in which it began."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.items: dict[Key, Item] = {}
        self.votes: dict[Key, dict[str, Vote]] = {}
        self._merits: dict[Key, dict[tuple[str, str], tuple[int, Merit]]] = {}
        for number, entry in enumerate(entries):
            self._take(number, entry)
        # Where the line is lost that says that one is gone, the later one counts.
        files = {item.source: key for key, item in self.items.items() if item.source}
        for key, item in list(self.items.items()):
            if item.source and files[item.source] != key:
                self._drop(key)

    @property
    def merits(self) -> list[tuple[Key, Merit]]:
        """In the order in which they were earned, whatever the item."""
        numbered = [
            (number, key, merit)
            for key, earned in self._merits.items()
            for number, merit in earned.values()
        ]
        numbered.sort(key=lambda each: each[0])
        return [(key, merit) for _, key, merit in numbered]

    def _take(self, number: int, entry: Entry) -> None:
        key = (entry.ident, entry.agent)
        match entry:
            case Item():
                self.items[key] = entry
            case Vote():
                self.votes.setdefault(key, {})[entry.validator] = entry
            case Merit():
                earned = self._merits.setdefault(key, {})
                earned.setdefault((entry.earned_by, entry.reason), (number, entry))
            case Gone():
                self._drop(key)

    def _drop(self, key: Key) -> None:
        self.items.pop(key, None)
        self.votes.pop(key, None)
        self._merits.pop(key, None)


def _restore(db: apsw.Connection, whole: _Whole) -> int:
    passages: list[Passage] = []
    rows: dict[Key, int] = {}
    for key, item in whole.items.items():
        rows[key] = row = _restore_item(db, item)
        for vote in whole.votes.get(key, {}).values():
            db.execute(writes.VOTE, (row, *msgspec.structs.astuple(vote)[2:]))
        writes.stand(db, row, item.computed)
        passages.append(_index(db, row, item))
    vectors.note(db, PACK_NAME, passages)
    for key, merit in whole.merits:
        if key in rows:  # or the line of the item is damaged
            values = (merit.earned_by, rows[key], merit.reason, merit.earned_at)
            db.execute(writes.EARN, values)
    return len(rows)


def _restore_item(db: apsw.Connection, item: Item) -> int:
    values = msgspec.structs.asdict(item)
    values |= {
        "asked": item.visibility,
        "domain_key": lexicon.fold(item.domain or ""),
        "details": msgspec.json.encode(item.details).decode(),
        "quality": item.computed,
        "status": "active",
    }
    db.execute(writes.INSERT, values)
    row = db.last_insert_rowid()
    if item.source is not None:
        # So that the next comparison reads it again, or finds that it is gone.
        files.fail(db, PACK_NAME, item.source, _NOT_READ, None)
    return row


def _index(db: apsw.Connection, row: int, item: Item) -> Passage:
    texts = item_texts(item.kind, item.name, item.content)
    tags = item.details.get("tags", ())
    return writes.index(db, row, texts, item.domain, tags, writes.disclose(db, row))

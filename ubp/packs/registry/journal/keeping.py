"""Keep the journal: whoever changes the registry says here what has changed."""

import apsw

from ubp.packs.registry.journal import lines
from ubp.packs.registry.journal.lines import Entry
from ubp.packs.registry.journal.queries import everything

__all__ = ("write_down",)


def write_down(db: apsw.Connection, *entries: Entry) -> None:
    """Note in the journal what has changed, inside the transaction that changes it.

    Raises:
        NoRoom: The disk is full, or refuses.
    """
    path = lines.beside(db)
    if path is None or not entries:
        return
    if not path.exists():
        lines.rewrite(path, everything(db))
        return
    lines.append(path, entries)
    if lines.is_mostly_old(path):
        lines.rewrite(path, everything(db))

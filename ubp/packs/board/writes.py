"""Store the words of cards: all SQL of the board pack that changes something."""

import apsw

from ubp.packs.board.records import CardRecord
from ubp.packs.board.text_index import CARDS, PACK_NAME
from ubp.store import mentions
from ubp.store.fulltext import IndexedText
from ubp.store.mentions import Mention

__all__ = ("forget", "optimize", "rename", "save", "settle")

_ROW = "SELECT id FROM board_card WHERE path = ?"
_DELETE = "DELETE FROM board_card WHERE path = ?"
_MOVE = "UPDATE board_card SET path = ? WHERE path = ?"
_INSERT = """
    INSERT INTO board_card (path, card_id, digest, heading, content, folded,
                            has_long_word)
    VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
"""


def save(
    db: apsw.Connection, path: str, digest: str, record: CardRecord, reset: bool
) -> None:
    """Store the words of the card at *path*."""
    del reset
    forget(db, path)
    if not record.card_id:
        return
    row: int = db.execute(
        _INSERT,
        (
            path,
            record.card_id,
            digest,
            record.heading,
            record.content,
            record.folded,
            record.has_long_word,
        ),
    ).get
    text = IndexedText(row, record.index_heading, record.index_content, record.words)
    CARDS.add(db, [text])
    named = [
        Mention(record.card_id, record.shown, record.title, page)
        for page in record.pages
    ]
    mentions.save(db, PACK_NAME, path, named)


def forget(db: apsw.Connection, path: str) -> None:
    row: int | None = db.execute(_ROW, (path,)).get
    if row is not None:
        CARDS.remove(db, [row])
        db.execute(_DELETE, (path,))
        mentions.forget(db, PACK_NAME, path)


def rename(db: apsw.Connection, old: str, new: str) -> None:
    forget(db, new)
    mentions.forget(db, PACK_NAME, old)  # saving follows
    db.execute(_MOVE, (new, old))


def settle(db: apsw.Connection) -> bool:
    """Nothing depends on anything else."""
    del db
    return False


def optimize(db: apsw.Connection) -> None:
    CARDS.optimize(db)

"""Which cards have the words of a query.

The index of the project answers for every card whose file is as it was when it was
indexed. The others - changed a moment ago, or on a board that is not the project's
own - are read. So the answer is always about what the files say now.
"""

from collections.abc import Iterable
from pathlib import Path

from ubp import lexicon
from ubp.errors import DatabaseError, IndexNotReady
from ubp.packs.board import queries
from ubp.packs.board.cards import Card, decoded
from ubp.packs.board.queries import Words
from ubp.packs.board.records import card_text
from ubp.toolkit import Context

__all__ = ("cards_with", "words_of")

_NOTHING = Words(frozenset(), frozenset())


async def words_of(ctx: Context, query: str) -> Words:
    """What the index says of *query*; nothing where there is none."""
    try:
        return await ctx.db.run(queries.with_words, query)
    except (IndexNotReady, DatabaseError):
        return _NOTHING


def cards_with(
    root: Path, cards: Iterable[Card], query: str, words: Words
) -> list[Card]:
    """Those of *cards* that have every word of *query*, in the same order."""
    tokens = lexicon.tokens(query)
    return [
        card
        for card in cards
        if (
            (card.id, card.hash) in words.found
            if (card.id, card.hash) in words.known
            else _has(root, card, tokens)
        )
    ]


def _has(root: Path, card: Card, tokens: list[str]) -> bool:
    try:
        text = decoded((root / card.path).read_bytes()) or ""
    except OSError:
        text = ""  # gone, or not to be read; its title and id still count
    heading, body = card_text(card.title, card.id, text.replace("\r\n", "\n"))
    folded = lexicon.fold(f"{heading}\n{body}")
    return all(token in folded for token in tokens)

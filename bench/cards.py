"""A board with as many cards as is wanted, English and Japanese."""

import random
from pathlib import Path

from ubp.packs.board.names import file_name
from ubp.packs.board.ulids import Ulids

__all__ = ("COLUMNS", "write_cards")

COLUMNS = ("backlog", "doing", "review", *(f"done/2026/{n:02}" for n in range(1, 13)))
_WORDS = (
    "parser index 検索 設計 review deploy login 認証 cache queue retry 日本語".split()
)


def write_cards(root: Path, count: int) -> list[str]:
    """Write *count* cards to the board of the project at *root*; their ids."""
    chance = random.Random(1)
    clock = iter(range(1_700_000_000_000, 1_800_000_000_000))
    ulids = Ulids(lambda: next(clock) * 10**6)
    cards: list[str] = []
    for number in range(count):
        ident = ulids()
        words = " ".join(chance.choices(_WORDS, k=120))
        column = COLUMNS[number % 3] if number % 2 else chance.choice(COLUMNS)
        done = "completed_at: 2026-01-01T00:00:00Z\n" if "/" in column else ""
        title = f"Card {number} {chance.choice(_WORDS)}"
        path = root / ".kanban" / column / file_name(ident, title)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nid: {ident}\ntitle: {title}\nlane: {chance.choice(['core', 'ui'])}\n"
            f"priority: P{number % 4}\nlabels: [a, b{number % 7}]\n{done}---\n\n"
            f"{words}\n",
            encoding="utf-8",
        )
        cards.append(ident)
    return cards

"""What each pack holds, in numbers and in words."""

from collections.abc import Mapping, Sequence

import apsw

from ubp.toolkit import Pack

__all__ = ("contents", "in_words")


def contents(
    db: apsw.Connection, packs: Sequence[Pack]
) -> dict[str, Mapping[str, int]]:
    """The numbers of those of *packs* that count and hold something, by pack."""
    counted = {pack.name: pack.counts(db) for pack in packs if pack.counts is not None}
    return {name: held for name, held in counted.items() if held}


def in_words(held: Mapping[str, int]) -> str:
    """The numbers of one pack."""
    return ", ".join(f"{number} {what}" for what, number in held.items())

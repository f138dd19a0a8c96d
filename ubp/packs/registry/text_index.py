"""Where items are indexed: by their words, and by their meaning."""

from ubp.store.some_words import SomeWords

__all__ = ("CLOSED_WORDS", "ITEM_WORDS", "PACK_NAME")

PACK_NAME = "registry"
"""Whose rows the items are, among the vectors of all packs."""

ITEM_WORDS = SomeWords(text="registry_text", exactly=True)
"""Of what is for everybody. Only what is counted there decides on what a word is worth,
so that nobody can tell from an answer which words stand in what they may not see."""

CLOSED_WORDS = SomeWords(text="registry_closed_text")
"""Of everything else; never asked how many rows there are."""

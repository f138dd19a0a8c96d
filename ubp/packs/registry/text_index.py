"""Where items are indexed: by their words, and by their meaning."""

from ubp.store.some_words import SomeWords

__all__ = ("ITEM_WORDS", "PACK_NAME")

PACK_NAME = "registry"
"""Whose rows the items are, among the vectors of all packs."""

ITEM_WORDS = SomeWords(text="registry_text")

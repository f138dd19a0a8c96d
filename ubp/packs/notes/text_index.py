"""Where the chunks are indexed: by their words, and by their meaning."""

from ubp.store.some_words import SomeWords

__all__ = ("CHUNK_WORDS", "PACK_NAME")

PACK_NAME = "notes"
"""Whose rows the chunks are, among the vectors of all packs."""

CHUNK_WORDS = SomeWords(text="notes_text")

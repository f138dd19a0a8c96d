"""Where the sections are indexed: by their words, and by their meaning."""

from ubp.store.fulltext import Index, Names
from ubp.store.some_words import SomeWords

__all__ = ("NAMES", "PACK_NAME", "SECTIONS", "SECTION_WORDS")

PACK_NAME = "docs"
"""Whose rows the sections are, among the vectors of all packs."""

SECTIONS = Index(text="docs_text", word="docs_word", rows="docs_section")

NAMES = Names("docs_name")

SECTION_WORDS = SomeWords(text="docs_text")

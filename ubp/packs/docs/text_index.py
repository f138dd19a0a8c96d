"""The full-text index of the sections."""

from ubp.store.fulltext import Index

__all__ = ("SECTIONS",)

SECTIONS = Index(text="docs_text", word="docs_word", rows="docs_section")

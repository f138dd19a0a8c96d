"""Where the words of cards are indexed."""

from ubp.store.fulltext import Index

__all__ = ("CARDS", "PACK_NAME")

PACK_NAME = "board"

CARDS = Index(text="board_text", word="board_word", rows="board_card")

"""Text to token ids, and token ids to pieces that fit a model's window."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ("Frame", "Tokenizer", "WordPieces", "pieces")

_HEAD_SHARE = 4
"""A head takes at most this part of the window, or there would be no room for text."""


class Frame(NamedTuple):
    """The ids a model wants before and after every text."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


class Tokenizer(Protocol):
    """What makes ids of text, exactly as the model was trained."""

    @property
    def frame(self) -> Frame: ...
    @property
    def unknown(self) -> int | None:
        """The id of whatever the model has never seen, if there is one."""

    def ids(self, text: str) -> list[int]:
        """The ids of *text* alone, without the frame."""


class WordPieces:
    """The tokenizer of a BERT model, from its published ``tokenizer.json``."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer as Pieces

        self._pieces = Pieces.from_file(str(path))
        # The file asks for both; we cut ourselves, and lose nothing by it.
        self._pieces.no_truncation()
        self._pieces.no_padding()

    @cached_property
    def frame(self) -> Frame:
        first, last = self._pieces.encode("").ids
        return Frame((first,), (last,))

    @cached_property
    def unknown(self) -> int | None:
        found: int | None = self._pieces.token_to_id("[UNK]")
        return found

    def ids(self, text: str) -> list[int]:
        return list(self._pieces.encode(text, add_special_tokens=False).ids)


def pieces(
    head: Sequence[int], body: Sequence[int], frame: Frame, window: int
) -> list[list[int]]:
    """Ids ready for the model: *body* in as many equal pieces as it takes.

    Each piece begins with *head*, so that it is known what it is about; a head that is
    too long is cut, the body never.
    """
    room = window - len(frame.before) - len(frame.after)
    if not body:
        return [[*frame.before, *head[:room], *frame.after]]
    head = head[: room // _HEAD_SHARE]
    room -= len(head)
    count = -(-len(body) // room)
    size = -(-len(body) // count)
    return [
        [*frame.before, *head, *body[start : start + size], *frame.after]
        for start in range(0, len(body), size)
    ]

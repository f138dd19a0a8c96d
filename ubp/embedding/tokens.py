"""Text to token ids, and token ids to pieces that fit a model's window."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ("Bilingual", "Frame", "Tokenizer", "WordPieces", "pieces")

_LETTERS = (
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f"
)
_JAPANESE = re.compile(f"[{_LETTERS}]+")
"""A run of kana and kanji, half-width ones included."""

_WRAPPED = re.compile(
    f"[\u00ad\u200b]|(?<=[{_LETTERS}、。])[ \t]*\r?\n[ \t]*(?=[{_LETTERS}、。])"
)
"""What is layout alone: the end of a line within a paragraph, where Japanese has no
space, and marks that only say where a line may end."""

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
    def unknown(self) -> frozenset[int]:
        """The ids of whatever the model has never seen."""

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
    def unknown(self) -> frozenset[int]:
        return _ids_of(self._pieces.token_to_id("[UNK]"))

    @cached_property
    def size(self) -> int:
        """How many ids there are."""
        return int(self._pieces.get_vocab_size())

    def ids(self, text: str) -> list[int]:
        return list(self._pieces.encode(text, add_special_tokens=False).ids)


class Bilingual:
    """English word pieces, and for runs of kana and kanji pieces of their own.

    Text without such runs has exactly the ids of the word pieces. In other text letters
    of any width are one, as they were in training.
    """

    def __init__(self, english: WordPieces, japanese: Path) -> None:
        # The tokenizers package reads such pieces as well, in seven times the memory.
        from sentencepiece import SentencePieceProcessor

        self._english = english
        self._japanese = SentencePieceProcessor(model_file=str(japanese))
        self.first = english.size
        """The first id of a Japanese piece."""

    @property
    def frame(self) -> Frame:
        return self._english.frame

    @cached_property
    def unknown(self) -> frozenset[int]:
        return self._english.unknown | {self.first + self._japanese.unk_id()}

    def ids(self, text: str) -> list[int]:
        if _JAPANESE.search(text) is None:
            return self._english.ids(text)
        text = _WRAPPED.sub("", unicodedata.normalize("NFKC", text))
        found: list[int] = []
        at = 0
        for run in _JAPANESE.finditer(text):
            if between := text[at : run.start()]:
                found += self._english.ids(between)
            found += [self.first + each for each in self._japanese.encode(run[0])]
            at = run.end()
        if rest := text[at:]:
            found += self._english.ids(rest)
        return found


def _ids_of(found: int | None) -> frozenset[int]:
    return frozenset() if found is None else frozenset({found})


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

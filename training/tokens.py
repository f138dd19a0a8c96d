"""Text to ids: Japanese runs by Japanese pieces, the rest by the model's WordPiece."""

import re
import unicodedata
from pathlib import Path

from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer

from training.cleaning import CJK
from training.minilm import CLS, ROWS, SEP

__all__ = ("RUN", "Encoder", "normal", "runs")

RUN = re.compile(f"[{CJK}\\uff66-\\uff9f]+")
"""A run of Japanese letters; everything else is the English model's."""


def normal(text: str) -> str:
    """Full-width and half-width letters as one."""
    return unicodedata.normalize("NFKC", text)


def runs(text: str) -> list[str]:
    """The Japanese runs of a text."""
    return RUN.findall(normal(text))


class Encoder:
    """Ids for a text, with both ends marked, cut to a length."""

    def __init__(self, model: Path, pieces: Path | None) -> None:
        self._words = Tokenizer.from_file(str(model / "tokenizer.json"))
        self._words.no_padding()
        self._words.no_truncation()
        self._pieces = pieces and SentencePieceProcessor(model_file=str(pieces))

    @property
    def new_rows(self) -> int:
        """How many pieces there are."""
        return self._pieces.vocab_size() if self._pieces is not None else 0

    def english(self, text: str) -> list[int]:
        """Ids of the model's own WordPiece, without the marks of both ends."""
        return list(self._words.encode(text, add_special_tokens=False).ids)

    def encode(self, text: str, length: int) -> list[int]:
        """At most ``length`` ids. Without pieces, exactly those of the original."""
        if self._pieces is None:
            return [CLS, *self.english(text)[: length - 2], SEP]
        text = normal(text)
        ids: list[int] = []
        at = 0
        for run in RUN.finditer(text):
            if len(ids) >= length:
                break
            if run.start() > at:
                ids += self.english(text[at : run.start()])
            ids += [ROWS + piece for piece in self._pieces.encode(run[0])]
            at = run.end()
        if at < len(text) and len(ids) < length:
            ids += self.english(text[at:])
        return [CLS, *ids[: length - 2], SEP]

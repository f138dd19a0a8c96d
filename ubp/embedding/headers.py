"""What a GGUF file says about itself.

Read by hand rather than with the library that writes them: that one takes a large
vocabulary apart string by string, which is seconds; skipping it is not.
"""

import math
import mmap
import struct
from pathlib import Path

from msgspec import Struct

from ubp.errors import ModelUnusable

__all__ = ("Header", "is_gguf", "read_header")

_MAGIC = b"GGUF"

_SCALARS = {**dict(enumerate("BbHhIif?")), 10: "Q", 11: "q", 12: "d"}
"""How values are packed, by their kind in the file."""
_TEXT = 8
_ARRAY = 9
_VERSIONS = (2, 3)
_POOLINGS = ("none", "mean", "cls", "last", "rank")
_ALIGNMENT = 32


class Header(Struct, frozen=True, kw_only=True):
    """The parts of a header that matter for embedding; ``None`` where not said."""

    architecture: str
    name: str | None
    dimension: int | None
    context_length: int | None
    pooling: str | None
    tokenizer: str | None
    tensors: int


def is_gguf(path: Path) -> bool:
    """Whether the file begins as GGUF files do."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def read_header(path: Path) -> Header:
    """The header of the file at *path*.

    Raises:
        ModelUnusable: It is not a GGUF file, or a damaged one.
    """
    if not is_gguf(path):
        raise ModelUnusable(
            f"{path.name} is not a GGUF file.",
            cause="It does not begin as GGUF files do, or cannot be read.",
        )
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _Reader(data).header()
    except (OSError, ValueError, KeyError, struct.error):
        raise ModelUnusable(
            f"{path.name} is a damaged GGUF file.",
            cause="Its header cannot be read to its end, or points past the end.",
            hint="Fetch the file again.",
        ) from None


class _Reader:
    """Walks through a header; whatever leads out of the file is an error."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = len(b"GGUF")

    def header(self) -> Header:
        version, tensors, count = self._take("I"), self._take("Q"), self._take("Q")
        if version not in _VERSIONS:
            raise ValueError(version)
        fields: dict[str, object] = {}
        for _ in range(int(count)):
            key = self._text()
            fields[key] = self._value(int(self._take("I")))
        self._check_tensors(int(tensors), fields.get("general.alignment"))
        return _summary(fields, int(tensors))

    def _take(self, code: str) -> int | float | bool:
        value: int | float | bool
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return value

    def _skip(self, length: int) -> int:
        begin, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise ValueError(length)
        return begin

    def _text(self) -> str:
        begin = self._skip(int(self._take("Q")))
        return self._data[begin : self._at].decode("utf-8", "replace")

    def _value(self, kind: int) -> object:
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            return self._take(_SCALARS[kind])
        inner, length = int(self._take("I")), int(self._take("Q"))
        if inner in _SCALARS:
            self._skip(length * struct.calcsize(f"<{_SCALARS[inner]}"))
            return None
        for _ in range(length):
            if inner == _TEXT:
                self._skip(int(self._take("Q")))
            else:
                raise ValueError(inner)  # arrays of arrays are in no model
        return None

    def _check_tensors(self, count: int, alignment: object) -> None:
        """A file that was cut off is short of its last tensors."""
        end = 0
        for _ in range(count):
            self._text()
            sizes = [int(self._take("Q")) for _ in range(int(self._take("I")))]
            length = _length(math.prod(sizes), int(self._take("I")))
            end = max(end, int(self._take("Q")) + length)
        unit = alignment if isinstance(alignment, int) and alignment else _ALIGNMENT
        self._at = -(-self._at // unit) * unit
        self._skip(end)


def _length(count: int, kind: int) -> int:
    """Bytes of so many numbers of a kind; one at least, for kinds nobody knows."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    except (ValueError, KeyError):
        return 1
    return count // block * size


def _summary(fields: dict[str, object], tensors: int) -> Header:
    def number(key: str) -> int | None:
        found = fields.get(key)
        return found if isinstance(found, int) else None

    def text(key: str) -> str | None:
        found = fields.get(key)
        return found if isinstance(found, str) else None

    architecture = text("general.architecture") or "unknown"
    pooling = number(f"{architecture}.pooling_type")
    known = pooling is not None and 0 <= pooling < len(_POOLINGS)
    return Header(
        architecture=architecture,
        name=text("general.name"),
        dimension=number(f"{architecture}.embedding_length"),
        context_length=number(f"{architecture}.context_length"),
        pooling=_POOLINGS[pooling] if pooling is not None and known else None,
        tokenizer=text("tokenizer.ggml.model"),
        tensors=tensors,
    )

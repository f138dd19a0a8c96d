"""Message catalogues, dictionaries, package descriptions: pairs as they lie there."""

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from training.cleaning import clean_message

__all__ = ("Entry", "catalogue_pairs", "description_pairs", "dictionary_entries")

_MAGIC = 0x950412DE


def catalogue_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Messages of a compiled catalogue with their translations, as plain text."""
    data = path.read_bytes()
    order = "<" if data[:4] == struct.pack("<I", _MAGIC) else ">"
    if len(data) < struct.calcsize("5I") or data[:4] != struct.pack(
        order + "I", _MAGIC
    ):
        return
    _, _, count, ids, texts = struct.unpack_from(order + "5I", data)
    if max(ids, texts) + 8 * count > len(data):
        return
    charset = "utf-8"
    for index in range(count):
        source = _entry(data, order, ids + 8 * index)
        target = _entry(data, order, texts + 8 * index)
        if not source:
            if found := re.search(rb"charset=([\w-]+)", target):
                charset = found[1].decode()
            continue
        english = source.rpartition(b"\x04")[2].split(b"\0")[-1]
        try:
            pair = english.decode(charset), target.split(b"\0")[0].decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
        if not pair[0].startswith(("translator-credits", "EMAIL OF", "NAME OF")):
            yield clean_message(pair[0]), clean_message(pair[1])


def _entry(data: bytes, order: str, at: int) -> bytes:
    length, offset = struct.unpack_from(order + "2I", data, at)
    return data[offset : offset + length]


_DICTIONARY_LINE = re.compile(r"(\S+)(?: \[(.*?)\])? /(.*)/")
_COMMON_WORD = "/(P)/"
_GLOSS_NOISE = re.compile(r"\([^)]*\)|\{[^}]*\}")


class Entry(NamedTuple):
    """A word of a dictionary with two meanings, and whether it is a common one."""

    meaning: str
    word: str
    common: bool


def dictionary_entries(path: Path) -> Iterator[Entry]:
    """Entries of an EDICT dictionary."""
    with path.open(encoding="euc-jp", errors="replace") as stream:
        for line in stream:
            if entry := _DICTIONARY_LINE.match(line):
                meanings = [_GLOSS_NOISE.sub("", part) for part in entry[3].split("/")]
                kept = [
                    " ".join(part.split())
                    for part in meanings
                    if part.strip() and not part.startswith("EntL")
                ]
                if kept:
                    yield Entry("; ".join(kept[:2]), entry[1], _COMMON_WORD in line)


def description_pairs(
    english: Iterable[str], japanese: Iterable[str]
) -> Iterator[list[tuple[str, str]]]:
    """Paragraphs of each package's description, in both languages.

    The archive keeps descriptions by the checksum of the English text, so a
    translation always belongs to the text it was made from.
    """
    originals = dict(_descriptions(english))
    for checksum, paragraphs in _descriptions(japanese):
        original = originals.get(checksum)
        if original is not None and len(original) == len(paragraphs):
            yield list(zip(original, paragraphs, strict=True))


def _descriptions(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    checksum, paragraphs = "", [""]
    for line in lines:
        text = line.rstrip("\n")
        if text.startswith("Description-md5:"):
            checksum = text.split()[1]
        elif text.startswith("Description-") and ": " in text:
            paragraphs = [text.partition(": ")[2], ""]
        elif text == " .":
            paragraphs.append("")
        elif text.startswith(("  ", " *", " -")):
            paragraphs.append(text.strip(" *-"))
        elif text.startswith(" "):
            paragraphs[-1] = f"{paragraphs[-1]}\n{text.strip()}"
        elif not text and checksum:
            yield checksum, [part.strip() for part in paragraphs if part.strip()]
            checksum, paragraphs = "", [""]
    if checksum:
        yield checksum, [part.strip() for part in paragraphs if part.strip()]

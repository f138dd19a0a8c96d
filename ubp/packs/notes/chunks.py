"""Cut a note into chunks: at its level-2 headings, and never by length.

One chunk is one subject. Headings of level 3 and deeper are part of their chunk; one of
level 1 says what the chunks below it belong to. A chunk too large for any model is cut
at level 3. What stands before the first heading, or between a heading of level 1 and
the first of level 2, is a chunk too: nothing of a note is lost.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ubp.messages import Warned
from ubp.reading.chunking import estimate
from ubp.reading.markdown import Block, read

__all__ = ("LARGEST", "TOO_LARGE", "Chunk", "context_after", "slug", "split")

LARGEST = 32_000
"""Estimated tokens; a larger chunk is cut at level 3."""

TOO_LARGE = "large_chunk"
"""The kind of warning about a chunk that is too large and has nowhere to be cut."""

_SENTENCE_END = re.compile(r"[。．！？\n]|[.!?](?=\s|\Z)")
"""A Latin full stop inside a number, a version or an address ends nothing."""

_CONTEXT = 2
"""Sentences of the chunk before that are embedded with a chunk."""


class Chunk(Struct, frozen=True):
    """A stretch of a note under one heading."""

    heading: str
    parent_heading: str
    start: int
    end: int
    """Which characters of the note's content."""


class _Draft(Struct):
    heading: str
    parent_heading: str
    blocks: list[Block]


def slug(path: str) -> str:
    """What a note is called by its file name; a date in front is cut off."""
    name = posixpath.basename(path)
    stem = name.removesuffix(".md")
    return stem.partition("_")[2] or stem


def split(content: str, title: str, path: str) -> tuple[list[Chunk], list[Warned]]:
    """The chunks of a note, in order, and what could not be cut as it should."""
    chunks: list[Chunk] = []
    warnings: list[Warned] = []
    for draft in _at_level_2(read(content).blocks, title or slug(path)):
        if _size(content, draft.blocks) <= LARGEST:
            parts = [draft]
        else:
            parts = _at_level_3(draft)
            warnings += [
                Warned(
                    TOO_LARGE,
                    f"The part under {part.heading!r:.80} is too large to be understood"
                    " as one; give it headings of level 3.",
                )
                for part in parts
                if _size(content, part.blocks) > LARGEST
            ]
        chunks += [chunk for part in parts for chunk in _chunk(content, part)]
    return chunks, warnings


def context_after(content: str) -> str:
    """What a chunk goes on from: the last sentences of the *content* before it."""
    sentences = [part.strip() for part in _SENTENCE_END.split(content)]
    last = [sentence for sentence in sentences if sentence][-_CONTEXT:]
    return f"{'。'.join(last)}。" if last else ""


def _at_level_2(blocks: Sequence[Block], name: str) -> list[_Draft]:
    parent = name
    drafts = [_Draft(parent, parent, [])]
    for block in blocks:
        if block.level == 1:
            parent = block.text or parent
            drafts.append(_Draft(parent, parent, []))
        elif block.level == 2:  # noqa: PLR2004 - the level says it
            drafts.append(_Draft(block.text or parent, parent, []))
        else:
            drafts[-1].blocks.append(block)
    return drafts


def _at_level_3(draft: _Draft) -> list[_Draft]:
    parts = [_Draft(draft.heading, draft.parent_heading, [])]
    for block in draft.blocks:
        if block.level == 3:  # noqa: PLR2004 - the level says it
            heading = f"{draft.heading} > {block.text}" if block.text else draft.heading
            parts.append(_Draft(heading, draft.parent_heading, []))
        else:
            parts[-1].blocks.append(block)
    return parts


def _size(content: str, blocks: Sequence[Block]) -> int:
    return estimate(content[blocks[0].start : blocks[-1].end]) if blocks else 0


def _chunk(content: str, draft: _Draft) -> Iterator[Chunk]:
    """The draft as a chunk, unless there is nothing in it."""
    if not draft.blocks:
        return
    start, end = draft.blocks[0].start, draft.blocks[-1].end
    text = content[start:end]
    # Blank lines around it, not the indentation of its first line: that may be code.
    start += len(text) - len(text.lstrip("\n"))
    end -= len(text) - len(text.rstrip())
    if content[start:end].strip():
        yield Chunk(draft.heading, draft.parent_heading, start, end)

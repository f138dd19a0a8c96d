"""Cut a page into sections: at H2 and H3, then by size.

Oversized sections are cut at blank lines, never inside code. A piece too small to
stand alone joins the one before it and takes its heading line along.
"""

from dataclasses import dataclass, field

from msgspec import Struct

from ubp.reading.chunking import Group, Measure, estimate, packed, paragraphs
from ubp.reading.markdown import Block

__all__ = ("LARGEST", "SMALLEST", "Section", "split")

LARGEST = 256
"""Estimated tokens; a larger section is cut."""

SMALLEST = 32
"""Estimated tokens; a smaller piece joins the one before it."""

_DEEPEST_BOUNDARY = 3


class Section(Struct, frozen=True):
    """A section as it is stored."""

    heading: str | None
    level: int
    heading_path: tuple[str, ...]
    content: str
    tokens: int
    continued: bool
    """Whether it goes on with the section before it, under the same heading."""
    blocks: tuple[int, ...]
    """Indexes of the blocks it was made from."""


@dataclass
class _Draft:
    heading: str | None = None
    level: int = 0
    heading_path: tuple[str, ...] = ()
    parts: list[tuple[str, int]] = field(default_factory=list)
    """Paragraphs with the index of their block."""
    blocks: list[int] = field(default_factory=list)


def split(blocks: list[Block], *, largest: int = LARGEST) -> list[Section]:
    """The sections of a page, in order; a page with nothing has one empty section."""
    pieces = [
        piece for draft in _at_headings(blocks) for piece in _at_size(draft, largest)
    ]
    return _joined(pieces)


def _at_headings(blocks: list[Block]) -> list[_Draft]:
    drafts = [_Draft()]
    parent: str | None = None
    for index, block in enumerate(blocks):
        current = drafts[-1]
        if 1 < block.level <= _DEEPEST_BOUNDARY:
            if block.level < _DEEPEST_BOUNDARY:
                parent = block.text
                path: tuple[str, ...] = (block.text,)
            else:
                path = (parent, block.text) if parent else (block.text,)
            drafts.append(_Draft(block.text, block.level, path, blocks=[index]))
        elif block.level == 1:
            if block.text:
                current.parts.append((block.text, index))
            current.blocks.append(index)
        else:
            current.parts += [(part, index) for part in paragraphs(block)]
            current.blocks.append(index)
    if not drafts[0].parts and len(drafts) > 1:
        # Nothing but blank: its blocks, if any, go with the first heading.
        first = drafts.pop(0)
        drafts[0].blocks[:0] = first.blocks
    return drafts


def _at_size(draft: _Draft, largest: int) -> list[Section]:
    texts = [text for text, _ in draft.parts]
    with_text = {block for _, block in draft.parts}
    pieces: list[Section] = []
    for group in packed(texts, largest) or [Group([], Measure())]:
        blocks = {draft.parts[number][1] for number in group.indexes}
        if not pieces:  # the heading itself, and blocks without text
            blocks.update(block for block in draft.blocks if block not in with_text)
        pieces.append(
            Section(
                draft.heading,
                draft.level,
                draft.heading_path,
                "\n\n".join(texts[number] for number in group.indexes),
                group.measure.tokens,
                continued=bool(pieces),
                blocks=tuple(sorted(blocks)),
            )
        )
    return pieces


def _joined(pieces: list[Section]) -> list[Section]:
    """Pieces too small to stand alone, behind the one before them."""
    groups: list[list[Section]] = []
    for piece in pieces:
        if groups and piece.tokens < SMALLEST:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [group[0] if len(group) == 1 else _together(group) for group in groups]


def _together(group: list[Section]) -> Section:
    """One section of the first and the small ones behind it, their headings kept."""
    first, *small = group
    parts = [first.content]
    for piece in small:
        if piece.heading and not piece.continued:
            parts.append(f"{'#' * piece.level} {piece.heading}")
        parts.append(piece.content)
    content = "\n\n".join(part for part in parts if part)
    return Section(
        first.heading,
        first.level,
        first.heading_path,
        content,
        estimate(content),
        first.continued,
        tuple(block for piece in group for block in piece.blocks),
    )

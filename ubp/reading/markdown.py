"""One Markdown reader for all packs: blocks, headings and links, with their source.

CommonMark with tables, footnotes, task lists, strike-through and wikilinks. A heading
inside a quote or a list is content, and nothing of the source is lost: what lies
between blocks, such as link definitions, is a block too.
"""

import re
from typing import Any, Literal, NamedTuple

import pyromark
from msgspec import Struct

__all__ = ("Block", "Link", "Markdown", "normalise", "read")

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_WIKILINKS
)
_PARSER = pyromark.Markdown(options=_OPTIONS)

_CONTEXT = 50
"""Characters of source kept on either side of a link."""

_ANGLED = re.compile(r"([^<>\s]+\.md)>")


class Block(Struct, frozen=True):
    """A top-level block: its source, and its heading if it is one."""

    source: str
    level: int = 0
    """1 to 6 for a heading, 0 for anything else."""
    text: str = ""
    """The plain text of a heading."""
    whole: bool = False
    """Whether it may not be cut at its blank lines."""
    fences: tuple[tuple[int, int], ...] = ()
    """Character ranges of code inside it, which may not be cut either."""


class Link(Struct, frozen=True):
    """A link as it is written."""

    style: Literal["wiki", "markdown"]
    target: str
    label: str | None
    block: int
    """Index of the block it stands in."""
    context: str


class Markdown(NamedTuple):
    """A document in pieces."""

    blocks: list[Block]
    links: list[Link]


def normalise(text: str) -> str:
    """*text* with one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(text: str) -> Markdown:
    """The blocks and links of *text*, whose lines end in ``\\n``."""
    return _Reader(text).read()


class _Open:
    """A top-level block while its events arrive. Offsets are bytes."""

    def __init__(self, tag: Any, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.level = _heading_level(tag)
        self.whole = _is_code(tag) or tag == "HtmlBlock" or _named(tag) == "Table"
        self.text: list[str] = []
        self.fences: list[tuple[int, int]] = []


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._raw = text.encode("utf-8", "surrogatepass")
        self._blocks: list[Block] = []
        self._links: list[Link] = []
        self._unplaced: list[tuple[Literal["wiki", "markdown"], str, str | None, str]]
        self._unplaced = []
        self._read_up_to = 0

    def read(self) -> Markdown:
        depth = 0
        open_block: _Open | None = None
        open_wikilink: tuple[dict[str, Any], int, list[str]] | None = None
        angle_at = -1
        for event, span in _PARSER.events_with_range(self._text):
            start, end = span["start"], span["end"]
            kind, payload = (
                next(iter(event.items())) if isinstance(event, dict) else (event, None)
            )
            if kind == "Start":
                if open_block is None:
                    open_block = _Open(payload, start, end)
                elif _is_code(payload):
                    open_block.fences.append((start, end))
                depth += 1
                link = _link_of(payload)
                if link is not None:
                    if isinstance(link["link_type"], dict):
                        open_wikilink = (link, start, [])
                    elif "Link" in payload:
                        self._add("markdown", link["dest_url"], None, start, end)
            elif kind == "End":
                depth -= 1
                if open_wikilink is not None and payload in ("Link", "Image"):
                    link, begin, label = open_wikilink
                    self._add_wikilink(link, "".join(label), begin, end, payload)
                    open_wikilink = None
                if depth == 0 and open_block is not None:
                    self._close(open_block)
                    open_block = None
            else:
                if open_block is None:  # a rule, or another block without an inside
                    self._close(_Open(kind, start, end))
                    continue
                words = _words(kind, payload)
                if open_block.level:
                    open_block.text.append(words)
                if open_wikilink is not None:
                    open_wikilink[2].append(words)
                if kind == "Text":
                    angled = _ANGLED.match(payload) if angle_at == start else None
                    if angled is not None:
                        self._add("markdown", angled[1], None, start, end)
                    angle_at = end if payload == "<" else -1
        self._between(len(self._raw))
        return Markdown(self._blocks, self._links)

    def _close(self, block: _Open) -> None:
        # Indentation belongs to the block: without it, code would not be code.
        line = self._raw.rfind(b"\n", 0, block.start) + 1
        start = max(self._read_up_to, line)
        if self._raw[start : block.start].strip():
            start = block.start
        self._between(start)
        source = self._slice(start, block.end).strip("\n").rstrip()
        fences = tuple(
            (len(self._slice(start, begin)), len(self._slice(start, end)))
            for begin, end in block.fences
        )
        here = len(self._blocks)
        for style, target, label, context in self._unplaced:
            self._links.append(Link(style, target, label, here, context))
        self._unplaced.clear()
        plain = " ".join("".join(block.text).split())
        self._blocks.append(Block(source, block.level, plain, block.whole, fences))
        self._read_up_to = max(self._read_up_to, block.end)

    def _between(self, end: int) -> None:
        """Keep what lies between blocks: definitions produce no events."""
        gap = self._slice(self._read_up_to, end).strip("\n").rstrip()
        if gap.strip():
            self._blocks.append(Block(gap))
        self._read_up_to = max(self._read_up_to, end)

    def _add_wikilink(
        self, link: dict[str, Any], label: str, start: int, end: int, tag: str
    ) -> None:
        target = link["dest_url"]
        if tag == "Image" and not _may_be_a_page(target):
            return
        piped = link["link_type"]["WikiLink"]["has_pothole"]
        # In a table the bar must be escaped, and the backslash is not of the name.
        target = target.removesuffix("\\") if piped else target
        self._add("wiki", target, label if piped else None, start, end)

    def _add(
        self,
        style: Literal["wiki", "markdown"],
        target: str,
        label: str | None,
        start: int,
        end: int,
    ) -> None:
        reach = _CONTEXT * 4
        before = self._slice(max(0, start - reach), start)[-_CONTEXT:]
        after = self._slice(end, end + reach)[:_CONTEXT]
        context = before + self._slice(start, end)[: 4 * _CONTEXT] + after
        self._unplaced.append((style, target, label, context))

    def _slice(self, start: int, end: int) -> str:
        return self._raw[start:end].decode("utf-8", "ignore")


def _named(tag: Any) -> str:
    return next(iter(tag)) if isinstance(tag, dict) else str(tag)


def _heading_level(tag: Any) -> int:
    if isinstance(tag, dict) and "Heading" in tag:
        return int(tag["Heading"]["level"][1])
    return 0


def _is_code(tag: Any) -> bool:
    return _named(tag) == "CodeBlock"


def _link_of(tag: Any) -> dict[str, Any] | None:
    if isinstance(tag, dict):
        link: dict[str, Any] | None = tag.get("Link") or tag.get("Image")
        return link
    return None


def _may_be_a_page(target: str) -> bool:
    """Whether an embedded ``![[target]]`` is a page rather than a picture."""
    name = target.partition("#")[0].rpartition("/")[2]
    return "." not in name or name.lower().endswith(".md")


def _words(kind: str, payload: Any) -> str:
    if kind in ("Text", "Code", "InlineMath", "DisplayMath"):
        return str(payload)
    return " " if kind in ("SoftBreak", "HardBreak") else ""

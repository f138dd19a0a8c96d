"""One Markdown reader for all packs: blocks, headings and links, with their source.

CommonMark with tables, footnotes, task lists, strike-through and wikilinks. A heading
inside a quote or a list is content, and nothing of the source is lost: what lies
between blocks, such as link definitions, is a block too.
"""

import re
from typing import Any, Literal, NamedTuple, cast

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

_ANGLED = re.compile(r"<([^<>\s]+\.md)>")
"""``<page.md>``, which is no autolink to CommonMark because it has no scheme."""


Style = Literal["wiki", "markdown"]


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
    start: int = 0
    end: int = 0
    """Which characters of the text are its lines."""


class Link(Struct, frozen=True):
    """A link as it is written."""

    style: Style
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
    """The blocks and links of *text*, in lines of Unix style."""
    return _Reader(text).read()


_WHOLE = frozenset({"CodeBlock", "HtmlBlock", "Table"})


class _Open:
    """A top-level block while its events arrive. Offsets are bytes."""

    def __init__(self, tag: Any, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.level = _heading_level(tag)
        self.whole = _named(tag) in _WHOLE
        self.text: list[str] = []
        self.fences: list[tuple[int, int]] = []


class _OpenWikilink(NamedTuple):
    """A wikilink while the events of its label arrive."""

    link: dict[str, Any]
    start: int
    label: list[str]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._raw = text.encode("utf-8", "surrogatepass")
        self._blocks: list[Block] = []
        self._links: list[Link] = []
        self._unplaced: list[tuple[Style, str, str | None, str]] = []
        self._read_up_to = 0
        self._is_ascii = len(self._raw) == len(text)
        self._counted = (0, 0)
        """A place in the text, in bytes and in characters."""
        self._depth = 0
        self._block: _Open | None = None
        self._wikilink: _OpenWikilink | None = None
        self._in_code = False

    def read(self) -> Markdown:
        for event, span in _PARSER.events_with_range(self._text, merge_text=True):
            start, end = span["start"], span["end"]
            if not isinstance(event, dict):
                self._leaf(event, None, start, end)
                continue
            [(kind, payload)] = cast("dict[str, Any]", event).items()
            if kind == "Start":
                self._start(payload, start, end)
            elif kind == "End":
                self._end(payload, end)
            else:
                self._leaf(kind, payload, start, end)
        self._between(len(self._raw))
        return Markdown(self._blocks, self._links)

    def _start(self, tag: Any, start: int, end: int) -> None:
        self._depth += 1
        opens = self._block is None
        if self._block is None:
            self._block = _Open(tag, start, end)
        if isinstance(tag, str):  # most of them: neither code nor a link
            return
        if "CodeBlock" in tag:
            self._in_code = True
            if not opens:
                self._block.fences.append((start, end))
        link = _link_of(tag)
        if link is None:
            return
        if isinstance(link["link_type"], dict):
            self._wikilink = _OpenWikilink(link, start, [])
        elif "Link" in tag:
            self._add("markdown", link["dest_url"], None, start, end)

    def _end(self, tag: Any, end: int) -> None:
        self._depth -= 1
        self._in_code = self._in_code and tag != "CodeBlock"
        if self._wikilink is not None and tag in {"Link", "Image"}:
            self._add_wikilink(self._wikilink, end, embedded=tag == "Image")
            self._wikilink = None
        if self._depth == 0 and self._block is not None:
            self._close(self._block)
            self._block = None

    def _leaf(self, kind: str, payload: Any, start: int, end: int) -> None:
        if self._block is None:  # a rule, or another block without an inside
            self._close(_Open(kind, start, end))
            return
        if self._block.level:
            self._block.text.append(_words(kind, payload))
        if self._wikilink is not None:
            self._wikilink.label.append(_words(kind, payload))
        if kind == "Text" and ".md>" in payload and not self._in_code:
            for angled in _ANGLED.finditer(payload):
                begin = start + len(payload[: angled.start()].encode())
                stop = min(end, begin + len(angled[0].encode()))
                self._add("markdown", angled[1], None, begin, stop)

    def _close(self, block: _Open) -> None:
        # Indentation belongs to the block: without it, code would not be code.
        line = self._raw.rfind(b"\n", 0, block.start) + 1
        start = max(self._read_up_to, line)
        if self._raw[start : block.start].strip():
            start = block.start
        self._between(start)
        source = self._slice(start, block.end).strip("\n").rstrip()
        fences = self._in_characters(start, block.fences)
        here = len(self._blocks)
        for style, target, label, context in self._unplaced:
            self._links.append(Link(style, target, label, here, context))
        self._unplaced.clear()
        plain = " ".join("".join(block.text).split())
        made = (source, block.level, plain, block.whole, fences)
        self._blocks.append(Block(*made, *self._span(start, block.end)))
        self._read_up_to = max(self._read_up_to, block.end)

    def _in_characters(
        self, start: int, spans: list[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...]:
        """Spans of bytes as spans of characters, counted from *start*."""
        found: list[tuple[int, int]] = []
        at, characters = start, 0
        for begin, end in spans:
            if begin < at:  # inside the one before
                continue
            characters += len(self._slice(at, begin))
            length = len(self._slice(begin, end))
            found.append((characters, characters + length))
            at, characters = end, characters + length
        return tuple(found)

    def _between(self, end: int) -> None:
        """Keep what lies between blocks: definitions produce no events."""
        gap = self._slice(self._read_up_to, end).strip("\n").rstrip()
        if gap.strip():
            start, stop = self._span(self._read_up_to, end)
            self._blocks.append(Block(gap, start=start, end=stop))
        self._read_up_to = max(self._read_up_to, end)

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Bytes *start* to *end* as characters; asked for in the order of the text."""
        if self._is_ascii:
            return start, end
        at, first = self._counted
        first += len(self._slice(at, start))
        last = first + len(self._slice(start, end))
        self._counted = (max(start, end), last)
        return first, last

    def _add_wikilink(self, open_: _OpenWikilink, end: int, *, embedded: bool) -> None:
        link, start, label = open_
        target = link["dest_url"]
        if embedded and not _may_be_a_page(target):
            return
        if not link["link_type"]["WikiLink"]["has_pothole"]:
            self._add("wiki", target, None, start, end)
            return
        # In a table the bar must be escaped, and the backslash is not of the name.
        self._add("wiki", target.removesuffix("\\"), "".join(label), start, end)

    def _add(
        self,
        style: Style,
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
        if self._is_ascii:
            return self._text[start:end]
        return self._raw[start:end].decode("utf-8", "ignore")


def _named(tag: Any) -> str:
    return next(iter(tag)) if isinstance(tag, dict) else str(tag)


def _heading_level(tag: Any) -> int:
    if isinstance(tag, dict) and "Heading" in tag:
        return int(tag["Heading"]["level"][1])
    return 0


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

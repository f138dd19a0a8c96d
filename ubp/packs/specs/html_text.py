"""The text of HTML as people read it: blocks, with code as it is written."""

import re
import textwrap

from selectolax.lexbor import LexborNode

__all__ = ("BlockText", "is_chrome", "is_verbatim", "plain_text")

_BLOCKS = frozenset(
    tag
    for line in (
        "address article aside blockquote body caption center dd details dialog div dl",
        "dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr",
        "legend li main menu ol p pre section summary table tbody tfoot thead tr ul",
        "emu-alg emu-annex emu-clause emu-example emu-figure emu-import emu-intro",
        "emu-note emu-production emu-rhs emu-table",
    )
    for tag in line.split()
)

_NO_TEXT = frozenset(
    {"button", "iframe", "nav", "noscript", "script", "style", "svg", "template"}
)
_NO_TEXT_ROLES = frozenset({"banner", "contentinfo", "navigation", "search"})
_NO_TEXT_CLASSES = frozenset(
    {"headerlink", "navfooter", "navheader", "sphinxsidebar", "toc"}
)

_CELLS = frozenset({"td", "th"})
_LINE_END = "\v"
"""Stands for a line break that is meant, until white space has been collapsed."""

_WHITE = re.compile(r"[ \t\r\n\f\u00a0]+")


def is_chrome(node: LexborNode) -> bool:
    """Whether *node* belongs to the site, and not to the text."""
    if node.tag in _NO_TEXT:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    classes = (attributes.get("class") or "").split()
    return (
        "hidden" in attributes
        or attributes.get("role") in _NO_TEXT_ROLES
        or not _NO_TEXT_CLASSES.isdisjoint(classes)
    )


def is_verbatim(node: LexborNode) -> bool:
    """Whether the lines of *node* are as they are to be read."""
    if node.tag == "pre":
        return True
    if node.tag == "emu-alg":  # steps, unless they have been made into a list
        return node.css_first("ol") is None
    if node.tag == "emu-grammar":
        inline = node.parent is not None and node.parent.tag in {"p", "td", "li"}
        return not inline and node.css_first("emu-production") is None
    return False


def plain_text(node: LexborNode) -> str:
    """The text of *node* on one line."""
    found: list[str] = []
    left = [node]
    while left:
        here = left.pop()
        if here.is_text_node:
            found.append(here.text_content or "")
        elif here.is_element_node and not (here is not node and is_chrome(here)):
            child = here.last_child
            while child is not None:
                left.append(child)
                child = child.prev
            if here.tag == "br" or (here.tag in _BLOCKS and here is not node):
                found.append(" ")
    return _WHITE.sub(" ", "".join(found)).strip()


class BlockText:
    """Collects text; blocks are kept apart by an empty line, cells by a bar."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._rows = 0
        self._cells = 0

    @property
    def in_row(self) -> bool:
        """Whether this is a row of a table: one block, whatever is in its cells."""
        return self._rows > 0

    def add(self, text: str) -> None:
        self._line.append(text)

    def add_verbatim(self, text: str) -> None:
        self._flush()
        text = textwrap.dedent(text.replace("\u00a0", " "))
        text = re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()
        if text:
            self._blocks.append(text)

    def enter(self, tag: str) -> None:
        if tag == "br":
            self._line.append(_LINE_END)
        elif tag in _CELLS and self.in_row:
            self._line.append(" | " if self._cells else "")
            self._cells += 1
        elif tag in _BLOCKS:
            self._part()
            if tag == "tr":
                self._rows += 1
                self._cells = 0

    def leave(self, tag: str) -> None:
        # A row may have begun in the section before this one.
        if tag == "tr" and self._rows:
            self._rows -= 1
        if tag in _BLOCKS:
            self._part()

    def finished(self) -> str:
        self._flush()
        return "\n\n".join(self._blocks)

    def _part(self) -> None:
        """A block begins or ends; inside a row that is no more than a space."""
        if self.in_row:
            self._line.append(" ")
        else:
            self._flush()

    def _flush(self) -> None:
        text = _WHITE.sub(" ", "".join(self._line))
        self._line.clear()
        lines = [line.strip() for line in text.split(_LINE_END)]
        text = "\n".join(lines).strip()
        if text:
            self._blocks.append(text)

"""Documents as blocks: HTML, the help formats of GNOME, manual pages, Markdown."""

import gzip
import html
import re
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from training.aligning import Block
from training.cleaning import clean

__all__ = (
    "blocks_of_html",
    "help_blocks",
    "html_blocks",
    "manual_blocks",
    "markdown_blocks",
)

_KINDS = {
    "title": "title",
    "h1": "heading",
    "h2": "heading",
    "h3": "heading",
    "h4": "heading",
    "h5": "heading",
    "p": "text",
    "li": "item",
    "dt": "term",
    "dd": "item",
    "td": "cell",
    "th": "cell",
    "caption": "cell",
    "pre": "code",
}
_LEVELS = {"h1", "h2", "h3", "h4", "h5"}
_IGNORED = (
    "script, style, nav, header, footer, .navheader, .navfooter, .toc, .sphinxsidebar"
)
_NUMBER = re.compile(
    r"^(?:第\s*)?[0-9A-Z]+(?:\.[0-9]+)*\.\s*|^Chapter \d+\.\s*|^第\s?\d+\s?章\.?\s*"
)
"""The number of a section says nothing about its meaning."""

_INLINE_BREAK = re.compile(r"\s*\n\s*")


def html_blocks(path: Path) -> list[Block]:
    """The innermost headings, paragraphs, items and cells of a page."""
    return blocks_of_html(_read(path))


def blocks_of_html(text: str) -> list[Block]:
    """The same of a text."""
    tree = LexborHTMLParser(text)
    for node in tree.css(_IGNORED):
        node.decompose()
    if tree.root is None:
        return []
    blocks: list[Block] = []
    for node in tree.root.traverse():
        kind = _kind(node)
        if kind is not None and not _holds_block(node):
            text = node.text(separator="")
            _add(blocks, kind, text, _as_markdown(node.tag or "", kind, text))
    return blocks


def _as_markdown(tag: str, kind: str, text: str) -> str:
    """A block of a page as somebody would have written it in Markdown."""
    if kind == "code":
        return f"```\n{text.strip()}\n```"
    line = clean(_INLINE_BREAK.sub("\n", text))
    if tag in _LEVELS:
        return f"{'#' * int(tag[1:])} {line}"
    return f"- {line}" if tag == "li" else line


def _kind(node: LexborNode) -> str | None:
    """What a node is; some tools write paragraphs as divisions."""
    if node.tag == "div" and "para" in (node.attributes.get("class") or "").split():
        return "text"
    return _KINDS.get(node.tag or "")


def _holds_block(node: LexborNode) -> bool:
    return any(inner != node and _kind(inner) is not None for inner in node.traverse())


_HELP_NOISE = re.compile(
    r"<(info|credit|revision|license|legalnotice|revhistory|authorgroup|indexterm)\b"
    r".*?</\1>|<!--.*?-->",
    re.DOTALL,
)
_HELP_BLOCK = re.compile(
    r"<(title|p|para|screen|code|term|programlisting)\b[^>]*(?<!/)>(.*?)</\1>",
    re.DOTALL,
)
_HELP_KINDS = {
    "title": "heading",
    "p": "text",
    "para": "text",
    "term": "term",
}


def help_blocks(path: Path) -> list[Block]:
    """Titles and paragraphs of a Mallard or DocBook page."""
    text = _HELP_NOISE.sub("", _read(path))
    blocks: list[Block] = []
    for tag, inner in _HELP_BLOCK.findall(text):
        _add(blocks, _HELP_KINDS.get(tag, "code"), _untagged(inner))
    return blocks


def _untagged(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", text))


_ROFF_ESCAPE = re.compile(
    r"\\f(?:\[\w*\]|\(\w\w|\w)|\\s[-+]?\d|\\[&:/%|^,)]|\\m\[\w*\]|\\[dum0](?=\W|$)"
)
_ROFF_GLYPHS = {
    r"\-": "-",
    r"\(aq": "'",
    r"\(dq": '"',
    r"\(lq": "“",
    r"\(rq": "”",
    r"\(oq": "‘",
    r"\(cq": "’",
    r"\(bu": "",
    r"\(em": "—",
    r"\(en": "–",
    r"\(co": "©",
    r"\e": "\\",
    r"\~": " ",
    r"\ ": " ",
    r"\(ti": "~",
    r"\(ha": "^",
    r"\(->": "→",
}
_ROFF_BREAKS = {".PP", ".P", ".LP", ".TP", ".IP", ".HP", ".RS", ".RE", ".sp", ".br"}
_ROFF_FONTS = {".B", ".I", ".BR", ".IR", ".RB", ".RI", ".BI", ".IB", ".SM", ".SB"}


def manual_blocks(path: Path) -> list[Block]:
    """Headings and paragraphs of a manual page in the man macros."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
    if re.search(r"^\.(so|Dd)\s", text, re.MULTILINE):
        return []
    return _Roff().read(text)


class _Roff:
    """Collects blocks while the lines of a manual page go by."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lines: list[str] = []
        self._kind = "text"
        self._skipping = False

    def read(self, text: str) -> list[Block]:
        for line in text.splitlines():
            self._line(line)
        self._end()
        return self.blocks

    def _line(self, line: str) -> None:
        macro, _, rest = line.partition(" ")
        if macro in {".nf", ".EX", ".TS"}:
            self._end()
            self._skipping = True
        elif macro in {".fi", ".EE", ".TE"}:
            self._skipping = False
        elif self._skipping:
            return
        elif macro in {".SH", ".SS"}:
            self._end()
            _add(self.blocks, "heading", _unroffed(rest.replace('"', "")))
        elif macro in _ROFF_BREAKS or not line.strip():
            self._end()
            self._kind = "term" if macro == ".TP" else "text"
        elif macro in _ROFF_FONTS:
            self._take("".join(_arguments(rest, spaced=len(macro) == len(".B"))))
        elif not line.startswith((".", "'")):
            self._take(line)

    def _take(self, line: str) -> None:
        self._lines.append(_unroffed(line))
        if self._kind == "term":
            self._end()

    def _end(self) -> None:
        if self._lines:
            _add(self.blocks, self._kind, "\n".join(self._lines))
        self._lines = []
        self._kind = "text"


def _arguments(rest: str, *, spaced: bool) -> list[str]:
    found = [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', rest)]
    return [" ".join(found)] if spaced else found


def _unroffed(text: str) -> str:
    text = _ROFF_ESCAPE.sub("", text)
    for escape, glyph in _ROFF_GLYPHS.items():
        text = text.replace(escape, glyph)
    return re.sub(r"\\\(\w\w|\\\[[^\]]*\]|\\\".*", "", text)


_FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_SPLIT = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)|\n(?=\s*:\s)|\n(?=#{1,6} )")
_ITEM = re.compile(r"(?:[-*+:]|\d+\.)\s+(?:[-:]\s+)?")
_MACRO = re.compile(r"\{\{[^}]*?(?:\(\s*[\"']([^\"']*)[\"'][^}]*\))?\s*\}\}")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")


def markdown_blocks(path: Path) -> list[Block]:
    """Title, headings, paragraphs, list items and code of a Markdown page."""
    text = _read(path)
    blocks: list[Block] = []
    if text.startswith("---\n"):
        front, _, text = text[4:].partition("\n---")
        if title := re.search(r"^title:\s*(.*)$", front, re.MULTILINE):
            _add(blocks, "title", _unmarked(title[1].strip("\"' ")))
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = _MACRO.sub(lambda found: found[1] or "", text)
    codes = (found[0] for found in _FENCE.finditer(text))
    for part in _SPLIT.split(_FENCE.sub("\n\n\x00\n\n", text)):
        block = part.strip()
        if block.startswith("#"):
            heading = re.sub(r"\s*\{#.*\}", "", block.lstrip("#"))
            _add(blocks, "heading", _unmarked(heading), block)
        elif block == "\x00":
            _add(blocks, "code", "", next(codes))
        elif block.startswith("|"):
            _add(blocks, "code", "", block)
        elif item := _ITEM.match(block):
            _add(blocks, "item", _unmarked(block[item.end() :]), block)
        elif block:
            _add(blocks, "text", _unmarked(block), block)
    return blocks


def _unmarked(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"^>\s?(\[!\w+\])?", "", text, flags=re.MULTILINE)
    return _untagged(re.sub(r"[*`|]+|(?<!\w)_+|_+(?!\w)", "", text))


def _add(blocks: list[Block], kind: str, text: str, source: str = "") -> None:
    if kind == "code":
        blocks.append(Block(kind, "", source))
        return
    text = clean(_INLINE_BREAK.sub("\n", text))
    if kind in {"heading", "title"}:
        text = _NUMBER.sub("", text)
    if text:
        blocks.append(Block(kind, text, source))


def _read(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    for encoding in ("utf-8", "euc-jp", "iso2022_jp"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", errors="replace")

"""Bytes of a page -> its text, and its text -> its sections."""

import codecs
import re
from typing import NamedTuple

from ubp.packs.specs.html_pages import cut_html
from ubp.packs.specs.markdown_pages import cut_markdown
from ubp.packs.specs.sections import Cut

__all__ = ("CutText", "cut_page", "decoded", "is_markdown", "looks_like_html")

_DECLARED = re.compile(rb"""<meta[^>]{0,200}charset=["']?([A-Za-z0-9_-]{1,40})""")
_LOOKED_THROUGH = 2048
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE
)


class CutText(NamedTuple):
    """The sections of a page, and where it says that it is published."""

    sections: list[Cut]
    permalink: str


def decoded(body: bytes, charset: str = "") -> str:
    """The text of a page: UTF-8, else as its server or the page itself says.

    What cannot be decoded at all is replaced, not lost with all the rest.
    """
    declared = _DECLARED.search(body[:_LOOKED_THROUGH])
    said = declared[1].decode() if declared else ""
    for encoding in ("utf-8-sig", charset, said):
        try:
            return body.decode(codecs.lookup(encoding).name)
        except (LookupError, UnicodeDecodeError):
            continue
    return body.decode("utf-8", "replace")


def is_markdown(path: str) -> bool:
    return path.lower().endswith(".md")


def looks_like_html(body: bytes) -> bool:
    """Whether it is a whole HTML document."""
    return _HTML.match(body[:_LOOKED_THROUGH]) is not None


def cut_page(
    path: str, address: str, body: bytes, charset: str, headings: tuple[int, ...]
) -> CutText:
    """The sections of the page at *path*, which is published at *address*."""
    text = decoded(body, charset).replace("\x00", "")
    if is_markdown(path):
        return CutText(*cut_markdown(path, text))
    return CutText(cut_html(address, text, headings), "")

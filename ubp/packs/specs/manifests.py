"""Which pages a document has: what manifests, index pages and listings say."""

import posixpath
import re
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

__all__ = ("in_index", "in_listing", "in_manifest", "stays_inside")

_LINK = re.compile(r"\]\(<?([^()<>\s]+?\.md)(?:#[^()<>\s]*)?>?(?:\s+[^()]*)?\)")
"""A Markdown link to a page, or to a place on one."""


class _Entry(Struct, frozen=True):
    type: str = ""
    name: str = ""


def in_manifest(text: str, own_name: str) -> list[str]:
    """The pages a manifest links to: the first of each line, in order, once."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        for target in _LINK.findall(line):
            page = posixpath.normpath(unquote(target))
            if "://" in target or target.startswith("//") or page == own_name:
                continue
            found[page] = None
            break
    return list(found)


def in_index(text: str, pattern: str) -> list[str]:
    """The chapters an index page links to, in order of appearance, once."""
    wanted = re.compile(pattern)
    links = (
        node.attributes.get("href") or "" for node in LexborHTMLParser(text).css("a")
    )
    plain = (link.partition("#")[0].removeprefix("./") for link in links)
    return list(dict.fromkeys(link for link in plain if wanted.fullmatch(link)))


def in_listing(body: bytes) -> list[str]:
    """The Markdown files in a folder, as the contents API of GitHub lists it.

    Raises:
        ValueError: It is no listing.
    """
    try:
        entries = msgspec.json.decode(body, type=list[_Entry])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None
    return [
        each.name for each in entries if each.type == "file" and each.name[-3:] == ".md"
    ]


def stays_inside(page: str) -> bool:
    """Whether a page's path leads to somewhere below its folder."""
    path = posixpath.normpath(page.replace("\\", "/"))
    return not (path.startswith(("/", "../")) or path == "..")

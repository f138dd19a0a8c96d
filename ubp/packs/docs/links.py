"""What a link on a page means: its type, and the names its target may have.

Names are compared without case, in Unicode's composed form, without ``.md``.
"""

import posixpath
import re
import unicodedata
from urllib.parse import unquote

from msgspec import Struct

from ubp.messages import Warned
from ubp.packs.docs.kinds import LINK_TYPES
from ubp.reading.markdown import Link

__all__ = ("INDEX_NAMES", "PageLink", "Plan", "key_of", "plan", "understood")

INDEX_NAMES = ("index", "_index", "readme")
"""Pages that stand for their folder, as site generators have it, in their order."""

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_LOOKS_LIKE_A_TYPE = re.compile(r"[a-z]+(_[a-z]+)+")


class PageLink(Struct, frozen=True):
    """A link that may lead to a page."""

    style: str
    """``wiki`` or ``markdown``; a wikilink to the same page wins."""
    target: str
    """The target as text: a name, or for Markdown links a path in the docs folder."""
    type: str
    fragment: str | None
    optional: bool
    """Whether it may lead elsewhere on the site: then it only counts if it resolves."""
    block: int
    context: str


class Plan(Struct, frozen=True):
    """The names to try for a target, in order."""

    exact: tuple[str, ...] = ()
    """Keys of whole paths in the docs folder."""
    ending: str | None = None
    """Key that a path must be equal to or end with."""
    title: str | None = None

    @property
    def name(self) -> str:
        """Key of the last segment: pages of other names cannot be the target."""
        longest = self.ending if self.ending is not None else self.exact[0]
        return longest.rpartition("/")[2]


def key_of(name: str) -> str:
    """*name* as it is compared."""
    return _folded(name).removesuffix(".md")


def _folded(name: str) -> str:
    # Folded rather than lowered: a final sigma must not depend on what follows it.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def understood(
    links: list[Link], path: str, site_prefix: str
) -> tuple[list[PageLink], list[Warned]]:
    """The links of the page at *path* that may lead to pages, each once."""
    found: list[PageLink] = []
    warnings: list[Warned] = []
    for link in links:
        if link.style == "wiki":
            page_link, warning = _wikilink(link)
            if warning:
                warnings.append(warning)
        else:
            page_link = _markdown_link(link, path, site_prefix)
        if page_link is not None:
            found.append(page_link)
    named = {key_of(link.target) for link in found if link.style == "wiki"}
    unique: dict[tuple[str, str], PageLink] = {}
    for link_ in found:
        key = key_of(link_.target)
        if link_.style == "wiki" or key not in named:
            unique.setdefault((key, link_.type), link_)
    return list(unique.values()), warnings


def plan(style: str, target: str, source_path: str) -> Plan:
    """How the target of a link on the page at *source_path* is looked up."""
    folder = _folded(posixpath.dirname(source_path))
    key = key_of(target)
    if style == "markdown":
        # Already a path in the docs folder; without ".md" a site's address.
        if target.lower().endswith(".md"):
            return Plan(exact=(key,))
        return Plan(exact=(key, *(f"{key}/{name}".lstrip("/") for name in INDEX_NAMES)))
    if key.startswith(("./", "../")):
        return Plan(exact=(_normalised(f"{folder}/{key}"),))
    if key.startswith("/"):
        return Plan(exact=(_normalised(key),), title=key)
    if "/" in key:
        near = _normalised(f"{folder}/{key}")
        return Plan(exact=(_normalised(key), near), ending=_normalised(key), title=key)
    return Plan(ending=key, title=key)


def _wikilink(link: Link) -> tuple[PageLink | None, Warned | None]:
    name, _, fragment = link.target.partition("#")
    name = " ".join(name.split()).rstrip("/")
    if not name or posixpath.basename(name) in {".", ".."}:
        return None, None
    label = " ".join(link.label.split()) if link.label else ""
    known = label in LINK_TYPES
    warning = None
    if not known and _LOOKS_LIKE_A_TYPE.fullmatch(label):
        types = ", ".join(LINK_TYPES)
        warning = Warned(
            "unknown_link_type", f"[[{name}|{label}]]: the link types are {types}."
        )
    page_link = PageLink(
        "wiki",
        name,
        label if known else "references",
        fragment.strip() or None,
        optional=False,
        block=link.block,
        context=link.context,
    )
    return page_link, warning


def _markdown_link(link: Link, path: str, site_prefix: str) -> PageLink | None:
    if _SCHEME.match(link.target):
        return None
    address, _, fragment = link.target.partition("#")
    address = _decoded(address.partition("?")[0])
    if not address or "\x00" in address:
        return None
    is_page = address.lower().endswith(".md")
    absolute = address.startswith("/")
    prefix = f"/{site_prefix.strip('/')}/" if site_prefix.strip("/") else None
    claimed = prefix is not None and f"{address}/".startswith(prefix)
    if prefix is not None and claimed:
        address = f"/{address[len(prefix) :]}"
    if not is_page and not (absolute and "." not in posixpath.basename(address)):
        return None
    base = "" if absolute else posixpath.dirname(path)
    target = _normalised(f"{base}/{address}")
    if target.startswith("../") or target in ("", ".", ".."):
        return None
    return PageLink(
        "markdown",
        target,
        "references",
        fragment or None,
        optional=not (is_page or claimed),
        block=link.block,
        context=link.context,
    )


def _decoded(address: str) -> str:
    try:
        return unquote(address, errors="strict")
    except UnicodeDecodeError:
        return address


def _normalised(path: str) -> str:
    """*path* without ``.``, ``..`` and doubled slashes; ``../`` first if it leaves."""
    return posixpath.normpath(path.lstrip("/") or ".")

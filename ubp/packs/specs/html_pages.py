"""An HTML page -> its sections.

Two layouts are known, and any mixture of them: headings between paragraphs, as people
write HTML, and headings deep inside wrappers, as DocBook, Sphinx and ecmarkup make it.
A section is what follows its heading in the document, however deep, up to the next one.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ubp.packs.specs.html_text import BlockText, is_chrome, is_verbatim, plain_text
from ubp.packs.specs.sections import SEPARATOR, Cut, generated_id, title_of

__all__ = ("cut_html",)

_CONTAINERS = frozenset({"section", "article", "emu-clause", "emu-intro", "emu-annex"})
_CONTAINER_CLASSES = frozenset(
    {"section", "chapter", "appendix", "preface", "part", "sect1", "sect2", "sect3"}
)
_LANDMARKS = frozenset({"header", "footer"})
"""Of a site, unless they are inside of what the site is about."""


class _Container:
    """An element that holds a section; its id is that of its first heading."""

    def __init__(self, ident: str) -> None:
        self.ident = ident
        self.headed = False
        """Whether it has had its first heading."""


class _Heading(NamedTuple):
    """A heading that sections stand under."""

    level: int
    title: str
    anchor: str
    """Where it can be linked to; empty if nowhere."""
    container: _Container | None
    """What holds its section."""


class _Section:
    """A section while its text arrives."""

    def __init__(self, title: str, path: str, name: str, anchor: str) -> None:
        self.title = title
        self.path = path
        self.name = name
        self.anchor = anchor
        self.text = BlockText()

    def finished(self) -> Cut:
        return Cut(
            title=self.title,
            path=self.path,
            name=self.name,
            anchor=self.anchor,
            content=self.text.finished(),
        )


def cut_html(page: str, text: str, headings: Iterable[int]) -> list[Cut]:
    """The sections of *text*, which begin at headings of these levels.

    *page* is its address; names are made from it for headings that have none.
    """
    parser = LexborHTMLParser(text)
    tags = frozenset(f"h{level}" for level in headings)
    top = _main_part(parser, tags)
    if top is None:
        return []
    walk = _Walk(page, tags)
    walk.run(top)
    return walk.sections() or _whole_page(page, parser, top)


def _main_part(parser: LexborHTMLParser, tags: frozenset[str]) -> LexborNode | None:
    """What the page is about: its one main element, if that has the headings."""
    mains = parser.css("main, [role=main]")
    if len(mains) == 1 and mains[0].css_first(", ".join(sorted(tags))) is not None:
        return mains[0]
    return parser.body


def _whole_page(page: str, parser: LexborHTMLParser, top: LexborNode) -> list[Cut]:
    """A page without headings is one section, called by its title."""
    walk = _Walk(page, frozenset())
    walk.run(top)
    content = walk.opening.finished()
    named = top.css_first("h1") or parser.css_first("title")
    title, _ = title_of(plain_text(named) if named is not None else page)
    if not content:
        return []
    name = _own_id(named) if named is not None else ""
    name = name or generated_id(page, title, 0)
    cut = Cut(title=title, path=title, name=name, anchor=name, content=content)
    return [cut]


class _Walk:
    """Goes through a page in the order of its text."""

    def __init__(self, page: str, tags: frozenset[str]) -> None:
        self._page = page
        self._tags = tags
        self._found: list[_Section] = []
        self._containers: list[_Container] = []
        self._open: list[_Heading] = []
        """The headings in force."""
        self.opening = BlockText()
        """What stands above the first heading; nobody has asked for it so far."""

    def sections(self) -> list[Cut]:
        return [each.finished() for each in self._found]

    def run(self, top: LexborNode) -> None:
        # Not recursive: a page may be nested deeper than our stack is.
        left: list[tuple[LexborNode, bool]] = [(top, False)]
        while left:
            node, done = left.pop()
            if done:
                self._leave(node)
            elif node.is_text_node:
                self._text.add(node.text_content or "")
            elif node.is_element_node and self._enter(node):
                left.append((node, True))
                left += [(child, False) for child in reversed(list(_children(node)))]

    @property
    def _text(self) -> BlockText:
        return self._found[-1].text if self._found else self.opening

    def _enter(self, node: LexborNode) -> bool:
        """Whether what is inside *node* is still to be gone through."""
        tag = node.tag or ""
        if is_chrome(node) or (tag in _LANDMARKS and not self._containers):
            return False
        if tag in self._tags:
            self._heading(node, int(tag[1]))
            return False
        if is_verbatim(node) and not self._text.in_row:
            self._text.add_verbatim(node.text())
            return False
        if _is_container(node):
            self._containers.append(_Container(node.attributes.get("id") or ""))
        self._text.enter(tag)
        return True

    def _leave(self, node: LexborNode) -> None:
        if _is_container(node):
            self._containers.pop()
        self._text.leave(node.tag or "")

    def _heading(self, node: LexborNode, level: int) -> None:
        title, too_long = title_of(plain_text(node))
        container = self._containers[-1] if self._containers else None
        while self._open and self._ends(self._open[-1], level):
            self._open.pop()
        anchor = _own_id(node) or self._containers_id()
        name = anchor or generated_id(self._page, title, len(self._found))
        title = title or name  # nobody could cite a section without one
        # A link cannot lead to a name we made up, but it can to what it stands under.
        anchor = anchor or (self._open[-1].anchor if self._open else "")
        self._open.append(_Heading(level, title, anchor, container))
        for each in self._containers:
            each.headed = True
        path = SEPARATOR.join(each.title for each in self._open)
        self._found.append(_Section(title, path, name, anchor or name))
        if too_long:
            self._text.add_verbatim(too_long)

    def _ends(self, before: _Heading, level: int) -> bool:
        """Whether a heading of this level, here, ends what stands under *before*."""
        holder = before.container
        within = holder is not None and holder in self._containers[:-1]
        return before.level >= level and not within

    def _containers_id(self) -> str:
        """The id of the nearest container that this is the first heading of."""
        within = [each for each in self._containers if each.ident and not each.headed]
        return within[-1].ident if within else ""


def _own_id(heading: LexborNode) -> str:
    ident = heading.attributes.get("id")
    if ident:
        return ident
    for anchor in heading.css("a"):
        found = anchor.attributes.get("name") or anchor.attributes.get("id")
        if found:
            return found
    return ""


def _is_container(node: LexborNode) -> bool:
    if node.tag in _CONTAINERS:
        return True
    classes = (node.attributes.get("class") or "").split()
    return node.tag == "div" and not _CONTAINER_CLASSES.isdisjoint(classes)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next

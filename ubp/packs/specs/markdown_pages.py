"""A Markdown page -> its sections."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ubp.packs.specs.sections import (
    SEPARATOR,
    Cut,
    Names,
    anchor_of,
    generated_id,
    slug,
    title_of,
)
from ubp.reading import frontmatter, markdown
from ubp.reading.markdown import Block

__all__ = ("MarkdownPage", "cut_markdown")

_DEEPEST = 4
"""Level of the headings that begin sections; those below are content."""

_ANNOTATED_LINE = re.compile(r"^[ \t]*//[ \t]*(?:@\w|\^[?!]).*\n?", re.MULTILINE)
_ANNOTATION = re.compile(
    r"(?<![ \t])[ \t]*(?<!:)//[ \t]*(?:@\w|\^[?!]).*$", re.MULTILINE
)
"""What tells a tool how to show code: ``// @errors: 2345`` and ``//  ^?``."""

_EXPLICIT_ID = re.compile(r"\{#([^\s{}]+)[^{}]*\}\s*$")

_RULES = re.compile(r"(?:^r\[[^\]\n]+\][ \t]*\n)+\Z", re.MULTILINE)
"""Names of rules right above a heading belong to what is below it."""

_SIMPLE = re.compile(r"^(title|permalink):[ \t]*(.+?)[ \t]*$", re.MULTILINE)


class MarkdownPage(NamedTuple):
    """A page in pieces, and where it says that it is published."""

    sections: list[Cut]
    permalink: str


class _Head(NamedTuple):
    """What begins a section."""

    level: int
    text: str
    name: str | None
    start: int
    end: int


def cut_markdown(page: str, text: str) -> MarkdownPage:
    """The sections of the page at the path *page*."""
    text = markdown.normalise(text).removeprefix("\ufeff")
    title, permalink, body = _front_matter(text)
    body = _ANNOTATION.sub("", _ANNOTATED_LINE.sub("", body))
    body = re.sub(r"\n{3,}", "\n\n", body)
    heads = [_head(block) for block in markdown.read(body).blocks if _begins(block)]
    cutter = _Cutter(page, title, heads)
    return MarkdownPage(list(cutter.cut(body, permalink)), permalink)


def _front_matter(text: str) -> tuple[str, str, str]:
    found = frontmatter.split(text)
    values: dict[str, Any] = found.values
    if found.warnings:  # no YAML, but lines that can be read all the same
        block = text[: len(text) - len(found.body)]
        values = {key: value.strip("\"'") for key, value in _SIMPLE.findall(block)}
    title, permalink = (
        " ".join(frontmatter.texts(values.get(key))) for key in ("title", "permalink")
    )
    return title_of(title)[0], permalink, found.body


def _begins(block: Block) -> bool:
    return 0 < block.level <= _DEEPEST


def _head(block: Block) -> _Head:
    explicit = _EXPLICIT_ID.search(block.text)
    text = block.text[: explicit.start()] if explicit else block.text
    name = explicit[1] if explicit else None
    return _Head(block.level, text, name, block.start, block.end)


class _Cutter:
    def __init__(self, page: str, title: str, heads: Sequence[_Head]) -> None:
        self._page = page
        self._title = title
        self._heads = heads
        # A page whose first heading repeats its title has one root, not two.
        first = title_of(heads[0].text)[0] if heads else ""
        self._root = (title,) if title and title != first else ()
        self._open: list[tuple[int, str]] = []
        self._anchors = Names()
        """Those of the page: what is rendered counts them apart from our names."""

    def cut(self, body: str, permalink: str) -> Iterator[Cut]:
        start = self._heads[0].start if self._heads else len(body)
        above, rules = _without_rules(body[:start])
        if self._title and _trimmed(above):
            yield self._opening(_trimmed(above), permalink)
        elif not self._heads and _trimmed(above):
            yield self._nameless(_trimmed(above))
        elif _trimmed(above):
            rules = (
                f"{_trimmed(above)}\n\n{rules}"  # nothing is lost for want of a name
            )
        for ordinal, head in enumerate(self._heads):
            if ordinal + 1 < len(self._heads):
                end = self._heads[ordinal + 1].start
                content, following = _without_rules(body[head.end : end])
            else:
                content, following = body[head.end :], ""
            yield self._section(head, ordinal, rules, content)
            rules = following

    def _section(self, head: _Head, ordinal: int, rules: str, content: str) -> Cut:
        title, too_long = title_of(head.text)
        while self._open and self._open[-1][0] >= head.level:
            self._open.pop()
        generated = generated_id(self._page, title, ordinal)
        title = title or head.name or generated
        self._open.append((head.level, title))
        parts = (rules.strip(), too_long, _trimmed(content))
        return Cut(
            title=title,
            path=SEPARATOR.join([*self._root, *(each for _, each in self._open)]),
            name=head.name or slug(title) or generated,
            anchor=self._anchors.take(head.name or anchor_of(title) or generated),
            content="\n\n".join(part for part in parts if part),
        )

    def _opening(self, content: str, permalink: str) -> Cut:
        """What stands above the first heading, under the page's title."""
        generated = generated_id(self._page, self._title, -1)
        name = slug(self._title) if permalink else ""
        return Cut(
            title=self._title,
            path=self._title,
            name=name or generated,
            anchor=name or generated,
            content=content,
        )

    def _nameless(self, content: str) -> Cut:
        """A page with neither heading nor title is called by its file."""
        title = self._page.rpartition("/")[2].removesuffix(".md")
        generated = generated_id(self._page, title, -1)
        return Cut(
            title=title,
            path=title,
            name=generated,
            anchor=generated,
            content=content,
        )


def _without_rules(text: str) -> tuple[str, str]:
    """*text* without the names of rules at its end, and these."""
    found = _RULES.search(text)
    return (text[: found.start()], found[0]) if found else (text, "")


def _trimmed(text: str) -> str:
    """*text* without empty lines around it; what is indented stays indented."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()

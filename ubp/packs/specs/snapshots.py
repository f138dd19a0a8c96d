"""A snapshot before it is stored: all pages of a document, cut, named and cited."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from ubp import lexicon
from ubp.languages import language_of
from ubp.packs.specs.addresses import cited
from ubp.packs.specs.identifiers import identified
from ubp.packs.specs.languages import Policy
from ubp.packs.specs.passages import digest_of, passage
from ubp.packs.specs.sections import Cut

__all__ = ("CutPage", "Outcome", "SectionRow", "Snapshot", "assembled", "index_text")


class CutPage(Struct, frozen=True, kw_only=True):
    """A page of a document, in pieces."""

    path: str
    address: str
    digest: str
    etag: str | None
    sections: Sequence[Cut]
    carried: bool = False
    """Whether it could not be had, and is what the snapshot before has of it."""

    @property
    def name(self) -> str:
        """Its path without extension."""
        head, dot, extension = self.path.rpartition(".")
        return head if dot and "/" not in extension else self.path


class SectionRow(Struct, frozen=True, kw_only=True):
    """A section as it is stored."""

    page: int
    section_id: str
    long_id: str
    bare_id: str
    anchor: str
    title: str
    path: str
    url: str
    fulltext: str
    policy: Policy


class Snapshot(Struct, frozen=True, kw_only=True):
    """Everything a run found."""

    language: str
    doc: str
    version: str
    fetched_at: str
    source_url: str
    pages: tuple[CutPage, ...]
    sections: tuple[SectionRow, ...]


class Outcome(NamedTuple):
    """What storing a snapshot did, by section; compared with the newest before."""

    version: str
    previous_version: str | None
    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    carried_over: int = 0


def assembled(
    pages: Sequence[CutPage],
    *,
    language: str,
    doc: str,
    policy: Policy,
    version: str,
    fetched_at: str,
    source_url: str,
) -> Snapshot:
    """The snapshot these pages are, each section with a name of its own."""
    named = identified((page.name, page.sections) for page in pages)
    sections = tuple(
        SectionRow(
            page=each.page,
            section_id=each.section_id,
            long_id=each.long_id,
            bare_id=each.bare_id,
            anchor=each.cut.anchor,
            title=each.cut.title,
            path=each.cut.path,
            url=cited(pages[each.page].address, each.cut.anchor),
            fulltext=each.cut.content,
            policy=policy,
        )
        for each in named
    )
    return Snapshot(
        language=language,
        doc=doc,
        version=version,
        fetched_at=fetched_at,
        source_url=source_url,
        pages=tuple(pages),
        sections=sections,
    )


class IndexText(NamedTuple):
    """What is derived from a section so that it can be found."""

    title: str
    path: str
    content: str
    size: int
    passage: bytes
    language: str


def index_text(section: SectionRow) -> IndexText:
    """How *section* is indexed, by its words and by its meaning."""
    parts = (section.title, section.path, section.fulltext)
    title, path, content = (lexicon.spread(lexicon.fold(part)).text for part in parts)
    embedded = passage(section.path, section.fulltext, section.policy)
    return IndexText(
        title=title,
        path=path,
        content=content,
        size=sum(len(part.split()) for part in (title, path, content)),
        passage=digest_of(embedded),
        language=language_of(f"{section.path}\n{section.fulltext}"),
    )

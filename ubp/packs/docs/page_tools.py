"""``ubp_get_page`` and ``ubp_get_context``: read a page, and what surrounds it."""

from typing import Annotated

import apsw
from msgspec import UNSET, Meta, Struct, UnsetType

from ubp.amounts import (
    MOST_CHARACTERS,
    Cursor,
    NextCursor,
    at_once,
    beginning,
    length,
    next_after,
    part_of_text,
)
from ubp.packs.docs import graph, queries
from ubp.packs.docs.fields import SUMMARY, Filepath, Took
from ubp.packs.docs.kinds import Direction, DocType, LinkType, Staleness
from ubp.packs.docs.mentioned import naming
from ubp.packs.docs.queries import Page, Section
from ubp.packs.docs.reports import verdicts
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("get_context", "get_page")

_MOST_OF_TEXT = MOST_CHARACTERS // 2
"""It is told twice: as a whole, and by section."""

_MOST_LINKS = 200
"""Told with a page, either way."""


class GetPage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Read a page, its links both ways and whether it is stale.

    Of more than 25,000 characters, 12,500 of Japanese, `next_cursor` leads to the rest,
    which comes without the links. Of more than 200 links either way, `more_links` were
    left out; `ubp_get_graph` with the page as `center` and a `depth` of 1 has them all.
    """

    filepath: Filepath
    cursor: Cursor = None


class PageSection(Struct, frozen=True, kw_only=True):
    """A section of the page."""

    heading: str | None
    content: str


class PageLink(Struct, frozen=True, kw_only=True):
    """A page at the other end of a link."""

    doc_id: str
    filepath: str
    title: str
    link_type: LinkType


class WholePage(Struct, frozen=True, kw_only=True):
    """A page as it is indexed."""

    doc_id: str
    filepath: str
    title: str
    doc_type: DocType
    content: str
    sections: list[PageSection]
    outlinks: list[PageLink]
    backlinks: list[PageLink]
    more_links: Annotated[int, Meta(description="Links left out.")] | UnsetType = UNSET
    staleness: Staleness
    stale_refs: list[str]
    updated_at: str
    next_cursor: NextCursor = UNSET
    query_time_ms: Took


@tool("ubp_get_page", Effect.READ, slow_ms=50)
async def get_page(ctx: Context, args: GetPage) -> WholePage:
    with phase("query"):
        return await ctx.db.run(_whole_page, args, ctx)


def _whole_page(db: apsw.Connection, args: GetPage, ctx: Context) -> WholePage:
    page = queries.page_at(db, args.filepath)
    begin = beginning(args.cursor)
    sections, rest = _part(queries.sections(db, page.id), begin)
    outlinks = [] if begin else _page_links(db, page, "outlink")
    backlinks = (
        [] if begin else [*_page_links(db, page, "backlink"), *_named_by(db, page)]
    )
    more = sum(max(0, len(each) - _MOST_LINKS) for each in (outlinks, backlinks))
    verdict = verdicts(db, [page.id], ctx.project)[page.id]
    return WholePage(
        doc_id=page.doc_id,
        filepath=page.path,
        title=page.title,
        doc_type=page.doc_type,  # type: ignore[arg-type]
        content="\n\n".join(part for each in sections for part in _with_heading(each)),
        sections=[
            PageSection(heading=each.heading, content=each.content) for each in sections
        ],
        outlinks=outlinks[:_MOST_LINKS],
        backlinks=backlinks[:_MOST_LINKS],
        more_links=more or UNSET,
        staleness=verdict.staleness,
        stale_refs=[ref.path for ref in verdict.refs],
        updated_at=page.updated_at,
        next_cursor=rest,
        query_time_ms=ctx.elapsed_ms(),
    )


def _part(sections: list[Section], begin: int) -> tuple[list[Section], str | UnsetType]:
    """The sections that begin after *begin* characters, and the cursor of the next.

    Whole ones, but for one that is too long for any part: that comes in pieces.
    """
    left, start = at_once(_MOST_OF_TEXT), 0
    if left is None:
        return sections, UNSET
    there = sum(len(each.content) for each in sections)
    taken: list[Section] = []
    for section in sections:
        end = start + len(section.content)
        if end > begin or not begin:
            skipped = max(0, begin - start)
            content = section.content[skipped:]
            if length(content) > left and taken:
                return taken, next_after(start, there)
            piece, rest = part_of_text(content, None, left)
            taken.append(
                section._replace(
                    content=piece, continued=section.continued or skipped > 0
                )
            )
            if rest is not UNSET:
                return taken, next_after(start + skipped + len(piece), there)
            left -= length(piece)
        start = end
    return taken, UNSET


def _with_heading(section: Section) -> list[str]:
    """A section's text under its heading, which pieces of one section share."""
    heading = (
        f"{'#' * section.level} {section.heading}"
        if section.level and not section.continued
        else ""
    )
    return [part for part in (heading, section.content) if part]


def _page_links(
    db: apsw.Connection, page: Page, direction: Direction
) -> list[PageLink]:
    return [
        PageLink(
            doc_id=other.doc_id,
            filepath=other.path,
            title=other.title,
            link_type=type_,  # type: ignore[arg-type]
        )
        for type_, other in queries.linked(db, page.id, direction)
    ]


def _named_by(db: apsw.Connection, page: Page) -> list[PageLink]:
    """What is no page, and names this one."""
    return [
        PageLink(
            doc_id=mention.source,
            filepath=mention.path,
            title=mention.title,
            link_type="references",
        )
        for mention, _ in naming(db, [page.id])
    ]


class GetContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Read a page with summaries of the pages linked around it.

    Use it to understand a topic, or before changing what a page describes.
    """

    filepath: Filepath
    depth: Annotated[int, Meta(ge=1, le=3, description="Links to follow")] = 2
    max_size: Annotated[int, Meta(ge=1, description="Most characters")] = 50_000


class CenterPage(Struct, frozen=True, kw_only=True):
    """The page asked for, never cut."""

    doc_id: str
    filepath: str
    title: str
    content: str


class RelatedPage(Struct, frozen=True, kw_only=True):
    """A page near it."""

    doc_id: str
    filepath: str
    title: str
    link_type: LinkType
    direction: Direction
    summary: str
    depth: int


class PageContext(Struct, frozen=True, kw_only=True):
    """A page and what surrounds it."""

    center: CenterPage
    related: list[RelatedPage]
    total_size: int
    truncated_count: Annotated[
        int, Meta(description="Related pages left out because of max_size.")
    ]
    query_time_ms: Took


@tool("ubp_get_context", Effect.READ, slow_ms=100)
async def get_context(ctx: Context, args: GetContext) -> PageContext:
    with phase("query"):
        return await ctx.db.run(_page_context, args, ctx)


def _page_context(db: apsw.Connection, args: GetContext, ctx: Context) -> PageContext:
    page = queries.page_at(db, args.filepath)
    content = "\n\n".join(each.content for each in queries.sections(db, page.id))
    reached = graph.around(db, page.id, args.depth)
    texts = queries.summaries(db, [each.page.id for each in reached], SUMMARY)
    size = len(content)
    related: list[RelatedPage] = []
    for each in reached:
        summary = texts.get(each.page.id, "")
        if size + len(summary) > args.max_size:
            continue  # a later, smaller one may still fit
        size += len(summary)
        related.append(
            RelatedPage(
                doc_id=each.page.doc_id,
                filepath=each.page.path,
                title=each.page.title,
                link_type=each.link_type,  # type: ignore[arg-type]
                direction=each.direction,
                summary=summary,
                depth=each.depth,
            )
        )
    return PageContext(
        center=CenterPage(
            doc_id=page.doc_id, filepath=page.path, title=page.title, content=content
        ),
        related=related,
        total_size=size,
        truncated_count=len(reached) - len(related),
        query_time_ms=ctx.elapsed_ms(),
    )

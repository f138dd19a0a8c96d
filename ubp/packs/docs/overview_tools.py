"""``ubp_list_pages`` and ``ubp_get_graph``: all pages, and how they are linked."""

from typing import Annotated, Literal

import apsw
from msgspec import UNSET, Meta, Struct

from ubp.amounts import Cursor, NextCursor, entries_from
from ubp.packs.docs import graph, queries
from ubp.packs.docs.fields import Took
from ubp.packs.docs.kinds import DocType, LinkType
from ubp.packs.docs.mentioned import naming
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("get_graph", "list_pages")


class ListPages(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List pages, with their type and number of links.

    All of them; of more than 1,000, `next_cursor` leads to the rest.
    """

    doc_type: DocType | None = None
    sort: Annotated[
        Literal["title", "updated_at", "filepath"], Meta(description="Sort by")
    ] = "title"
    order: Annotated[Literal["asc", "desc"], Meta(description="Direction")] = "asc"
    cursor: Cursor = None


class ListedPage(Struct, frozen=True, kw_only=True):
    """A page, without its text."""

    doc_id: str
    filepath: str
    title: str
    doc_type: DocType
    link_count: Annotated[int, Meta(description="Links on it, dangling ones included.")]
    updated_at: str


class PageList(Struct, frozen=True, kw_only=True):
    """The pages, sorted."""

    pages: list[ListedPage]
    total: int
    next_cursor: NextCursor = UNSET
    query_time_ms: Took


@tool("ubp_list_pages", Effect.READ, slow_ms=50)
async def list_pages(ctx: Context, args: ListPages) -> PageList:
    with phase("query"):
        pages = await ctx.db.run(_listed, args)
    shown, rest = entries_from(pages, args.cursor)
    return PageList(
        pages=[_listed_page(each) for each in shown],
        total=len(pages),
        next_cursor=rest,
        query_time_ms=ctx.elapsed_ms(),
    )


def _listed(db: apsw.Connection, args: ListPages) -> list[queries.ListedPage]:
    found = queries.listed(db, args.doc_type)

    def sort_key(each: queries.ListedPage) -> tuple[str, str, str]:
        page = each.page
        match args.sort:
            case "title":
                return page.title.lower(), page.title, page.path
            case "updated_at":
                return page.updated_at, page.path, ""
            case "filepath":
                return page.path, "", ""

    found.sort(key=sort_key, reverse=args.order == "desc")
    return found


def _listed_page(each: queries.ListedPage) -> ListedPage:
    page, links = each
    return ListedPage(
        doc_id=page.doc_id,
        filepath=page.path,
        title=page.title,
        doc_type=page.doc_type,  # type: ignore[arg-type]
        link_count=links,
        updated_at=page.updated_at,
    )


class GetGraph(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Show links between pages, around one or all.

    All unless there is a `center`. The centre comes first, then what is nearest. Of
    more than 1,000 pages, `next_cursor` leads to the rest; a link is told with the
    page it stands on, so that the parts together have all links once.
    """

    center: Annotated[str | None, Meta(description="Path or doc_id")] = None
    depth: Annotated[int, Meta(ge=1, le=5, description="Links to follow")] = 2
    cursor: Cursor = None


class GraphNode(Struct, frozen=True, kw_only=True):
    """A page."""

    id: str
    filepath: str
    title: str
    doc_type: DocType


class GraphEdge(Struct, frozen=True, kw_only=True):
    """A link; source and target are node ids."""

    source: str
    target: str
    type: LinkType


class PageGraph(Struct, frozen=True, kw_only=True):
    """Pages and the links among them; the centre first."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    next_cursor: NextCursor = UNSET
    query_time_ms: Took


@tool("ubp_get_graph", Effect.READ, slow_ms=100)
async def get_graph(ctx: Context, args: GetGraph) -> PageGraph:
    with phase("query"):
        nodes, edges = await ctx.db.run(_graph, args)
    shown, rest = entries_from(nodes, args.cursor)
    ids = {node.id for node in shown}
    return PageGraph(
        nodes=list(shown),
        edges=[edge for edge in edges if edge.source in ids],
        next_cursor=rest,
        query_time_ms=ctx.elapsed_ms(),
    )


def _graph(
    db: apsw.Connection, args: GetGraph
) -> tuple[list[GraphNode], list[GraphEdge]]:
    if args.center is None:
        pages, links = queries.all_pages(db), queries.all_edges(db)
    else:
        center = queries.page_of(db, args.center)
        reached = graph.around(db, center.id, args.depth)
        pages = [center, *(each.page for each in reached)]
        links = queries.edges_among(db, [page.id for page in pages])
    ids = {page.id: page.doc_id for page in pages}
    named = naming(db, ids.keys())
    nodes = [
        GraphNode(
            id=page.doc_id,
            filepath=page.path,
            title=page.title,
            doc_type=page.doc_type,  # type: ignore[arg-type]
        )
        for page in pages
    ]
    edges = [
        GraphEdge(source=ids[edge.source], target=ids[edge.target], type=edge.type)  # type: ignore[arg-type]
        for edge in links
    ]
    for mention, page in named:
        nodes.append(
            GraphNode(
                id=mention.source,
                filepath=mention.path,
                title=mention.title,
                doc_type="other",
            )
        )
        edges.append(
            GraphEdge(source=mention.source, target=ids[page], type="references")
        )
    return list({node.id: node for node in nodes}.values()), edges

"""``ubp get-page``, ``get-context``, ``list-pages`` and ``get-graph``."""

from typing import Any

import click

from ubp.cli.asking import ask_tool
from ubp.cli.options import App, command
from ubp.packs.docs.kinds import DOC_TYPES

__all__ = ("get_context", "get_graph", "get_page", "list_pages")

_PAGE_TEXT = 300
_CENTER_TEXT = 500
_RELATED_TEXT = 200


@command("get-page")
@click.argument("filepath")
@click.option("--no-content", is_flag=True, help="Show no text.")
def get_page(app: App, filepath: str, no_content: bool) -> None:
    """Show one page with its links and its freshness."""
    from rich.markup import escape

    page = ask_tool(app, "ubp_get_page", {"filepath": filepath})
    lines = [
        f"[bold]{escape(page.title)}[/]  [cyan]{escape(page.filepath)}[/]",
        f"[dim]{page.doc_type} · {page.staleness} · updated {page.updated_at}[/]",
    ]
    lines += [
        f"  [red]source is not as it was: {escape(path)}[/]" for path in page.stale_refs
    ]
    for arrow, links in (("→", page.outlinks), ("←", page.backlinks)):
        lines += [
            f"  {arrow} {escape(each.filepath)} [dim]{each.link_type}[/]"
            for each in links
        ]
    for section in [] if no_content else page.sections:
        if section.heading:
            lines.append(f"[bold]{escape(section.heading)}[/]")
        lines.append(escape(_cut(section.content, _PAGE_TEXT)))
    app.terminal.show(page, *lines)


@command("get-context")
@click.argument("filepath")
@click.option(
    "--depth",
    type=click.IntRange(1, 3, clamp=True),
    default=2,
    help="How many links to follow each way.",
)
@click.option(
    "--max-size",
    type=click.IntRange(min=1, clamp=True),
    default=50_000,
    help="Characters of text at most.",
)
@click.option("--no-content", is_flag=True, help="Show no text.")
def get_context(
    app: App, filepath: str, depth: int, max_size: int, no_content: bool
) -> None:
    """Show a page with summaries of the pages around it."""
    from rich.markup import escape

    arguments = {"filepath": filepath, "depth": depth, "max_size": max_size}
    found = ask_tool(app, "ubp_get_context", arguments)
    center = found.center
    lines = [f"[bold]{escape(center.title)}[/]  [cyan]{escape(center.filepath)}[/]"]
    if not no_content:
        lines.append(escape(_cut(center.content, _CENTER_TEXT)))
    for each in found.related:
        arrow = "→" if each.direction == "outlink" else "←"
        lines.append(
            f"{'  ' * each.depth}{arrow} [bold]{escape(each.title)}[/] "
            f"[cyan]{escape(each.filepath)}[/] [dim]{each.link_type}[/]"
        )
        if not no_content:
            text = " ".join(each.summary.split())
            lines.append(f"{'  ' * each.depth}  {escape(_cut(text, _RELATED_TEXT))}")
    left_out = f", {found.truncated_count} left out" if found.truncated_count else ""
    lines.append(f"[dim]{found.total_size} characters{left_out}[/]")
    app.terminal.show(found, *lines)


@command("list-pages")
@click.option("--doc-type", type=click.Choice(DOC_TYPES), help="Only this type.")
@click.option(
    "--sort",
    type=click.Choice(["title", "updated_at", "filepath"]),
    default="title",
    help="Sort by this.",
)
@click.option(
    "--order",
    type=click.Choice(["asc", "desc"]),
    default="asc",
    help="Ascending or descending.",
)
def list_pages(app: App, doc_type: str | None, sort: str, order: str) -> None:
    """List the pages."""
    from rich.markup import escape

    arguments = {"doc_type": doc_type, "sort": sort, "order": order}
    found = ask_tool(app, "ubp_list_pages", arguments)
    table = app.terminal.table("title", "path", "type", "links", "updated")
    for page in found.pages:
        updated = page.updated_at[:16].replace("T", " ")
        table.add_row(
            escape(page.title),
            escape(page.filepath),
            page.doc_type,
            str(page.link_count),
            updated,
        )
    app.terminal.show(found, table, f"[dim]{found.total} pages[/]")


@command("get-graph")
@click.option("--center", metavar="PATH", help="Start from this page (or doc_id).")
@click.option(
    "--depth",
    type=click.IntRange(1, 5, clamp=True),
    default=2,
    help="How many links to follow.",
)
def get_graph(app: App, center: str | None, depth: int) -> None:
    """Show which pages link to which."""
    from rich.markup import escape

    arguments: dict[str, Any] = {"center": center, "depth": depth}
    found = ask_tool(app, "ubp_get_graph", arguments)
    paths = {node.id: node.filepath for node in found.nodes}
    lines = [
        f"{escape(paths[edge.source])} → {escape(paths[edge.target])} "
        f"[dim]{edge.type}[/]"
        for edge in found.edges
    ]
    size = f"{len(found.nodes)} pages, {len(found.edges)} links"
    app.terminal.show(found, *lines, f"[dim]{size}[/]")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"

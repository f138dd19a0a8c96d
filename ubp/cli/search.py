"""``ubp search``: one query from the terminal."""

from typing import Any

import click

from ubp.cli.asking import ask_tool
from ubp.cli.options import App, command
from ubp.packs.docs.kinds import DOC_TYPES, LINK_TYPES

__all__ = ("search",)

_SHOWN = 200


@command("search")
@click.argument("query")
@click.option("--fulltext", is_flag=True, help="Exact words and parts of words only.")
@click.option("--limit", type=click.IntRange(1, 50, clamp=True), help="Most results.")
@click.option("--doc-type", type=click.Choice(DOC_TYPES), help="Only this type.")
@click.option(
    "--depth",
    type=click.IntRange(1, 3, clamp=True),
    help="Links to follow for linked pages.",
)
@click.option(
    "--link-types",
    multiple=True,
    type=click.Choice(LINK_TYPES),
    help="Follow only these links; may be repeated.",
)
@click.option(
    "--include-linked", "--include-links", is_flag=True, help="Show linked pages too."
)
@click.option("--no-content", is_flag=True, help="Show no text, only pages.")
def search(
    app: App,
    query: str,
    fulltext: bool,
    limit: int | None,
    doc_type: str | None,
    depth: int | None,
    link_types: tuple[str, ...],
    include_linked: bool,
    no_content: bool,
) -> None:
    """Find the pages that answer QUERY."""
    arguments: dict[str, Any] = {"query": query, "doc_type": doc_type}
    if fulltext:
        arguments |= {"limit": limit} if limit else {}
        found = ask_tool(app, "ubp_fulltext_search", arguments)
    else:
        arguments |= {"limit": min(limit, 20)} if limit else {}
        arguments |= {"depth": depth} if depth else {}
        arguments |= {"link_types": list(link_types)} if link_types else {}
        arguments["include_linked"] = include_linked or depth is not None
        found = ask_tool(app, "ubp_search", arguments)
    show = _fulltext_lines if fulltext else _search_lines
    app.terminal.show(found, *show(found, content=not no_content))


def _search_lines(found: Any, *, content: bool) -> list[Any]:
    from rich.markup import escape

    lines: list[Any] = []
    for number, hit in enumerate(found.results, start=1):
        stale = (
            ""
            if hit.staleness in ("fresh", "untracked")
            else f" [red]{hit.staleness}[/]"
        )
        lines.append(
            f"[bold]{number}. {escape(hit.title)}[/]  [cyan]{escape(hit.filepath)}[/]"
            f"  [dim]{hit.score:.3f}  {escape(hit.relevance_reason)}[/]{stale}"
        )
        if content:
            for section in hit.sections:
                heading = f"{section.heading}: " if section.heading else ""
                lines.append(f"   {_marked(heading + section.content)}")
        if hit.linked_pages:
            names = ", ".join(
                f"{each.filepath} ({each.link_type})" for each in hit.linked_pages
            )
            lines.append(f"   [dim]linked: {escape(names)}[/]")
    return [*lines, f"[dim]{_total(found)} ({found.search_type})[/]"]


def _fulltext_lines(found: Any, *, content: bool) -> list[Any]:
    from rich.markup import escape

    lines: list[Any] = []
    for hit in found.results:
        heading = f" › {escape(hit.section_heading)}" if hit.section_heading else ""
        lines.append(
            f"[bold]{escape(hit.title)}[/]{heading}  [cyan]{escape(hit.filepath)}[/]"
        )
        if content:
            lines.append(f"   {_marked(hit.snippet)}")
    return [*lines, f"[dim]{_total(found)}[/]"]


def _total(found: Any) -> str:
    return (
        f"{len(found.results)} of {found.total_found} found in {found.query_time_ms} ms"
    )


def _marked(text: str) -> str:
    """Text on one line, its matches in colour."""
    from rich.markup import escape

    line = escape(" ".join(text.split()))
    if len(line) > 2 * _SHOWN:
        line = line[: 2 * _SHOWN] + "…"
    return line.replace("<mark>", "[yellow]").replace("</mark>", "[/yellow]")

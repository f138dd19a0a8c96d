"""``ubp search``: one query from the terminal."""

from typing import Any

import click

from ubp.cli.asking import ask_tool
from ubp.cli.options import App, command
from ubp.cli.terminal import counted, marked
from ubp.packs.docs.kinds import DOC_TYPES, LINK_TYPES

__all__ = ("search",)

_SHOWN = 400


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
    from rich.text import Text

    lines: list[Any] = []
    for number, hit in enumerate(found.results, start=1):
        title = Text(f"{number}. {hit.title}", style="bold")
        title.append(f"  {hit.filepath}", style="not bold cyan")
        title.append(f"  {hit.score:.3f}  {hit.relevance_reason}", style="not bold dim")
        if hit.staleness not in ("fresh", "untracked"):
            title.append(f"  {hit.staleness}", style="not bold red")
        lines.append(title)
        if content:
            for section in hit.sections:
                heading = f"{section.heading}: " if section.heading else ""
                lines.append(Text("   ") + marked(heading + section.content, _SHOWN))
        if hit.linked_pages:
            names = [f"{each.filepath} ({each.link_type})" for each in hit.linked_pages]
            lines.append(Text(f"   linked: {', '.join(names)}", style="dim"))
    lines.append(Text(f"{_total(found)} ({found.search_type})", style="dim"))
    if found.notice:
        lines.append(Text(f"By words only. {found.notice}", style="dim"))
    if found.waiting:
        waits = counted(found.waiting, "section")
        lines.append(Text(f"Not yet searchable by meaning: {waits}.", style="dim"))
    return lines


def _fulltext_lines(found: Any, *, content: bool) -> list[Any]:
    from rich.text import Text

    lines: list[Any] = []
    for hit in found.results:
        heading = f" › {hit.section_heading}" if hit.section_heading else ""
        title = Text(hit.title, style="bold")
        title.append(heading, style="not bold")
        title.append(f"  {hit.filepath}", style="not bold cyan")
        lines.append(title)
        if content:
            lines.append(Text("   ") + marked(hit.snippet, _SHOWN))
    return [*lines, Text(_total(found), style="dim")]


def _total(found: Any) -> str:
    shown = f"{len(found.results)} of {found.total_found} found"
    return f"{shown} in {found.query_time_ms} ms"

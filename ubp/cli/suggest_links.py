"""``ubp suggest-links``: pages that are close in meaning and not linked."""

import anyio
import click

from ubp.actors.wiring import readable
from ubp.cli.options import App, command
from ubp.cli.terminal import counted
from ubp.packs.docs import suggestions
from ubp.packs.docs.suggestions import Suggestions
from ubp.project import Project

__all__ = ("suggest_links",)


@command("suggest-links")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1, clamp=True),
    default=0.8,
    show_default=True,
    help="Least similarity.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000, clamp=True),
    default=10,
    show_default=True,
    help="Most pairs.",
)
def suggest_links(app: App, min_score: float, limit: int) -> None:
    """List pairs of pages that are close in meaning and not linked."""
    from rich.markup import escape

    with app.terminal.waiting("Comparing every section with every other …"):
        found = anyio.run(_collect, app.project(), min_score, limit)
    table = app.terminal.table("similar", "page", "section", "page", "section")
    for each in found.suggestions:
        table.add_row(
            f"{each.similarity:.2f}",
            escape(each.source_filepath),
            escape(each.source_section),
            escape(each.target_filepath),
            escape(each.target_section),
        )
    lines = [table] if found.total else []
    app.terminal.show(found, *lines, f"{counted(found.total, 'pair')} found.")


async def _collect(project: Project, min_score: float, limit: int) -> Suggestions:
    async with readable(project) as session:
        return await session.run(suggestions.suggest_links, min_score, limit)

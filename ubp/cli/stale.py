"""``ubp stale``: pages whose sources changed."""

import anyio
import click

from ubp.actors.wiring import readable
from ubp.cli.options import App, command
from ubp.packs.docs.reports import StaleReport, stale_documents
from ubp.project import Project

__all__ = ("stale",)


@command("stale")
@click.option("--days", type=float, metavar="N", help="Replaces threshold_days.")
@click.option("--exit-code", is_flag=True, help="Exit 1 if there are any, for CI.")
def stale(app: App, days: float | None, exit_code: bool) -> int:
    """List the pages that may no longer say what their sources do."""
    from rich.markup import escape

    report = anyio.run(_collect, app.project(), days)
    table = app.terminal.table("page", "staleness", "because of")
    for page in report.stale_documents:
        reasons = ", ".join(
            f"{ref.source_path} ({ref.reason})" for ref in page.stale_refs
        )
        table.add_row(escape(page.filepath), page.staleness, escape(reasons))
    lines = [table] if report.total else []
    app.terminal.show(report, *lines, f"{report.total} pages may be out of date.")
    return 1 if exit_code and report.total else 0


async def _collect(project: Project, days: float | None) -> StaleReport:
    async with readable(project) as session:
        return await session.run(stale_documents, project, days)

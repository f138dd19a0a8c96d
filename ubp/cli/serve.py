"""``ubp serve``: the MCP server on standard input and output."""

import os

import anyio
import click

from ubp.cli.options import App, command
from ubp.store.lock import holding

__all__ = ("serve",)


@command("serve", log_by_default="info")
@click.option("--packs", "chosen", metavar="A,B", help="Enable only these packs.")
def serve(app: App, chosen: str | None) -> None:
    """Serve MCP clients on standard input and output.

    A project never seen before is indexed while the server already answers.
    """
    parent = os.getppid()  # before it can have gone
    project = app.project()
    packs = app.packs(project, chosen)
    project.prepare()
    with holding(project.lock_file):
        # Before anything is imported that might print.
        from ubp.protocol import service, stdio

        wire = stdio.claim_descriptors()
        anyio.run(service.serve, project, packs, wire, parent)

"""``ubp serve``: the MCP server on standard input and output."""

import os

import anyio
import click

from ubp.cli.options import App, command
from ubp.protocol.descriptors import claim_descriptors
from ubp.store.lock import holding

__all__ = ("serve",)


@command("serve", log_by_default="info")
@click.option("--packs", "chosen", metavar="A,B", help="Enable only these packs.")
def serve(app: App, chosen: str | None) -> None:
    """Serve MCP clients on standard input and output.

    A project never seen before is indexed while the server already answers.
    """
    parent = os.getppid()  # before it can have gone
    wire = claim_descriptors()
    project = app.project()
    packs = app.packs(project, chosen)
    project.prepare()
    with holding(project.lock_file):
        # The slowest import of all; nobody else has to wait for it.
        from ubp.protocol.service import serve as serve_client

        anyio.run(serve_client, project, packs, wire, parent)

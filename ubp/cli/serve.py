"""``ubp serve``: the MCP server on standard input and output."""

import os

import anyio
import click

from ubp.cli.options import App, command
from ubp.errors import NoRoom
from ubp.protocol.descriptors import claim_descriptors
from ubp.store.lock import claiming

__all__ = ("serve",)


@command("serve", log_by_default="info")
@click.option("--packs", "chosen", metavar="A,B", help="Enable only these packs.")
@click.option(
    "--board",
    metavar="DIR",
    help="The folder that holds the board; as set unless given.",
)
@click.option(
    "--shared",
    is_flag=True,
    help="Answer beside another server on the project, and take over when it ends.",
)
def serve(app: App, chosen: str | None, board: str | None, shared: bool) -> None:
    """Serve MCP clients on standard input and output.

    A project never seen before is indexed while the server already answers. Changed
    files are followed. One server at a time does so; others need --shared.
    """
    parent = os.getppid()  # before it can have gone
    wire = claim_descriptors()
    project = app.project()
    if board is not None:
        project = project.with_board(board)
    packs = app.packs(project, chosen)
    with claiming(project.lock_file) as claim:
        if claim.is_refused and not project.database.exists():
            raise NoRoom("The index could not be made.")
        if not shared and not claim.is_refused:
            claim.take_soon()
        claim.take()
        # The slowest import of all; nobody else has to wait for it.
        from ubp.protocol.service import serve as serve_client

        anyio.run(serve_client, project, packs, wire, parent, claim)

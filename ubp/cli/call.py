"""``ubp call``: any tool of any pack, exactly as a client would call it."""

from typing import Any

import click
import msgspec
from rich.text import Text

from ubp.cli.asking import answer
from ubp.cli.options import App, command
from ubp.errors import UbpError, UnknownTool
from ubp.packs import tools_of
from ubp.protocol.replies import WireError, failure
from ubp.toolkit import ArrayResult, TextResult

__all__ = ("call",)


@command("call")
@click.argument("tool")
@click.argument("arguments", default="{}", metavar="JSON")
def call(app: App, tool: str, arguments: str) -> None:
    """Call TOOL with the arguments JSON and print its value."""
    try:
        decoded = msgspec.json.decode(arguments)
    except msgspec.DecodeError as error:
        raise click.BadParameter(f"{error}.", param_hint="JSON") from None
    project = app.project()
    packs = app.packs(project)
    try:
        value = answer(project, packs, tool, decoded)
    except UnknownTool:
        raise
    except UbpError as error:
        pack, _ = tools_of(packs)[tool]
        raise _as_told(error, failure(pack, error)) from error
    shown = value.elements() if isinstance(value, ArrayResult) else value
    if isinstance(value, TextResult):
        app.terminal.show(shown, Text(value.text()))
        return
    encoded = msgspec.json.format(msgspec.json.encode(shown), indent=2)
    app.terminal.show(shown, Text(encoded.decode()))


def _as_told(error: UbpError, reply: dict[str, Any] | WireError) -> UbpError:
    """The error with what a client would have been told in front of it."""
    if isinstance(reply, WireError):
        detail = reply.data.get("detail")
        said = f"{reply.message}: {detail}" if detail else reply.message
        error.message = f"{said} ({reply.code})"
    return error

"""``ubp install``: gives the server to a client, and takes it away again."""

import difflib
import json
import shlex
from pathlib import Path

import click
from rich.markup import escape

from ubp.cli.client_options import (
    client_argument,
    name_option,
    place_of,
    scope_option,
    settings_option,
)
from ubp.cli.options import App, command
from ubp.clients.catalogue import CLIENTS, Client, Place, Scope
from ubp.clients.installing import Change, planned_install, planned_removal
from ubp.clients.launching import Launch, launch

__all__ = ("install", "snippet")


@command("install")
@client_argument
@click.option(
    "--print", "only_print", is_flag=True, help="Show what to add, and where."
)
@click.option("--remove", is_flag=True, help="Take the server out of the settings.")
@click.option("--dry-run", is_flag=True, help="Show what would change.")
@scope_option
@name_option
@settings_option
def install(
    app: App,
    client: str,
    only_print: bool,
    remove: bool,
    dry_run: bool,
    scope: Scope,
    name: str,
    settings: Path | None,
) -> None:
    """Add the server to a client's settings, for this project.

    What else is in the settings stays as it is, and a backup is kept beside them.
    """
    if only_print and remove:
        raise click.UsageError("Use either --print or --remove.")
    chosen = CLIENTS[client]
    project = app.project()
    place = place_of(chosen, scope, project.root, settings)
    start = launch(project.root)
    if only_print:
        shown = {"settings": str(place.file), "snippet": place.snippet(name, start)}
        app.terminal.show(shown, *snippet(place, name, start))
        return
    if remove:
        change = planned_removal(place, name, project.root)
    else:
        change = planned_install(place, name, start)
    if not dry_run:
        change.carry_out()
    backup = change.file.backup
    value = {
        "client": chosen.name,
        "name": name,
        "settings": str(place.file),
        "action": change.action,
        "dry_run": dry_run,
        "backup": str(backup) if backup.exists() else None,
    }
    app.terminal.show(value, *_told(chosen, change, name, dry_run=dry_run))


def snippet(place: Place, name: str, start: Launch) -> list[str]:
    """What to add to the settings by hand, and where they are; for a terminal."""
    client = place.client
    shown = json.dumps(place.snippet(name, start), indent=2, ensure_ascii=False)
    lines = [f"{client.title}, in {place.file}:", shown]
    if client.name == "claude-code":
        scope = "project" if place.scope == "project" else "local"
        line = shlex.join([start.command, *start.args])
        lines += ["or, in the project:"]
        lines += [f"  claude mcp add --scope {scope} {shlex.quote(name)} -- {line}"]
    return [escape(line) for line in lines]


def _told(client: Client, change: Change, name: str, *, dry_run: bool) -> list[str]:
    where = f"{client.title}, {change.file.path}"
    if not change.changes:
        state = "is not in" if change.action == "absent" else "is already in"
        return [escape(f"{name} {state} the settings of {where}.")]
    if dry_run:
        return [escape(line) for line in _difference(change)]
    if change.action == "removed":
        lines = [f"Removed {name} from the settings of {where}."]
    else:
        verb = "Added" if change.action == "added" else "Updated"
        lines = [f"{verb} {name} in the settings of {where}.", client.then]
        lines += [f"`ubp doctor --client {client.name}` tries it."]
    if change.file.backup.exists():
        lines.append(f"What they were before is in {change.file.backup.name} beside.")
    return [escape(line) for line in lines]


def _difference(change: Change) -> list[str]:
    name = str(change.file.path)
    difference = difflib.unified_diff(
        change.before.splitlines(),
        (change.after or "").splitlines(),
        name,
        name,
        lineterm="",
    )
    gone = ["The file would be deleted."] if change.after is None else []
    return [*difference, *gone]

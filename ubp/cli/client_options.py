"""The options that name a client's settings, for every command that looks at them."""

import os
from pathlib import Path
from typing import get_args

import click

from ubp.clients.catalogue import CLIENTS, Client, Place, Scope, Surroundings

__all__ = (
    "NAME",
    "client_argument",
    "name_option",
    "place_of",
    "scope_option",
    "settings_option",
)

NAME = "ubp"
"""What the server is called in a client, unless a person calls it something else."""

client_argument = click.argument("client", type=click.Choice(list(CLIENTS)))
name_option = click.option(
    "--name",
    default=NAME,
    metavar="NAME",
    help="What the server is called in the client.",
)
scope_option = click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    default="user",
    help="Your own settings, or those in the project, for everybody who works on it.",
)
settings_option = click.option(
    "--settings",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The settings file, if it is not where the client usually has it.",
)


def place_of(client: Client, scope: Scope, root: Path, settings: Path | None) -> Place:
    """Where *client* has the entry of the project at *root*."""
    # Not resolve(): a settings file that is a link stays one.
    given = Path(os.path.abspath(settings)) if settings else None  # noqa: PTH100
    place = client.place(scope, root, Surroundings.here(), given)
    if place is None:
        raise click.UsageError(f"{client.title} has no settings in a project.")
    return place

"""What ``ubp doctor --client`` looks at."""

import os
import shlex
from functools import partial
from pathlib import Path

import anyio
from msgspec.structs import replace

from ubp.checks import Check
from ubp.cli.client_options import NAME
from ubp.cli.options import App
from ubp.clients.catalogue import Client, Surroundings
from ubp.clients.inspecting import inspected
from ubp.errors import UbpError

__all__ = ("client_checks",)


def client_checks(
    app: App, client: Client, name: str, settings: Path | None, *, trust: bool
) -> list[Check]:
    """Everything between *client* and the server of the project."""
    try:
        root = app.project().root
    except UbpError as error:
        finding = f"{error.message} {error.cause}"
        return [Check("project", "fail", finding, error.hint)]
    places = client.places(root, Surroundings.here())
    again = ["ubp", "install", client.name]
    if name != NAME:
        again += ["--name", name]
    if settings is not None:
        file = Path(os.path.abspath(settings))  # noqa: PTH100 - a link stays one
        # One file, in whichever shape it has; and the person has named it.
        named = [replace(place, file=file, scope="user") for place in places]
        places = [each for at, each in enumerate(named) if each not in named[:at]]
        again += ["--settings", str(file)]
    look = partial(inspected, places, name, root, shlex.join(again), trust=trust)
    return anyio.run(look)

"""The options every command takes, before its name or after it."""

from pathlib import Path
from typing import get_args

import click

from ubp.config import LogLevel
from ubp.telemetry import LogFormat

__all__ = ("SHARED",)

SHARED = (
    click.Option(
        ["--root"],
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="The project; by default the nearest folder with ubp.toml, .ubp or .git.",
    ),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document."),
    click.Option(
        ["-q", "--quiet"], is_flag=True, help="Print less, and log only errors."
    ),
    click.Option(["-v", "--verbose"], is_flag=True, help="Log what happens."),
    click.Option(["--no-color"], is_flag=True, help="No colours."),
    click.Option(
        ["--log-level"],
        type=click.Choice(get_args(LogLevel)),
        help="Least severe level to log (also LOG_LEVEL).",
    ),
    click.Option(
        ["--log-format"],
        type=click.Choice(get_args(LogFormat)),
        help="Log as text (the default) or as JSON lines.",
    ),
)

"""What every command takes, and what it is given in return."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import Any, get_args

import click

from ubp import telemetry
from ubp.cli.terminal import Terminal
from ubp.config import LogLevel, log_level_from_environment
from ubp.packs import enabled
from ubp.project import Project, open_project
from ubp.telemetry import LogFormat
from ubp.toolkit import Pack

__all__ = ("SHARED", "App", "command")

SHARED = (
    click.Option(
        ["--root"],
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="The project; by default the nearest folder with ubp.toml, .ubp or .git.",
    ),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document."),
    click.Option(
        ["-q", "--quiet"], is_flag=True, help="Print only what was asked for."
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
        default="text",
        help="Log as text or as JSON lines.",
    ),
)


@dataclass(frozen=True, slots=True)
class App:
    """What a command works with."""

    root: Path | None
    terminal: Terminal
    chosen_level: LogLevel | None
    log_format: LogFormat
    default_level: LogLevel

    def project(self) -> Project:
        """The project, its logging set up as its settings want it."""
        project = open_project(self.root)
        log = project.settings.log
        level = self.chosen_level or (
            log.level if self.default_level == "info" else self.default_level
        )
        file = (project.root / log.file) if log.file else None
        telemetry.configure(level, self.log_format, file)
        for key in project.unknown_settings:
            telemetry.get_logger("config").warning("config.unknown_key", key=key)
        return project

    def packs(self, project: Project, chosen: str | None = None) -> Sequence[Pack]:
        """The packs to use: those chosen, else those in the settings, else all."""
        names = chosen.split(",") if chosen else project.settings.packs
        return enabled(names)


def command(
    name: str, *, log_by_default: LogLevel = "error"
) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command; its function gets an ``App`` before its own parameters."""

    def declare(function: Callable[..., Any]) -> click.Command:
        def run(
            *,
            root: Path | None,
            as_json: bool,
            quiet: bool,
            verbose: bool,
            no_color: bool,
            log_level: LogLevel | None,
            log_format: LogFormat,
            **own: Any,
        ) -> Any:
            chosen = log_level or log_level_from_environment()
            chosen = chosen or ("debug" if verbose else "error" if quiet else None)
            telemetry.configure(chosen or log_by_default, log_format)
            terminal = Terminal(as_json=as_json, quiet=quiet, colour=not no_color)
            return function(
                App(root, terminal, chosen, log_format, log_by_default), **own
            )

        made = click.command(name)(update_wrapper(run, function))
        made.params += SHARED
        return made

    return declare

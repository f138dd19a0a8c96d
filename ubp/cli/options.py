"""What every command takes, and what it is given in return."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import Any

import click

from ubp import telemetry
from ubp.cli.shared import SHARED
from ubp.cli.terminal import Terminal
from ubp.config import LogLevel, log_level_from_environment
from ubp.errors import ConfigError
from ubp.packs import enabled
from ubp.project import Project, open_project
from ubp.telemetry import LogFormat
from ubp.toolkit import Pack

__all__ = ("App", "command", "group")

_NAMES = {option.name or "" for option in SHARED}


@dataclass(frozen=True, slots=True)
class App:
    """What a command works with."""

    root: Path | None
    terminal: Terminal
    chosen_level: LogLevel | None
    log_format: LogFormat
    default_level: LogLevel

    @property
    def serves(self) -> bool:
        """Whether this is a service rather than a person's command."""
        return self.default_level == "info"

    def project(self) -> Project:
        """The project, its logging set up as its settings want it."""
        project = open_project(self.root)
        log = project.settings.log
        level = self.chosen_level or (log.level if self.serves else self.default_level)
        file = self._log_file(project)
        colour = self.terminal.colour
        telemetry.configure(
            level, self.log_format, file, colour=colour, detached=self.serves
        )
        for key in project.unknown_settings:
            self._warn(key)
        return project

    def _log_file(self, project: Project) -> Path | None:
        """Where the log goes too; a person's command keeps none unless it is set."""
        file = project.log_file
        if self.serves:
            project.prepare()  # the first event may come before anything else does
        elif project.settings.log.file is None:
            return None
        if file is not None and not file.is_relative_to(project.derived):
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError) as error:
                raise ConfigError(
                    "ubp.toml: log.file cannot be written.",
                    cause=f"{getattr(error, 'strerror', None) or error}.",
                    hint='Correct log.file, or make it "" to keep no file.',
                ) from None
        return file

    def _warn(self, key: str) -> None:
        if self.serves or self.chosen_level or self.terminal.quiet:
            telemetry.get_logger("config").warning("config.unknown_key", key=key)
        else:  # a person at a terminal, who would not see the log
            click.echo(f"Warning: ubp.toml: {key} is no setting; ignored.", err=True)

    def packs(self, project: Project, chosen: str | None = None) -> Sequence[Pack]:
        """The packs to use: those chosen, else those in the settings, else all."""
        names = chosen.split(",") if chosen else project.settings.packs
        return enabled(names, project.settings)


def command(
    name: str, *, log_by_default: LogLevel = "error"
) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command; its function gets an ``App`` before its own parameters."""

    def declare(function: Callable[..., Any]) -> click.Command:
        def run(**given: Any) -> Any:
            own = {key: given[key] for key in given if key not in _NAMES}
            shared = {key: given[key] or _before(key) for key in _NAMES}
            quiet, verbose = shared["quiet"], shared["verbose"]
            chosen: LogLevel | None = shared["log_level"] or (
                "debug" if verbose else "error" if quiet else None
            )
            chosen = chosen or log_level_from_environment()
            style: LogFormat = shared["log_format"] or "text"
            colour = not shared["no_color"]
            telemetry.configure(chosen or log_by_default, style, colour=colour)
            terminal = Terminal(
                as_json=bool(shared["as_json"]), quiet=bool(quiet), colour=colour
            )
            app = App(shared["root"], terminal, chosen, style, log_by_default)
            return function(app, **own)

        made = click.command(name)(update_wrapper(run, function))
        made.params += SHARED
        return made

    return declare


def group(name: str) -> Callable[[Callable[..., Any]], click.Group]:
    """Declare a group of commands; its function does nothing, and says what it is."""

    def declare(function: Callable[..., Any]) -> click.Group:
        def run(**_: Any) -> None:
            function()

        made = click.group(name)(update_wrapper(run, function))
        made.params += SHARED
        return made

    return declare


def _before(key: str) -> Any:
    """What stands before the command counts as well: ``ubp --root DIR search …``."""
    context = click.get_current_context().parent
    while context is not None:
        if context.params.get(key):
            return context.params[key]
        context = context.parent
    return None

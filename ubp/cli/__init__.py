"""The command line: parse, run one command, map errors to exit codes.

Each command lives in a module that is imported only when it is used, so that
``ubp serve`` does not wait for what only ``ubp search`` needs.
"""

import gc
import sys
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn

import click

from ubp import __version__
from ubp.cli.shared import SHARED
from ubp.errors import InternalError, UbpError, innermost

__all__ = ("COMMANDS", "main")

COMMANDS = {
    "init": "ubp.cli.init",
    "index": "ubp.cli.index",
    "serve": "ubp.cli.serve",
    "search": "ubp.cli.search",
    "get-page": "ubp.cli.pages",
    "get-context": "ubp.cli.pages",
    "list-pages": "ubp.cli.pages",
    "get-graph": "ubp.cli.pages",
    "stale": "ubp.cli.stale",
    "suggest-links": "ubp.cli.suggest_links",
    "notes": "ubp.cli.notes",
    "spec": "ubp.cli.spec",
    "kp": "ubp.cli.kp",
    "board": "ubp.cli.board",
    "status": "ubp.cli.status",
    "logs": "ubp.cli.logs",
    "model": "ubp.cli.model",
    "call": "ubp.cli.call",
    "tools": "ubp.cli.tools",
    "install": "ubp.cli.install",
    "doctor": "ubp.cli.doctor",
    "version": "ubp.cli.version",
}
"""Every command, in the order of the help, and the module that defines it."""


class _LazyGroup(click.Group):
    """Commands that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module: Any = import_module(COMMANDS[cmd_name])
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="The options may stand after the command as well; each has --help.",
)
@click.version_option(__version__, "-V", "--version", prog_name="ubp")
def cli(**_: Any) -> None:
    """Your Markdown, searchable, linked, fresh and citable for AI agents."""


cli.params += SHARED


_OBJECTS = 10_000
"""Made before garbage is looked for; 700 unless told otherwise. Nearly all that
starting makes stays: to look through it again and again takes a tenth of the time."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run one command and exit: 0 fine, 1 it failed, 2 wrong usage."""
    gc.set_threshold(_OBJECTS)
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        result = cli.main(arguments, prog_name="ubp", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ubp"
        hint = f"Run `{command} --help`."
        _tell(arguments, error.format_message(), "Wrong usage.", hint)
        return 2
    except click.exceptions.Abort:
        return 130
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except Exception as caught:  # noqa: BLE001 - the last resort of the whole program
        return _failed(innermost(caught), arguments)
    return result if isinstance(result, int) else 0


def _failed(error: BaseException, arguments: list[str]) -> int:
    shown = error if isinstance(error, UbpError) else InternalError()
    bug = None if isinstance(error, UbpError) else error
    _tell(arguments, shown.message, shown.cause, shown.hint, bug)
    return 1


def _tell(
    arguments: list[str],
    message: str,
    cause: str,
    hint: str,
    bug: BaseException | None = None,
) -> None:
    """Three lines for people; with ``--json`` a document, with JSON logs an event."""
    from ubp.cli.terminal import show_error
    from ubp.telemetry import configure, get_logger

    as_json = "--json" in arguments
    logs_json = any(
        first == "--log-format=json" or (first, second) == ("--log-format", "json")
        for first, second in pairwise([*arguments, ""])
    )
    if logs_json or bug is not None:
        configure("error", "json" if logs_json else "text")
        get_logger("cli").error(
            "command.failed", error=message, cause=cause, hint=hint, exc_info=bug
        )
    if as_json or not logs_json:
        show_error(message, cause, hint, as_json=as_json)

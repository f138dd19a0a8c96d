"""``ubp logs``: the server's log, filtered, followed, in colours."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import anyio
import anyio.to_thread
import click
import msgspec

from ubp.cli.interruption import until_interrupted
from ubp.cli.log_drawing import drawn
from ubp.cli.log_events import Event, Wanted, event_in, moment
from ubp.cli.log_following import Follower
from ubp.cli.options import App, command
from ubp.cli.terminal import print_line
from ubp.config import LogLevel
from ubp.errors import LogMissing
from ubp.project import Project

__all__ = ("logs",)

_LINES = 50
"""Events shown unless told otherwise."""

_LOOK_EVERY = 0.25
"""Seconds between two looks at the file, while following."""

_CONTROL = re.compile(r"[\x7f-\x9f]")
"""What JSON leaves as it is, and a terminal would obey."""


@command("logs")
@click.option("-f", "--follow", is_flag=True, help="Go on until interrupted.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="The last N events; 50, or all with --since, unless given.",
)
@click.option(
    "--level",
    type=click.Choice(["debug", "info", "warn", "error"]),
    help="The least severe level shown.",
)
@click.option("--component", metavar="NAME", help="Events of this component.")
@click.option("--event", metavar="NAME", help="Events of this name, or family: tool.")
@click.option("--grep", metavar="TEXT", help="Lines with TEXT, in any case.")
@click.option("--tool", metavar="NAME", help="Events of calls of this tool.")
@click.option(
    "--slow",
    type=click.FloatRange(0),
    is_flag=False,
    flag_value=0.0,
    metavar="[MS]",
    help="Calls that took longer than they should, or at least MS.",
)
@click.option("--since", metavar="TIME", help="From 90s, 10m, 2h, 3d ago, or a date.")
def logs(
    app: App,
    follow: bool,
    lines: int | None,
    level: LogLevel | None,
    component: str | None,
    event: str | None,
    grep: str | None,
    tool: str | None,
    slow: float | None,
    since: str | None,
) -> None:
    """Show the log of this project's servers.

    The times are those of this place. Calls that were not slow are logged at level
    debug only: see log.level.
    """
    wanted = Wanted(
        level=level,
        component=component,
        name=event,
        text=grep,
        tool=tool,
        slow=slow,
        since=moment(since, datetime.now(UTC)) if since else None,
    )
    if lines is None and since is None:
        lines = _LINES
    reader = _Reader(app, wanted)
    try:
        reader.show_so_far(lines, follow=follow)
        if follow:
            anyio.run(until_interrupted, reader.follow)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise LogMissing(
            "The log cannot be read.", cause=f"{error.strerror}."
        ) from None
    finally:
        reader.close()


class _Reader:
    """Shows what is wanted of the log of a project."""

    def __init__(self, app: App, wanted: Wanted) -> None:
        self._app = app
        self._wanted = wanted
        project = app.project()
        file = project.log_file
        if file is None:
            raise LogMissing(
                "No log is kept.",
                cause="log.file in ubp.toml is empty.",
                hint="Remove the key, and start the server again.",
            )
        self._file = file
        self._shown_name = _name(project)
        self._log = Follower(file)
        self._told: set[tuple[Any, Any]] = set()
        """Calls that have been shown as slow; they are told of as done, too."""

    def show_so_far(self, most: int | None, *, follow: bool) -> None:
        found: Iterable[Event] = self._fitting(self._log.so_far())
        kept = deque(found, maxlen=most)
        if not follow:
            kept.extend(self._fitting(self._log.unfinished()))
        if not self._log.exists:
            if not follow:
                raise LogMissing(
                    "There is no log yet.",
                    cause=f"No server has written {self._shown_name}.",
                    hint="Start your client, or run `ubp doctor --client NAME`.",
                )
            click.echo(f"Waiting for {self._shown_name} …", err=True)
        for event in kept:
            self._show(event)

    async def follow(self) -> None:
        """Show what comes."""
        while True:
            await anyio.to_thread.run_sync(self._show_more)
            await anyio.sleep(_LOOK_EVERY)

    def _show_more(self) -> None:
        for event in self._fitting(self._log.more()):
            self._show(event)

    def _fitting(self, lines: Iterator[str]) -> Iterator[Event]:
        for line in lines:
            event = event_in(line)
            if self._wanted.fits(event) and not self._is_told(event):
                yield event

    def _is_told(self, event: Event) -> bool:
        """Whether this is once more about a call that has been shown."""
        if not self._wanted.wants_calls:
            return False
        call = (event.fields.get("pid"), str(event.fields.get("request_id")))
        if event.name == "tool.slow":
            self._told.add(call)
            return False
        is_told = call in self._told
        self._told.discard(call)
        return is_told

    def _show(self, event: Event) -> None:
        if self._app.terminal.as_json:
            print_line(_as_json(event))
        else:
            self._app.terminal.print(*drawn(event))

    def close(self) -> None:
        self._log.close()


def _as_json(event: Event) -> str:
    """The event on one line, without anything a terminal would obey."""
    value = event.fields or {"not_an_event": event.line}
    text = msgspec.json.encode(value).decode()
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _name(project: Project) -> str:
    """The log's path as a person would give it."""
    file = project.log_file
    if file is None:
        return "log.file"
    inside = file.is_relative_to(project.root)
    return (file.relative_to(project.root) if inside else file).as_posix()

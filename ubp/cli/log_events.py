"""What a line of the log says, and whether somebody wants to see it."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from ubp.config import LogLevel
from ubp.errors import InvalidArguments

__all__ = ("Event", "Wanted", "event_in", "moment")

_LEVELS: tuple[LogLevel, ...] = ("debug", "info", "warn", "error")

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

_LONGEST_AGO = 36_500
"""Days. Further back than any log."""


class Event(Struct, frozen=True):
    """A line of the log."""

    fields: dict[str, Any]
    """Empty if the line is no event."""
    line: str
    """As it is in the file."""

    @property
    def name(self) -> str:
        return str(self.fields.get("msg", ""))

    @property
    def time(self) -> datetime | None:
        try:
            told = datetime.fromisoformat(str(self.fields["ts"]))
        except (KeyError, ValueError):
            return None
        return told if told.tzinfo else told.replace(tzinfo=UTC)

    @property
    def ms(self) -> float | None:
        """How long a call took, if this is about one that was answered."""
        took = self.fields.get("ms")
        is_number = isinstance(took, int | float) and not isinstance(took, bool)
        return took if is_number and self.name in {"tool.slow", "tool.done"} else None


def event_in(line: str) -> Event:
    """What *line* says; whatever it is, it is never an error."""
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        fields = None
    return Event(fields if isinstance(fields, dict) else {}, line)


def moment(given: str, now: datetime) -> datetime:
    """The time *given* names: ``10m`` ago, or a date with or without a time.

    Raises:
        InvalidArguments: It is neither.
    """
    if ago := re.fullmatch(r"(\d{1,9})([smhd])", given.strip()):
        seconds = int(ago[1]) * _UNITS[ago[2]]
        return now - timedelta(seconds=min(seconds, _LONGEST_AGO * 86_400))
    try:
        return datetime.fromisoformat(given.strip()).astimezone()
    except (ValueError, OverflowError):
        raise InvalidArguments(
            "--since names no time.",
            cause=f"{given[:40]!r} is neither a time nor how long ago.",
            hint="Give something like 90s, 10m, 2h, 3d or 2026-11-18T09:00.",
        ) from None


class Wanted(Struct, frozen=True, kw_only=True):
    """Which events somebody wants to see; None for all."""

    level: LogLevel | None = None
    component: str | None = None
    name: str | None = None
    text: str | None = None
    tool: str | None = None
    slow: float | None = None
    """Calls that took at least so many milliseconds; 0 for longer than they should."""
    since: datetime | None = None

    @property
    def wants_calls(self) -> bool:
        return self.slow is not None

    def fits(self, event: Event) -> bool:
        """Whether *event* is among them."""
        if self.text is not None and self.text.lower() not in event.line.lower():
            return False
        return self._by_fields(event) and self._by_time(event)

    def _by_fields(self, event: Event) -> bool:
        fields = event.fields
        if self.level is not None and not _at_least(fields.get("level"), self.level):
            return False
        if self.component not in {None, fields.get("component")}:
            return False
        if self.tool not in {None, fields.get("tool")}:
            return False
        if self.name is not None and not _is_named(event.name, self.name):
            return False
        if self.slow is None:
            return True
        if not self.slow:
            return event.name == "tool.slow"
        return event.ms is not None and event.ms >= self.slow

    def _by_time(self, event: Event) -> bool:
        if self.since is None:
            return True
        time = event.time
        return time is not None and time >= self.since


def _at_least(level: object, least: LogLevel) -> bool:
    return level in _LEVELS and _LEVELS.index(level) >= _LEVELS.index(least)


def _is_named(name: str, wanted: str) -> bool:
    """Whether it is this event, or of the family ``tool`` or ``tool.``."""
    return name == wanted or name.startswith(f"{wanted.rstrip('.')}.")

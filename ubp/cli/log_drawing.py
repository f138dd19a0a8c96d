"""Events of the log for people: one line each, calls with where their time went."""

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from ubp.cli.log_events import Event

__all__ = ("drawn",)

_COLOURS = {"debug": "dim", "info": "green", "warn": "yellow", "error": "bold red"}

_SAID = {"ts", "level", "component", "msg", "tool", "ms", "expected_ms"}
"""Fields that have a place of their own in the line."""

_BELOW = ("exception", "traceback", "trace")
"""Fields that are shown below the line."""

_PHASES_SHOWN_FROM = 0.05
"""Milliseconds. What took less would be shown as nothing."""


def drawn(event: Event) -> Iterator[Text]:
    """The lines for *event*. The terminal removes control characters as it prints."""
    if not event.fields:
        yield Text(event.line, style="dim")
        return
    fields = event.fields
    line = Text()
    time = event.time
    local = f"{time.astimezone():%Y-%m-%d %H:%M:%S}" if time else _word(fields, "ts")
    line.append(f"{local} ", style="dim")
    level = _word(fields, "level")
    line.append(f"{level:<5} ", style=_COLOURS.get(level, ""))
    line.append(f"{_word(fields, 'component'):<10} ", style="cyan")
    line.append(_word(fields, "msg"), style="bold")
    if event.ms is not None:
        _append_call(line, event, event.ms)
    else:
        tool = {key: fields[key] for key in ("tool", "ms") if key in fields}
        _append_facts(line, tool | _facts(fields))
    yield line
    for key in _BELOW:
        for below in str(fields.get(key) or "").splitlines():
            yield Text(f"    {below}", style="dim")


def _append_call(line: Text, event: Event, took: float) -> None:
    fields = event.fields
    line.append(f"  {_word(fields, 'tool')}", style="bold")
    line.append(f"  {took:g} ms", style="yellow")
    if "expected_ms" in fields:
        line.append(f" (expected {_word(fields, 'expected_ms')})")
    phases = {
        key.removesuffix("_ms"): value
        for key, value in fields.items()
        if key.endswith("_ms") and key != "expected_ms" and _is_number(value)
    }
    slowest = sorted(phases.items(), key=lambda phase: -phase[1])
    told = [f"{key} {took:g}" for key, took in slowest if took >= _PHASES_SHOWN_FROM]
    if told:
        line.append(f"  {', '.join(told)}")
    rest = {
        key: value
        for key, value in _facts(fields).items()
        if key.removesuffix("_ms") not in phases
    }
    _append_facts(line, rest)


def _append_facts(line: Text, facts: dict[str, Any]) -> None:
    for key, value in facts.items():
        line.append(f"  {key}=", style="dim")
        line.append(_one_line(str(value)))


def _facts(fields: dict[str, Any]) -> dict[str, Any]:
    """The other fields, those that only tell one from another at the end."""
    last = [key for key in ("request_id", "pid") if key in fields]
    keys = [key for key in fields if key not in {*_SAID, *_BELOW, *last}]
    return {key: fields[key] for key in (*keys, *last)}


def _word(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return "" if value is None else _one_line(str(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_line(text: str) -> str:
    return " ".join(text.split())

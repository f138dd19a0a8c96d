"""Logging: structured events, always on standard error.

Standard output belongs to the MCP wire; a single stray line there ends the session.

An event is a name, not a sentence, and its facts are fields:

    index.updated       a comparison has been carried into the index
    index.file_failed   a file could not be read; it is a row in `ubp status`
    index.warning       a file was read, but something in it was not understood (debug)
    reader.lost         the reading process ended or hung on a file
    reader.bug          our own code failed on a file; the traceback is in the event
    actor.restarted     an actor crashed and was started again
    actor.failed        an actor crashed once too often; the service stops
    tool.asked          a call was handed to its actor (debug)
    tool.done           it was answered (debug), with where its time went
    tool.slow           the same, for a call that took longer than it should
    tool.refused        it was answered with an error the caller can mend (debug)
    tool.failed         it could not be served
    tool.crashed, call.crashed   a bug of ours; the caller saw "internal"
    config.unknown_key  a key of ubp.toml that is no setting
    command.failed      a command ended with an error
    serve.started, serve.stopping, serve.stopped

Queries and contents are somebody's diary: they appear at level debug only.
"""

import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, WrappedLogger

from ubp.config import LogLevel

__all__ = ("LogFormat", "configure", "get_logger")

LogFormat = Literal["json", "text"]

_LEVELS: dict[LogLevel, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}


def get_logger(component: str) -> Any:
    """A logger whose events carry *component*."""
    return structlog.get_logger(component=component)


def configure(
    level: LogLevel,
    style: LogFormat = "text",
    file: Path | None = None,
    *,
    colour: bool = True,
) -> None:
    """Send our events, and those of the libraries we use, to standard error."""
    as_json = [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    ]
    as_text = structlog.dev.ConsoleRenderer(
        colors=colour and sys.stderr.isatty() and not os.environ.get("NO_COLOR"),
        event_key="msg",
        timestamp_key="ts",
        # Not the default, which prints local variables: somebody's documents.
        exception_formatter=structlog.dev.plain_traceback,
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            _short_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.EventRenamer("msg"),
            *([_FileCopy(file, as_json)] if file else []),
            *(as_json if style == "json" else [as_text]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        # Looked up at each line, so that a test may capture standard error.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_Forward()]
    # Libraries talk too much below a warning; their debug log is for their authors.
    root.setLevel(max(_LEVELS[level], logging.WARNING))
    logging.captureWarnings(capture=True)


def _short_level(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """The names of levels as the settings have them."""
    if event.get("level") == "warning":
        event["level"] = "warn"
    return event


class _FileCopy:
    """A processor that appends each event to a file, as a JSON line."""

    def __init__(self, path: Path, render: list[Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._render = render
        self._lock = threading.Lock()

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        line: Any = dict(event)
        for step in self._render:
            line = step(logger, name, line)
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        return event


class _Forward(logging.Handler):
    """What libraries log through the standard library, as events of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        log = get_logger(record.name)
        log.log(record.levelno, record.getMessage(), exc_info=record.exc_info)

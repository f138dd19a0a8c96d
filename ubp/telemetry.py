"""Logging: structured events, always on standard error.

Standard output belongs to the MCP wire; a single stray line there ends the session.

An event is a name, not a sentence, and its facts are fields:

    index.updated       a scan has been carried into the index
    index.file_failed   a file could not be read; it is a row in `ubp status`
    index.warning       a file was read, but something in it was not understood
    actor.restarted     an actor crashed and was started again
    actor.failed        an actor crashed once too often
    reader.lost         the reading process ended or hung on a file
    tool.done           a call was answered (debug), with where its time went
    tool.slow           the same, for a call that took longer than it should
    tool.crashed        a bug in a tool; the caller saw "internal"
    serve.started, serve.stopping, serve.stopped

Queries and contents are somebody's diary: they appear at level debug only.
"""

import logging
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
    level: LogLevel, style: LogFormat = "text", file: Path | None = None
) -> None:
    """Send our events, and those of the libraries we use, to standard error."""
    as_json = [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    ]
    as_text = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(),
        event_key="msg",
        timestamp_key="ts",
        # Not the default, which prints local variables: somebody's documents.
        exception_formatter=structlog.dev.plain_traceback,
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
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

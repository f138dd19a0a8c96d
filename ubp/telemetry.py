"""Logging: structured events, on standard error and in a file.

Standard output belongs to the MCP wire; a single stray line there ends the session.

An event is a name, not a sentence, and its facts are fields:

    index.updated       a comparison has been carried into the index
    index.file_failed   a file could not be read; it is a row in `ubp status`
    index.warning       a file was read, but something in it was not understood (debug)
    index.gitignore_unusable   a .gitignore, or a line of it, that has no effect
    index.waiting       another process writes to the index; we wait for our turn
    index.no_room, index.room_again
                        the disk is full, and indexing waits; it goes on
    index.set_aside     the index was damaged, and is made anew from the files
    pack.restored       the index is a new one, and a pack brought back what is in no
                        file; so many lines of its journal are damaged
    watch.polling       the system cannot tell of changes; files are compared regularly
    watch.restarted     the watched folder was replaced, or went and came back
    serve.took_over     the server that held the project has ended; this one does now
    serve.no_lock       the project's lock cannot be had, so files are not followed
    reader.lost         the reading process ended or hung on a file
    reader.bug          our own code failed on a file; the traceback is in the event
    actor.restarted     an actor crashed and was started again
    actor.failed        an actor crashed once too often; unless it is the embedder or
                        the announcer, the service stops
    roots.unknown       the client did not say which folders we may use
    board.not_followed, board.not_rendered, board.not_healed,
    board.changed_meanwhile, board.kept_beside
                        a board could not be read, its page or indexes not written; a
                        change was planned anew because somebody saved meanwhile;
                        a version was kept beside its card
    announce.failed     whether followed pages have changed could not be found out
    model.preparing, model.loaded, model.fault, model.lost, model.released,
    model.process_ended
                        what becomes of the process that runs the model
    specs.ingested      a specification was fetched, with what changed
    specs.not_ingested  one could not be, and why
    specs.page_failed   a page of one could not be had, and why
    specs.gave_up       too many could not, one after the other, and how many were left
    embed.batch         texts were given vectors (debug)
    embed.one_by_one    a batch failed and is tried text by text
    embed.skipped       a text that cannot be embedded; it is counted in `ubp status`
    embed.unavailable   no vectors can be made, and why
    tool.asked          a call was handed to its actor (debug)
    tool.done           it was answered (debug), with where its time went
    tool.slow           the same, for a call that took longer than it should
    tool.refused        it was answered with an error the caller can mend (debug)
    tool.failed         it could not be served
    tool.crashed, call.crashed, request.crashed
                        a bug of ours; the caller saw "internal"
    log.dropped         nobody read standard error, or the file could not be written
                        as quickly; so many lines are missing there
    config.unknown_key  a key of ubp.toml that is no setting
    command.failed      a command ended with an error
    serve.started, serve.stopping, serve.stopped

Queries and contents are somebody's diary: they appear at level debug only.
"""

import atexit
import contextlib
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from ubp.config import LogLevel
from ubp.log_file import LogFile


@contextlib.contextmanager
def _as_if_absent(module: str) -> Iterator[None]:
    """Let whoever can do without *module* do so, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


# It loads rich wherever that is installed, a tenth of a second in each process, for
# tracebacks that would show the values of variables: not for our log.
with _as_if_absent("rich"):
    import structlog
    from structlog.typing import EventDict, WrappedLogger

__all__ = ("LogFormat", "configure", "get_logger", "heard_by")

LogFormat = Literal["json", "text"]

_MOST_WAITING = 10_000
"""Lines that wait to be written before further ones are dropped."""

_LAST_LINES_WITHIN = 0.5
"""Seconds the last lines have when the process ends."""

_LEVELS: dict[LogLevel, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}


Hear = Callable[[Mapping[str, Any]], None]
_listeners: list[Hear] = []


@contextlib.contextmanager
def heard_by(hear: Hear) -> Iterator[None]:
    """Have *hear* called with every event, in whatever thread it comes to be."""
    _listeners.append(hear)
    try:
        yield
    finally:
        _listeners.remove(hear)


def _tell_listeners(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for hear in tuple(_listeners):
        hear(event)
    return event


def get_logger(component: str) -> Any:
    """A logger whose events carry *component*."""
    return structlog.get_logger(component=component)


def configure(
    level: LogLevel,
    style: LogFormat = "text",
    file: Path | None = None,
    *,
    colour: bool = True,
    detached: bool = False,
) -> None:
    """Send our events, and those of the libraries we use, to standard error.

    *detached* writes them in a thread: a client that never reads our standard error
    would otherwise stop us with the first line its pipe cannot take.
    """
    lines = _Lines(_detached(_on_stderr, "stderr") if detached else _on_stderr)
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
            _tell_listeners,
            *([_FileCopy(file, as_json, detached=detached)] if file else []),
            *(as_json if style == "json" else [as_text]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: lines,
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


def _on_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - as it is at that time


class _Lines:
    """What structlog takes for a logger: it gets finished lines."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.msg = write
        self.log = self.debug = self.info = self.warn = self.warning = write
        self.fatal = self.failure = self.err = self.error = write
        self.critical = self.exception = write


def _detached(write: Callable[[str], None], where: str) -> Callable[[str], None]:
    """The same as *write*, in a thread of its own."""
    return _Detached(write, where).put


class _Detached:
    """Writes lines in a thread. What cannot be written in time is counted and dropped.

    One for each place: a client that reads no standard error stops no file.
    """

    def __init__(self, write: Callable[[str], None], where: str) -> None:
        self._write = write
        self._where = where
        self._waiting: queue.Queue[str | None] = queue.Queue(_MOST_WAITING)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()
        atexit.register(self._finish)

    def put(self, line: str) -> None:
        try:
            self._waiting.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    def _write_all(self) -> None:
        while (line := self._waiting.get()) is not None:
            with contextlib.suppress(OSError, ValueError):  # nobody listens any more
                self._write(line)
            if self._dropped and self._waiting.empty():
                lines, self._dropped = self._dropped, 0
                log = get_logger("telemetry")
                log.warning("log.dropped", lines=lines, where=self._where)

    def _finish(self) -> None:
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._thread.join(_LAST_LINES_WITHIN)


class _FileCopy:
    """A processor that appends each event to a file, as a JSON line.

    Several processes may: each event says whose it is.
    """

    def __init__(self, path: Path, render: list[Any], *, detached: bool) -> None:
        append = LogFile(path).append
        self._write = _detached(append, "file") if detached else _forgiving(append)
        self._render = render

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        line: Any = {"pid": os.getpid(), **event}
        for step in self._render:
            line = step(logger, name, line)
        self._write(line)
        return event


def _forgiving(write: Callable[[str], None]) -> Callable[[str], None]:
    """The same as *write*, without its errors: a log that fails, fails no command."""

    def written(line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            write(line)

    return written


class _Forward(logging.Handler):
    """What libraries log through the standard library, as events of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        log = get_logger(record.name)
        log.log(record.levelno, record.getMessage(), exc_info=record.exc_info)

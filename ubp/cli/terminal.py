"""What a person, or a program, sees: tables on a terminal, or one JSON document."""

import os
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

__all__ = (
    "Terminal",
    "counted",
    "harmless",
    "marked",
    "one_line",
    "print_line",
    "show_error",
)

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """*text* without what a terminal would obey: others wrote it, not we."""
    return _CONTROL.sub("\ufffd", text)


def show_error(message: str, cause: str, hint: str, *, as_json: bool) -> None:
    """Three lines on standard error, or one JSON document on standard output."""
    if as_json:
        error = {"message": message, "cause": cause, "hint": hint}
        _print_json({"error": error})
        return
    lines = (f"Error: {message}", f"  Cause: {cause}", f"  Hint: {hint}")
    for line in lines:
        print(harmless(" ".join(line.split("\n"))), file=sys.stderr)


def _print_json(value: Any) -> None:
    encoded = msgspec.json.format(msgspec.json.encode(value), indent=2)
    sys.stdout.buffer.write(encoded + b"\n")
    sys.stdout.flush()


def print_line(line: str) -> None:
    """One line on standard output, at once: a program may be waiting for it."""
    sys.stdout.buffer.write(f"{line}\n".encode(errors="replace"))
    sys.stdout.flush()


def counted(number: int, thing: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def one_line(text: str, length: int) -> str:
    """*text* on one line, cut if it is longer than *length*."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}…"


def marked(text: str, length: int) -> Any:
    """A snippet on one line, what stands between its marks in colour."""
    from rich.text import Text

    shown = Text()
    # Whatever else is in the text is text: documents may contain anything.
    for part in re.split("(<mark>.*?</mark>)", one_line(text, length)):
        match = re.fullmatch("<mark>(.*)</mark>", part)
        shown.append(match[1] if match else part, style="yellow" if match else "")
    return shown


class Terminal:
    """Prints results as the caller wants them."""

    def __init__(self, *, as_json: bool, quiet: bool, colour: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.colour = colour and not os.environ.get("NO_COLOR")

    def show(self, value: Any, *lines: Any) -> None:
        """*value* as JSON, or the human form in *lines* (text or rich objects)."""
        if self.as_json:
            _print_json(value)
        else:
            self.print(*lines)

    def print(self, *lines: Any) -> None:
        """Text or rich objects for people; nothing with ``--json``."""
        if self.as_json or not lines:
            return
        from rich.text import Text

        console = self.console()
        for line in lines:
            wraps = not isinstance(line, str | Text)
            if isinstance(line, Text):
                line.plain = harmless(line.plain)
            told = harmless(line) if isinstance(line, str) else line
            console.print(told, highlight=False, soft_wrap=not wraps)

    def console(self, *, stderr: bool = False) -> Any:
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else 120
        styles: Any = "auto" if self.colour else None
        return Console(file=stream, color_system=styles, width=width, emoji=False)

    def waiting(self, what: str) -> AbstractContextManager[Any]:
        """Shows that something takes a while, on a terminal."""
        console = self.console(stderr=True)
        if not console.is_terminal or self.quiet or self.as_json:
            return nullcontext()
        spinner: AbstractContextManager[Any] = console.status(what)
        return spinner

    def table(self, *columns: str) -> Any:
        """An empty table in the house style."""
        from rich import box
        from rich.table import Table

        class Harmless(Table):
            def add_row(self, *cells: Any, **more: Any) -> None:
                plain = [harmless(c) if isinstance(c, str) else c for c in cells]
                super().add_row(*plain, **more)

        table = Harmless(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        return table

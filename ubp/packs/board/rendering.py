"""The board as a page: how many cards are where, and how far parents have come."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ubp.packs.board.board_lock import locked
from ubp.packs.board.committing import folder_for, replace_derived
from ubp.packs.board.failures import InvalidValue, refused
from ubp.packs.board.inside import read_inside
from ubp.packs.board.names import DONE, column_key
from ubp.packs.board.templates import TemplateError, filled
from ubp.packs.board.view import KANBAN, Snapshot

__all__ = ("BOARD_FILE", "board_page", "current_page", "rendered", "write_pages")

GENERATED = "generated"
BOARD_FILE = f"{KANBAN}/{GENERATED}/board.md"

_TEMPLATES = ("board.hbs", "board.md.hbs")


class Progress(NamedTuple):
    """How much of what hangs below a card is done."""

    id: str
    title: str
    done: int
    total: int
    done_size: int
    total_size: int

    @property
    def text(self) -> str:
        return (
            f"progress: {self.done}/{self.total} ({_percent(self.done, self.total)}%) "
            f"size: {self.done_size}/{self.total_size} "
            f"({_percent(self.done_size, self.total_size)}%)"
        )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def rendered(kanban: Path, snapshot: Snapshot) -> str:
    """The page, by the board's own template if it has one.

    Raises:
        InvalidValue: The template cannot be used.
    """
    template = _template(kanban)
    if template is None:
        return board_page(snapshot)
    name, text = template
    try:
        return filled(text, _values(snapshot))
    except (TemplateError, RecursionError) as error:
        raise InvalidValue(
            f"The template {name} cannot be used. {error}",
            cause=str(error),
            hint=f"Correct {KANBAN}/templates/{name}.",
        ) from None


def _template(kanban: Path) -> tuple[str, str] | None:
    """The name and text of the board's template, if it has one."""
    for name in _TEMPLATES:
        try:
            return name, read_inside(kanban, f"templates/{name}").decode()
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError):
            return name, "{{"  # told as what cannot be used
    return None


def current_page(kanban: Path, snapshot: Snapshot) -> str:
    """The page that was generated, unless something has changed since.

    Raises:
        InvalidValue: The template cannot be used.
    """
    file = kanban / GENERATED / "board.md"
    try:
        made = file.stat().st_mtime_ns
        templates = [_modified(kanban / "templates" / name) for name in _TEMPLATES]
        if made >= max(snapshot.latest, *templates):
            return read_inside(kanban, f"{GENERATED}/{file.name}").decode()
    except (OSError, UnicodeDecodeError):
        pass
    return rendered(kanban, snapshot)


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def write_pages(kanban: Path, snapshot: Snapshot) -> str:
    """Write the page and those of progress; where the page is.

    Raises:
        InvalidValue: The template cannot be used. Nothing was written.
        Conflict: Others change the board for too long.
        Denied, BoardUnavailable: The disk refuses.
    """
    pages = {"board.md": rendered(kanban, snapshot)}
    progress = progress_of(snapshot)
    for each in progress:
        pages[f"progress_{each.id}.md"] = f"# {each.title}\n\n{each.text}\n"
    if progress:
        lines = "".join(f"- {each.title} ({each.id})\n" for each in progress)
        pages["progress_index.md"] = f"# Parent Progress\n\n{lines}"
    try:
        with locked(kanban):
            folder = folder_for(kanban, GENERATED)
            for name, text in pages.items():
                _write(kanban, folder / name, text.encode())
    except OSError as error:
        raise refused("The board's page cannot be written.", error) from None
    return BOARD_FILE


def _write(kanban: Path, path: Path, content: bytes) -> None:
    try:
        if read_inside(kanban, f"{GENERATED}/{path.name}") == content:
            os.utime(path)  # it is current, and git has nothing to show
            return
    except OSError:
        pass
    replace_derived(kanban, path, content)


def board_page(snapshot: Snapshot) -> str:
    """The simple form."""
    lines = [f"- {key}: {count}" for key, count in _counts(snapshot)]
    lines.append(f"- {DONE}: {snapshot.counts.get(DONE, 0)}")
    return "\n".join(["# Board", "", *lines]) + "\n"


def _counts(snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """The columns of the rules, then others that have cards."""
    listed = [each.key for each in snapshot.rules.columns]
    known = {column_key(key) for key in listed}
    others = [
        name
        for name in snapshot.columns
        if column_key(name) not in known and snapshot.counts.get(column_key(name))
    ]
    for key in [*listed, *others]:
        yield key, snapshot.counts.get(column_key(key), 0)


def _values(snapshot: Snapshot) -> dict[str, Any]:
    done = snapshot.counts.get(DONE, 0)
    total = len(snapshot.cards)
    return {
        "columns": [{"key": key, "count": n} for key, n in _counts(snapshot)],
        "done": done,
        "nonDone": total - done,
        "total": total,
        "doneRate": done / total if total else 0,
        "progressParents": [
            {
                "id": each.id,
                "title": each.title,
                "done": each.done,
                "total": each.total,
                "doneSize": each.done_size,
                "totalSize": each.total_size,
                "percent": _percent(each.done, each.total),
                "percentSize": _percent(each.done_size, each.total_size),
            }
            for each in progress_of(snapshot)
        ],
    }


def progress_of(snapshot: Snapshot) -> list[Progress]:
    """Of every parent that the rules name and that is on the board."""
    return [
        _progress(snapshot, ident)
        for ident in snapshot.rules.progress_parents
        if ident in snapshot.cards
    ]


def _progress(snapshot: Snapshot, ident: str) -> Progress:
    seen = {ident}
    waiting = list(snapshot.children.get(ident, ()))
    done = total = done_size = total_size = 0
    while waiting:
        child = waiting.pop()
        if child in seen:
            continue
        seen.add(child)
        card = snapshot.cards[child]
        total += 1
        total_size += card.size or 0
        if card.is_done:
            done += 1
            done_size += card.size or 0
        waiting += snapshot.children.get(child, ())
    title = snapshot.cards[ident].title
    return Progress(ident, title, done, total, done_size, total_size)

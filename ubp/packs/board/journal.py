"""The notes of a card: one line of JSON each, in ``notes/<id>.ndjson``."""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from ubp.packs.board import moments
from ubp.packs.board.committing import folder_for, refuse_read_only
from ubp.packs.board.failures import refused
from ubp.packs.board.inside import read_inside
from ubp.packs.board.view import KANBAN

__all__ = ("append", "latest", "path_of")

_FOLDER = "notes"


def path_of(ident: str) -> str:
    return f"{KANBAN}/{_FOLDER}/{ident}.ndjson"


def append(kanban: Path, ident: str, note: dict[str, Any]) -> str:
    """Write a note behind the others; when that was. The caller holds the lock.

    Raises:
        Denied, BoardUnavailable: It cannot be written.
    """
    folder = folder_for(kanban, _FOLDER)
    file = folder / f"{ident}.ndjson"
    for path in (folder, file):
        with suppress(FileNotFoundError):
            refuse_read_only(path)
    stamp = moments.written(moments.now(), exact=True)
    line = msgspec.json.encode({"ts": stamp, **note}) + b"\n"
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(file, flags, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # somebody was killed over the last one
            _write_whole(descriptor, line, size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise refused("The note cannot be written.", error) from None
    return stamp


def _write_whole(descriptor: int, line: bytes, size: int) -> None:
    """Write *line* behind the *size* bytes there are, or leave it at these.

    Raises:
        OSError: The disk refuses.
    """
    left = memoryview(line)
    try:
        while left:  # a disk that is nearly full takes some of it, and says so
            left = left[os.write(descriptor, left) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def latest(
    kanban: Path, ident: str, *, limit: int | None, since: datetime | None = None
) -> list[dict[str, Any]]:
    """The last notes, the newest first; lines that are no notes are left out."""
    try:
        content = read_inside(kanban, f"{_FOLDER}/{ident}.ndjson")
    except OSError:
        return []
    found: list[dict[str, Any]] = []
    for line in reversed(content.split(b"\n")):
        if limit is not None and len(found) >= limit:
            break
        note = _decoded(line)
        if note is None:
            continue
        if since is not None:
            moment = moments.parsed_moment(note["ts"])
            if moment is None or moment < since:
                continue
        found.append(note)
    return found


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    is_note = isinstance(value.get("ts"), str) and isinstance(value.get("text"), str)
    return value if is_note else None

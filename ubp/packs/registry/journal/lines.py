"""The journal as a file: a line for each change, each with a checksum.

So one that is damaged takes no other with it. Whoever writes here is in a transaction
that writes to the database: there is one at a time, whatever the process.
"""

import os
import shutil
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import msgspec
from msgspec import Struct

from ubp.atomic_files import replacing
from ubp.errors import DatabaseError, NoRoom

__all__ = (
    "Entry",
    "Gone",
    "Item",
    "Merit",
    "Vote",
    "append",
    "beside",
    "is_mostly_old",
    "read",
    "rewrite",
    "set_aside",
)

FILE_NAME = "registry.journal"

_VERSION = 1

_SMALL = 1024 * 1024
"""Bytes up to which what is no longer so may stay in it."""


class Header(Struct, frozen=True, tag="header"):
    """The first line."""

    version: int
    size: str
    """Bytes of the journal when it was last written anew; always as many digits."""


class Item(Struct, frozen=True, kw_only=True, tag="item"):
    """An item as it is from now on."""

    ident: str
    kind: str
    agent: str
    org: str
    visibility: str
    name: str
    domain: str | None
    content: str
    details: dict[str, Any]
    submitted: bytes
    computed: float
    reported: float | None
    created_at: str
    updated_at: str
    source: str | None = None


class Vote(Struct, frozen=True, kw_only=True, tag="vote"):
    """What a validator says of an item from now on."""

    ident: str
    agent: str
    validator: str
    valid: bool
    feedback: str | None
    voted_at: str


class Merit(Struct, frozen=True, kw_only=True, tag="merit"):
    """What somebody earned by an item."""

    ident: str
    agent: str
    earned_by: str
    reason: str
    earned_at: str


class Gone(Struct, frozen=True, kw_only=True, tag="gone"):
    """An item is no more, nor what was said of it."""

    ident: str
    agent: str


Entry = Item | Vote | Merit | Gone

_decode = msgspec.json.Decoder(Header | Item | Vote | Merit | Gone).decode


def beside(db: apsw.Connection) -> Path | None:
    """Where the journal of a database is; one in memory has none."""
    name = db.filename
    return Path(name).with_name(FILE_NAME) if name else None


def append(path: Path, entries: Iterable[Entry]) -> None:
    """Write *entries* down; they outlast the end of the process and of the power.

    Raises:
        NoRoom: The disk is full, or refuses.
    """
    lines = b"".join(map(_line, entries))
    try:
        with path.open("ab+") as file:
            if file.tell() and not _ends_with_a_line(file.fileno(), file.tell()):
                lines = b"\n" + lines  # whoever wrote last was stopped over it
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _refused(error) from error


def rewrite(path: Path, entries: Iterable[Entry]) -> None:
    """Let the journal hold *entries* and nothing else.

    Raises:
        NoRoom: The disk is full, or refuses.
    """
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.write(_header(0))
            for entry in entries:
                file.write(_line(entry))
            size = file.tell()
            file.seek(0)
            file.write(_header(size))
    except OSError as error:
        raise _refused(error) from error


def is_mostly_old(path: Path) -> bool:
    """Whether most of it is no longer so, and it would be better written anew."""
    size = path.stat().st_size
    if size < _SMALL:
        return False
    with path.open("rb") as file:
        header = _entry(file.readline())
    fresh = int(header.size) if isinstance(header, Header) else 0
    return size > _SMALL + 2 * fresh


def read(path: Path) -> tuple[list[Entry], int]:
    """What the journal says, in order, and how many of its lines are damaged.

    Raises:
        DatabaseError: It cannot be read, or not by this version: what it does not
            know would be taken for damaged, and be gone once it is written anew.
    """
    entries: list[Entry] = []
    damaged = 0
    try:
        with path.open("rb") as file:
            for line in file:
                entry = _entry(line)
                if entry is None:
                    damaged += bool(line.strip())
                elif not isinstance(entry, Header):
                    entries.append(entry)
                elif entry.version > _VERSION:
                    raise _too_new()
    except OSError as error:
        raise DatabaseError(
            "The journal of the registry cannot be read.",
            cause=f"{error.strerror or 'input/output error'}.",
            hint=f"Make .ubp/{FILE_NAME} readable: it holds what agents contributed.",
        ) from error
    return entries, damaged


def set_aside(path: Path) -> None:
    """Keep a copy of a journal that is damaged, the last one only."""
    with suppress(OSError):  # on a full disk the rest of it matters more
        shutil.copyfile(path, path.with_name(f"{path.name}.damaged"))


def _header(size: int) -> bytes:
    return _line(Header(_VERSION, f"{size:015d}"))


def _line(entry: Header | Entry) -> bytes:
    encoded = msgspec.json.encode(entry)
    return b"%08x %s\n" % (zlib.crc32(encoded), encoded)


def _entry(line: bytes) -> Header | Entry | None:
    checksum, _, encoded = line.rstrip(b"\n").partition(b" ")
    if checksum != b"%08x" % zlib.crc32(encoded):
        return None
    try:
        entry: Header | Entry = _decode(encoded)
    except msgspec.MsgspecError:
        return None
    return entry


def _ends_with_a_line(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) == b"\n"


def _too_new() -> DatabaseError:
    return DatabaseError(
        "The journal of the registry was made by a newer version of ubp.",
        cause=f"This version knows journals up to version {_VERSION}.",
        hint=f"Update ubp, or move .ubp/{FILE_NAME} away to begin with an empty one.",
    )


def _refused(error: OSError) -> NoRoom:
    return NoRoom(
        "The registry could not be written.",
        cause=f"{error.strerror or 'input/output error'}.",
    )

"""A download that is not finished: what has arrived, and of what it is a part."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from ubp.errors import DownloadFailed
from ubp.file_lock import try_lock

__all__ = ("Origin", "Part")


class Origin(Struct, frozen=True):
    """The file a part belongs to, as its server announced it."""

    url: str
    validator: str = ""
    """Its strong ETag or date: the server compares it before it sends only the rest."""
    sha256: str = ""
    """The digest the server announced, if it did."""
    total: int | None = None


class Part:
    """``NAME.part``, with ``NAME.part.json`` that says what it is part of."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self._about = target.with_name(f"{target.name}.part.json")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def origin(self, url: str) -> Origin | None:
        """What the part belongs to, if there is one and the rest of it can be had."""
        try:
            known = msgspec.json.decode(self._about.read_bytes(), type=Origin)
        except (OSError, msgspec.DecodeError):
            return None
        usable = known.url == url and known.validator and self.size
        return known if usable else None

    def begin(self, origin: Origin) -> None:
        """Start from nothing."""
        self.path.write_bytes(b"")
        self._about.write_bytes(msgspec.json.encode(origin))

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._about.unlink(missing_ok=True)

    def digest(self) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def finish(self) -> None:
        """Give the file its name, once it is safely on the disk."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        try:
            self.path.replace(self.target)
        except OSError as error:
            raise DownloadFailed(
                f"{self.target.name} cannot be put in its place.",
                cause=f"{error.strerror or 'input/output error'}.",
                hint=f"See what is at {self.target.name} in the folder of models.",
            ) from None
        self._about.unlink(missing_ok=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from writing to the same part.

        Raises:
            DownloadFailed: Another process is downloading the same file.
        """
        # A file of its own, never deleted: the part is renamed while it is locked.
        with self.target.with_name(f".{self.target.name}.lock").open("ab") as lock:
            if not try_lock(lock.fileno()):
                raise DownloadFailed(
                    f"{self.target.name} is being downloaded already.",
                    cause="Another process is at it.",
                    hint="Wait for it to end; `ubp model list` shows when.",
                )
            yield

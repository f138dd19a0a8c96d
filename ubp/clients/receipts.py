"""What installing changed, so that removing can put it back to the letter.

A receipt is kept in the user's cache. Without it, or when somebody has rewritten that
part of the settings, the entry is still found and removed, and white space may differ.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ubp.atomic_files import write_bytes
from ubp.config import cache_folder
from ubp.errors import ClientSettingsError

__all__ = ("Receipt", "drop", "find", "keep")


class Receipt(Struct, frozen=True):
    """One installation: a stretch of the settings before it, and after."""

    before: str
    after: str
    made_file: bool
    made_folders: tuple[str, ...]
    """Folders there were not, the innermost first."""

    def undone(self, text: str) -> str | None:
        """*text* as if nothing had been installed, if that can be told."""
        if text.count(self.after) != 1:
            return None
        return text.replace(self.after, self.before)


def find(file: Path, keys: tuple[str, ...]) -> Receipt | None:
    """The receipt of the entry *keys* in *file*; None if there is none to be read."""
    try:
        return msgspec.json.decode(_path(file, keys).read_bytes(), type=Receipt)
    except (OSError, msgspec.DecodeError):
        return None


def keep(file: Path, keys: tuple[str, ...], receipt: Receipt) -> None:
    """Remember *receipt*.

    Raises:
        ClientSettingsError: The cache cannot be written.
    """
    path = _path(file, keys)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, msgspec.json.encode(receipt), 0o600)
    except OSError as error:
        raise ClientSettingsError(
            f"{file} was not changed.",
            cause=f"The cache {path.parent} cannot be written: {error.strerror}.",
            hint="Make room in it; what removing needs to know is kept there.",
        ) from error


def drop(file: Path, keys: tuple[str, ...]) -> None:
    """Forget the receipt, if there is one."""
    with suppress(OSError):  # one that stays fits no settings any more
        _path(file, keys).unlink()


def _path(file: Path, keys: tuple[str, ...]) -> Path:
    identity = msgspec.json.encode([str(file), keys])
    digest = hashlib.sha256(identity).hexdigest()[:32]
    return cache_folder("clients") / f"{digest}.json"

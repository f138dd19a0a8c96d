"""A settings file of somebody else's: read, replaced whole, and never half of it."""

import os
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ubp.atomic_files import write_bytes
from ubp.clients.jsonc import Document, NotJson, parse
from ubp.errors import ClientSettingsError

__all__ = ("SettingsFile", "read", "refused")

_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Some editors begin a file with it."""

_BACKUP = ".ubp-backup"


class SettingsFile(Struct, frozen=True):
    """What the file held when it was read."""

    path: Path
    """The name the client has for it; it may be a link, and stays one."""
    content: bytes | None
    """None if there is no such file."""
    document: Document

    @property
    def backup(self) -> Path:
        return self.path.with_name(self.path.name + _BACKUP)

    def write(self, text: str) -> None:
        """Let the file hold *text*, unless somebody has changed it since.

        Raises:
            ClientSettingsError: Somebody has, or it cannot be written.
        """
        real = _real(self.path)
        try:
            mode = real.stat().st_mode & 0o777 if self.content is not None else 0o644
            self._check_unchanged()
            write_bytes(real, self.encoded(text), mode)
        except OSError as error:
            raise refused(self.path, _reason(error)) from error

    def delete(self) -> None:
        """Let there be no such file again; a link to it stays where it leads.

        Raises:
            ClientSettingsError: Somebody has changed it, or it cannot be deleted.
        """
        try:
            self._check_unchanged()
            _real(self.path).unlink()
        except OSError as error:
            raise refused(self.path, _reason(error)) from error

    def back_up(self) -> None:
        """Keep what the file held beside it, for the same eyes only."""
        if self.content is None:
            return
        try:
            mode = _real(self.path).stat().st_mode & 0o777
            write_bytes(self.backup, self.content, mode)
        except OSError as error:
            raise refused(self.path, f"No backup: {_reason(error)}") from error

    def drop_backup_of(self, content: bytes | None) -> None:
        """Delete the backup if it holds just *content*: then it is of no use."""
        with suppress(OSError):  # there is none, or it is something else
            if self.backup.read_bytes() == content:
                self.backup.unlink()

    def encoded(self, text: str) -> bytes:
        """The bytes of *text* in this file."""
        begins = (self.content or b"").startswith(_MARK.encode())
        return (_MARK * begins + text).encode()

    def _check_unchanged(self) -> None:
        if _content(self.path) != self.content:
            raise ClientSettingsError(
                f"{self.path} was not changed.",
                cause="Another program wrote to it at the same time.",
                hint="Run the command again; close the client if it happens again.",
            )


def read(path: Path, *, comments: bool) -> SettingsFile:
    """Read the settings at *path*; there may be none.

    Raises:
        ClientSettingsError: There is something else.
    """
    try:
        content = _content(path)
        text = (content or b"").decode().removeprefix(_MARK)
        return SettingsFile(path, content, parse(text, comments=comments))
    except OSError as error:
        raise refused(path, _reason(error)) from error
    except UnicodeDecodeError as error:
        raise refused(path, "It is no UTF-8 text.") from error
    except NotJson as error:
        kind = "JSON with comments" if comments else "JSON"
        raise refused(path, f"It is no valid {kind}: {error}.") from error


def refused(path: Path, reason: str) -> ClientSettingsError:
    """Why the file at *path* is as it was."""
    return ClientSettingsError(
        f"{path} was not changed.",
        cause=reason,
        hint="Correct it and run this again, or see --print and add it yourself.",
    )


def _content(path: Path) -> bytes | None:
    try:
        return _real(path).read_bytes()
    except FileNotFoundError:
        return None


def _real(path: Path) -> Path:
    # Not resolve(): a link that leads through itself is an OSError when it is read.
    return Path(os.path.realpath(path))


def _reason(error: OSError) -> str:
    return f"{error.strerror or type(error).__name__}."

"""A mark for the process that embeds: another one has stored texts.

What waits for a vector is in the database; but who embeds does not look there for no
reason, and nudges do not leave a process.
"""

from contextlib import suppress
from pathlib import Path

__all__ = ("tell", "told")


def tell(database: Path) -> None:
    """Tell whoever embeds that texts may wait."""
    with suppress(OSError):  # a full disk; they are found with the next change
        _mark(database).write_bytes(b"")


def told(database: Path) -> int | None:
    """When somebody last did; another number each time. None: never."""
    try:
        return _mark(database).stat().st_mtime_ns
    except OSError:
        return None


def _mark(database: Path) -> Path:
    return database.with_name(f"{database.name}.has-texts")

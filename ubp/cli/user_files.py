"""Files of the user's that a command changes: whole, or not at all."""

from pathlib import Path

from ubp.atomic_files import write_bytes

__all__ = ("write_whole",)


def write_whole(path: Path, text: str) -> None:
    """Write *text* to the file at *path*; it keeps its permissions and its links."""
    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    write_bytes(path, text.encode(), mode)

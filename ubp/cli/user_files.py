"""Files of the user's that a command changes: whole, or not at all."""

import os
import tempfile
from pathlib import Path

__all__ = ("write_whole",)


def write_whole(path: Path, text: str) -> None:
    """Write *text* to the file at *path*; it keeps its permissions and its links."""
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

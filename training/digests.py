"""What tells one file from another."""

import hashlib
from pathlib import Path

__all__ = ("digest_of",)


def digest_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()

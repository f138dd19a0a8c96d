"""An index of a project, made with the real command."""

import subprocess
import sys
from pathlib import Path

__all__ = ("index",)


def index(root: Path, *options: str) -> None:
    """Bring the index of the project at *root* in line with its files."""
    command = [sys.executable, "-m", "ubp", "index", "--root", str(root), "--quiet"]
    subprocess.run([*command, *options], check=True, capture_output=True)

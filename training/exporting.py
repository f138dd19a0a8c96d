"""What was learnt, as files: rows in bytes with a scale each, the adapter in halves.

``learnt.safetensors`` beside ``pieces.model`` is what the product reads; a folder with
both is also what a later training can start from. Which pieces the rows are for is told
inside. By ``SHA256SUMS`` the product tells whether both are whole.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from training.adapter import DOWN, UP
from training.digests import digest_of
from training.minilm import JA
from training.refusing import Refused

__all__ = ("FILE", "PIECES", "export", "read_learnt", "write_learnt")

FILE = "learnt.safetensors"
PIECES = "pieces.model"
_SCALES = f"{JA}.scales"
_FOR = "pieces"
_MOST = 127


def write_learnt(folder: Path, learnt: Mapping[str, np.ndarray], pieces: str) -> None:
    """Write what was learnt into *folder*, whole or not at all.

    *pieces* is the digest of those the rows are for.
    """
    rows = learnt[JA]
    scales = (np.abs(rows).max(1) / _MOST).astype(np.float16)
    steps = np.rint(rows / np.maximum(scales.astype(np.float32), 1e-6)[:, None])
    tensors = {
        JA: np.clip(steps, -_MOST, _MOST).astype(np.int8),
        _SCALES: scales,
        **{
            key: value.astype(np.float16)
            for key, value in learnt.items()
            if key.endswith((DOWN, UP))
        },
    }
    partial = folder / (FILE + ".part")
    whole = {key: np.ascontiguousarray(it) for key, it in tensors.items()}
    save_file(whole, partial, metadata={_FOR: pieces})
    partial.rename(folder / FILE)


def read_learnt(folder: Path) -> dict[str, np.ndarray]:
    """What was learnt, in full precision."""
    tensors = load_file(folder / FILE)
    scales = tensors.pop(_SCALES).astype(np.float32)
    learnt = {key: value.astype(np.float32) for key, value in tensors.items()}
    learnt[JA] *= scales[:, None]
    return learnt


def export(work: Path, folder: Path) -> None:
    """Put what the product needs of a training into *folder*."""
    with safe_open(work / FILE, framework="np") as tensors:
        pieces = (tensors.metadata() or {}).get(_FOR)
    if pieces != digest_of(work / PIECES):
        raise Refused(f"The rows in {work} were learnt for other pieces.")
    folder.mkdir(parents=True, exist_ok=True)
    sums = []
    for name in (FILE, PIECES):
        shutil.copyfile(work / name, folder / name)
        sums.append(f"{digest_of(folder / name)}  {name}\n")
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="ascii")

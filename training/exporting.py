"""What was learnt, as files: rows in bytes with a scale each, the adapter in halves.

``learnt.safetensors`` beside ``pieces.model`` is what the product reads; a folder with
both is also what a later training can start from. By ``SHA256SUMS`` the product tells
whether they are whole.
"""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from sentencepiece import SentencePieceProcessor

from training.adapter import DOWN, UP
from training.minilm import JA

__all__ = ("FILE", "PIECES", "export", "read_learnt", "write_learnt")

FILE = "learnt.safetensors"
PIECES = "pieces.model"
_SCALES = f"{JA}.scales"
_MOST = 127


def write_learnt(folder: Path, learnt: Mapping[str, np.ndarray]) -> None:
    """Write what was learnt into *folder*, whole or not at all."""
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
    save_file({key: np.ascontiguousarray(it) for key, it in tensors.items()}, partial)
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
    rows = len(read_learnt(work)[JA])
    pieces = SentencePieceProcessor(model_file=str(work / PIECES)).vocab_size()
    if rows != pieces:
        raise ValueError(f"there are {rows:,} rows for {pieces:,} pieces")
    folder.mkdir(parents=True, exist_ok=True)
    sums = []
    for name in (FILE, PIECES):
        shutil.copyfile(work / name, folder / name)
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        sums.append(f"{digest}  {name}\n")
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="ascii")

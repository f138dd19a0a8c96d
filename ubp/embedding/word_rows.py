"""The rows of a vocabulary, in a file of their own, read as they are needed.

A text has a few hundred of 50,000 rows. llama.cpp would keep them all in memory, and
beside them, for each context, a number for every row and every token of a call, which
an embedding has no use for.
"""

import weakref
from collections.abc import Sequence
from errno import EIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubp.errors import ModelUnusable

__all__ = ("WordRows", "write_rows")

_KIND = np.float16


def write_rows(to: Path, rows: NDArray[Any]) -> None:
    """Make the file *to* of *rows*, by their ids."""
    to.write_bytes(np.ascontiguousarray(rows, _KIND).data.cast("B"))


class WordRows:
    """An open file of rows, for one thread.

    It stays what it was when another takes its place, as files of models do.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        try:
            self._file = path.open("rb", buffering=0)
        except OSError as error:
            raise ModelUnusable(
                f"The model's vocabulary {path.name} cannot be read.",
                cause=f"{error.strerror or 'input/output error'}.",
            ) from None
        weakref.finalize(self, self._file.close)
        self._name = path.name
        self._dimension = dimension

    def into(self, found: NDArray[np.float32], ids: Sequence[int]) -> None:
        """Put the rows of *ids* into *found*, one after another.

        Raises:
            OSError: The file is not what it was; no text is to blame.
        """
        rows = np.empty((len(ids), self._dimension), _KIND)
        for row, number in zip(rows, ids, strict=True):
            self._file.seek(number * row.nbytes)
            if self._file.readinto(row.data) != row.nbytes:
                raise OSError(EIO, f"there is no row {number}", self._name)
        found[: len(ids)] = rows

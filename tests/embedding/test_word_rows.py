"""Rows of a vocabulary are read as they are needed, from the file that was opened."""

from pathlib import Path

import numpy as np
import pytest

from ubp.embedding.word_rows import WordRows, write_rows
from ubp.errors import ModelUnusable

FULL = Path("/dev/full")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.rows"
    write_rows(path, np.arange(12, dtype=np.float32).reshape(4, 3))
    return path


def test_rows_are_found_by_their_ids_in_the_order_asked_for(path: Path) -> None:
    found = np.zeros((4, 3), np.float32)

    WordRows(path, 3).into(found[1:], [3, 0, 3])

    assert found.tolist() == [[0, 0, 0], [9, 10, 11], [0, 1, 2], [9, 10, 11]]


def test_a_file_put_in_its_place_changes_nothing(path: Path, tmp_path: Path) -> None:
    rows = WordRows(path, 3)
    other = tmp_path / "other.rows"
    write_rows(other, np.zeros((4, 3)))

    other.replace(path)

    found = np.zeros((1, 3), np.float32)
    rows.into(found, [2])
    assert found.tolist() == [[6, 7, 8]]


@pytest.mark.parametrize("size", [0, 7, 22])
def test_a_file_cut_short_is_lost_from_the_first_row_it_lacks(
    path: Path, size: int
) -> None:
    rows = WordRows(path, 3)
    with path.open("r+b") as file:
        file.truncate(size)

    found = np.zeros((1, 3), np.float32)
    whole = size // 6
    for number in range(whole):
        rows.into(found, [number])
    with pytest.raises(OSError, match=f"no row {whole}"):
        rows.into(found, [whole])


@pytest.mark.skipif(not FULL.exists(), reason="there is no disk that is always full")
def test_what_cannot_be_written_whole_is_an_error() -> None:
    with pytest.raises(OSError, match="space"):
        write_rows(FULL, np.zeros((4, 3)))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable):
        WordRows(tmp_path / "none.rows", 3)

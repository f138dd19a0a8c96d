"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from ubp.atomic_files import exchange, replacing, write_bytes


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "page.body"
    write_bytes(file, b"one")

    write_bytes(file, b"two")

    assert file.read_bytes() == b"two"
    assert [each.name for each in tmp_path.iterdir()] == ["page.body"]


def _fail_half_way(file: Path) -> None:
    with replacing(file) as temporary:
        temporary.write_bytes(b"half")
        raise KeyError


def test_what_fails_on_the_way_leaves_what_there_was(tmp_path: Path) -> None:
    file = tmp_path / "page.body"
    write_bytes(file, b"one")

    with pytest.raises(KeyError):
        _fail_half_way(file)

    assert file.read_bytes() == b"one"
    assert [each.name for each in tmp_path.iterdir()] == ["page.body"]


def test_two_files_change_places(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1")
    other.write_bytes(b"2")

    if not exchange(one, other):
        pytest.skip("this system cannot do that")

    assert (one.read_bytes(), other.read_bytes()) == (b"2", b"1")


def test_a_file_that_is_not_there_cannot_change_places(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"1")

    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "none")

    assert (tmp_path / "one").read_bytes() == b"1"

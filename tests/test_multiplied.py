"""A vault made of real documents: as large as is wanted, and always the same."""

from pathlib import Path

from bench.multiplied import write_multiplied


def texts(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*.md")
    }


def test_the_same_seed_makes_the_same_vault(tmp_path: Path) -> None:
    first = write_multiplied(tmp_path / "a", 800)
    again = write_multiplied(tmp_path / "b", 800)

    assert first == again
    assert texts(tmp_path / "a") == texts(tmp_path / "b")


def test_it_has_as_many_sections_and_no_page_twice(tmp_path: Path) -> None:
    vault = write_multiplied(tmp_path, 1_500)

    pages = texts(tmp_path)
    assert vault.sections >= 1_500
    assert len(pages) == vault.files
    assert len(set(pages.values())) == vault.files
    assert {"latin", "kanji", "katakana"} <= vault.words.keys()

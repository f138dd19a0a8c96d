"""Which files are read, and what is said of those that are not."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from strategies import page_paths
from vaults import write_files

from ubp.messages import FileStamp
from ubp.reading.walk import Found, Refused, matcher, walk

PAGES = ["**/*.md"]


def found(folder: Path, *, exclude: list[str] | None = None) -> list[str]:
    """The paths that would be read, after a look that nothing was refused."""
    items = list(walk(folder, PAGES, exclude or []))
    assert [item for item in items if isinstance(item, Refused)] == []
    return sorted(item.path for item in items)


def refused(folder: Path) -> list[str]:
    items = walk(folder, PAGES, [])
    return sorted(item.path for item in items if isinstance(item, Refused))


def test_pages_at_every_depth_are_found(tmp_path: Path) -> None:
    paths = ["a.md", "b/c.md", "b/d/e.md", "日本/設計 (1).md", ".hidden/f.md", ".g.md"]
    write_files(tmp_path, dict.fromkeys([*paths, "a.txt", "b/README", "md"], ""))

    assert found(tmp_path) == sorted(paths)


def test_found_file_bears_its_stamp(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "12345"})
    info = (tmp_path / "a.md").stat()

    [item] = walk(tmp_path, PAGES, [])

    assert item == Found("a.md", FileStamp(5, info.st_mtime_ns, info.st_ctime_ns))


@pytest.mark.parametrize("name", [".git", ".kanban", ".ubp", ".venv", "node_modules"])
def test_some_folders_are_never_read(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {f"{name}/a.md": "", f"b/{name}/c/d.md": "", "e.md": ""})

    assert found(tmp_path) == ["e.md"]


def test_excluded_files_are_left_out_although_they_are_included(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "", "dist/b.md": "", "c/dist/d.md": ""})

    assert found(tmp_path, exclude=["**/dist/**"]) == ["a.md"]


def test_missing_folder_is_refused_rather_than_empty(tmp_path: Path) -> None:
    [item] = walk(tmp_path / "missing", PAGES, [])

    assert isinstance(item, Refused)
    assert (item.path, item.folder) == ("", True)


def test_folder_with_the_name_of_a_page_is_a_folder(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md/b.md": ""})

    assert found(tmp_path) == ["a.md/b.md"]


def test_link_to_a_file_inside_is_read_under_its_own_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "", "b/c.md": ""})
    (tmp_path / "link.md").symlink_to(tmp_path / "b" / "c.md")

    assert found(tmp_path) == ["a.md", "b/c.md", "link.md"]


def test_link_to_a_folder_inside_is_not_walked_twice(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.md": ""})
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)

    assert found(tmp_path) == ["a/b.md"]


def test_links_that_leave_the_folder_are_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"outside/secret.md": "", "docs/a.md": ""})
    (tmp_path / "docs" / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (tmp_path / "docs" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "docs" / "twice.md").symlink_to(tmp_path / "docs" / "file.md")

    assert refused(tmp_path / "docs") == ["file.md", "folder", "twice.md"]


def test_link_to_nothing_and_a_loop_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.md").symlink_to(tmp_path / "missing.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")

    assert refused(tmp_path) == ["broken.md", "loop.md"]


def test_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    assert refused(tmp_path) == ["pipe.md"]


def test_what_does_not_match_is_not_even_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken.txt").symlink_to(tmp_path / "missing")

    assert list(walk(tmp_path, PAGES, [])) == []


def test_name_that_is_not_utf_8_is_refused_and_shown_readably(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).touch()
    write_files(tmp_path, {"a.md": ""})

    assert refused(tmp_path) == ["�.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folder_that_cannot_be_listed_is_refused_by_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"locked/a.md": "", "b.md": ""})
    (tmp_path / "locked").chmod(0)

    names = refused(tmp_path)

    (tmp_path / "locked").chmod(0o700)
    assert names == ["locked"]


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("**/*.md", ".a/.b.md", True),
        ("**/*.md", "a.mdx", False),
        ("**/*.md", "a.MD", False),
        ("*.md", "a.md", True),
        ("*.md", "a/b.md", False),
        ("guides/**", "guides/a/b.md", True),
        ("guides/**", "other/guides/a.md", False),
        ("**/guides/**", "guides/a.md", True),
        ("a?.md", "ab.md", True),
        ("a?.md", "a.md", False),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("{a,b/*}.md", "b/c.md", True),
        ("{a,b/*}.md", "c.md", False),
        ("設計/*.md", "設計/認証.md", True),
        ("a(1).md", "a(1).md", True),
        ("a+b.md", "aab.md", False),
    ],
)
def test_globs_mean_what_people_expect(
    pattern: str, path: str, *, wanted: bool
) -> None:
    assert matcher([pattern], [])(path) is wanted


def test_exclude_wins_over_include() -> None:
    is_wanted = matcher(["**/*.md", "drafts/keep.md"], ["drafts/**"])

    assert is_wanted("a.md")
    assert not is_wanted("drafts/keep.md")


def test_without_patterns_nothing_is_wanted() -> None:
    assert not matcher([], [])("a.md")


@given(page_paths)
def test_default_globs_want_every_page(path: str) -> None:
    assert matcher(PAGES, ["**/node_modules/**", "**/dist/**", "**/.git/**"])(path)


def test_link_out_whose_name_is_not_utf8_is_refused_by_a_name_that_can_be_stored(
    tmp_path: Path,
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    Path(os.fsdecode(os.fsencode(docs) + b"/bad\xff")).symlink_to("/")

    [refused] = walk(docs, ["**/*.md"], [])

    assert isinstance(refused, Refused)
    assert refused.path.encode("utf-8").startswith(b"bad")

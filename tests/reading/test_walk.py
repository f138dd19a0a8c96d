"""Which files are read, and what is said of those that are not."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import file_trees, page_paths
from trees import everything_in, plant, planted
from vaults import write_files

from ubp.messages import FileStamp
from ubp.reading.source import Source
from ubp.reading.walk import NEVER_READ, Found, Refused, folders, matcher, walk

PAGES = ["**/*.md"]


def pages_in(folder: Path) -> Source:
    return Source(folder, PAGES, [])


def found(folder: Path, *, exclude: list[str] | None = None) -> list[str]:
    """The paths that would be read, after a look that nothing was refused."""
    items = list(walk(Source(folder, PAGES, exclude or [])))
    assert [item for item in items if isinstance(item, Refused)] == []
    return sorted(item.path for item in items)


def refused(folder: Path) -> list[str]:
    items = walk(pages_in(folder))
    return sorted(item.path for item in items if isinstance(item, Refused))


def test_pages_at_every_depth_are_found(tmp_path: Path) -> None:
    paths = ["a.md", "b/c.md", "b/d/e.md", "日本/設計 (1).md", ".hidden/f.md", ".g.md"]
    write_files(tmp_path, dict.fromkeys([*paths, "a.txt", "b/README", "md"], ""))

    assert found(tmp_path) == sorted(paths)


def test_found_file_bears_its_stamp(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "12345"})
    info = (tmp_path / "a.md").stat()

    [item] = walk(pages_in(tmp_path))

    assert item == Found("a.md", FileStamp(5, info.st_mtime_ns, info.st_ctime_ns))


@pytest.mark.parametrize("name", [".git", ".kanban", ".ubp", ".venv", "node_modules"])
def test_some_folders_are_never_read(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {f"{name}/a.md": "", f"b/{name}/c/d.md": "", "e.md": ""})

    assert found(tmp_path) == ["e.md"]


def test_excluded_files_are_left_out_although_they_are_included(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "", "dist/b.md": "", "c/dist/d.md": ""})

    assert found(tmp_path, exclude=["**/dist/**"]) == ["a.md"]


def test_missing_folder_is_refused_rather_than_empty(tmp_path: Path) -> None:
    [item] = walk(pages_in(tmp_path / "missing"))

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

    assert list(walk(pages_in(tmp_path))) == []


def test_name_that_is_not_utf_8_is_refused_and_shown_readably(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).touch()
    write_files(tmp_path, {"a.md": ""})

    assert refused(tmp_path) == ["�.md"]


def test_folder_whose_name_is_not_utf_8_is_refused_and_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is told that somebody opened it cannot read what he is told."""
    bad = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    write_files(bad, {"a.md": "", "b/c.md": ""})
    write_files(tmp_path, {"d.md": ""})
    opened: list[Path] = []
    listed = os.scandir

    def noted(folder: Path) -> Any:
        opened.append(folder)
        return listed(folder)

    monkeypatch.setattr(os, "scandir", noted)

    assert refused(tmp_path) == ["�"]
    assert list(folders(pages_in(tmp_path))) == [""]
    assert opened == [tmp_path, tmp_path]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folder_that_cannot_be_listed_is_refused_by_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"locked/a.md": "", "b.md": ""})
    (tmp_path / "locked").chmod(0)

    names = refused(tmp_path)
    others = list(folders(pages_in(tmp_path)))

    (tmp_path / "locked").chmod(0o700)
    assert names == ["locked"]
    assert others == [""]


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

    [refused] = walk(pages_in(docs))

    assert isinstance(refused, Refused)
    assert refused.path.encode("utf-8").startswith(b"bad")


def test_links_are_told_apart_from_other_files_read_or_not(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "", "docs/b.md": ""})
    links = {"in": "b.md", "out": "../a.md", "nowhere": "x", "loop": "loop.md"}
    for name, target in links.items():
        (tmp_path / "docs" / f"{name}.md").symlink_to(target)

    linked = {item.path: item.linked for item in walk(pages_in(tmp_path / "docs"))}

    assert linked == {"b.md": False} | {f"{name}.md": True for name in links}


# -- its folders -----------------------------------------------------------------------


def test_folders_are_those_that_may_hold_files(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "built/\n", "a/b/c.txt": "", "a/.git/x/y": ""})
    write_files(tmp_path, {"a/built/x/y.md": "", "node_modules/x/y.md": "", "d.md": ""})
    (tmp_path / "a/empty").mkdir()
    (tmp_path / "linked").symlink_to("a")
    source = Source(tmp_path, PAGES, [], gitignore_from=tmp_path)

    assert sorted(folders(source)) == ["", "a", "a/b", "a/empty"]
    assert sorted(folders(source, "a")) == ["a", "a/b", "a/empty"]
    for other in ("a/b/c.txt", "a/built", "a/.git", "linked", "missing", "d.md"):
        assert list(folders(source, other)) == []


# -- a part of it ----------------------------------------------------------------------


def test_one_file_can_be_looked_at_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.md": "", "a/c.md": "", "b.md": "", "a/d.txt": ""})

    assert [item.path for item in walk(pages_in(tmp_path), "a/b.md")] == ["a/b.md"]
    assert list(walk(pages_in(tmp_path), "a/d.txt")) == []
    assert list(walk(pages_in(tmp_path), "a/missing.md")) == []


def test_one_folder_can_be_looked_at_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.md": "", "a/c/d.md": "", "ab.md": "", "b/c/d.md": ""})

    paths = [item.path for item in walk(pages_in(tmp_path), "a")]

    assert sorted(paths) == ["a/b.md", "a/c/d.md"]


def test_the_way_to_a_part_leads_through_no_link_and_no_folder_that_is_never_read(
    tmp_path: Path,
) -> None:
    write_files(tmp_path, {"a/b.md": "", ".git/c.md": ""})
    (tmp_path / "link").symlink_to(tmp_path / "a")

    assert list(walk(pages_in(tmp_path), "link/b.md")) == []
    assert list(walk(pages_in(tmp_path), ".git/c.md")) == []


def test_rules_on_the_way_to_a_part_count(tmp_path: Path) -> None:
    pages = ["x.md", "a/x.md", "a/b/x.md", "a/b/y.md", "c/y.md"]
    write_files(tmp_path, dict.fromkeys(pages, ""))
    write_files(tmp_path, {".gitignore": "x.md\n/c", "a/b/.gitignore": "!x.md"})
    source = Source(tmp_path, PAGES, [], gitignore_from=tmp_path)

    looked_at = {path: [item.path for item in walk(source, path)] for path in pages}

    assert looked_at == {
        "x.md": [],
        "a/x.md": [],
        "a/b/x.md": ["a/b/x.md"],
        "a/b/y.md": ["a/b/y.md"],
        "c/y.md": [],
    }


def test_what_is_below_a_file_is_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": ""})

    assert list(walk(pages_in(tmp_path), "a.md/b.md")) == []


@pytest.mark.parametrize(
    "below", ["..", "../secret.md", "a/../../secret.md", "a/..", "a/./b.md", "\0"]
)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, below: str) -> None:
    write_files(tmp_path, {"secret.md": "", "docs/a/b.md": ""})
    anywhere = ["**/*.md", "../*.md", "a/../../*.md", "a/../**/*.md", "a/./*.md"]

    assert list(walk(Source(tmp_path / "docs", anywhere, []), below)) == []


@pytest.mark.parametrize("end", ["docs", "docs/b", "round/and/round"])
@pytest.mark.parametrize("below", ["", "a/b.md"])
def test_a_folder_that_is_a_link_through_itself_is_refused(
    tmp_path: Path, end: str, below: str
) -> None:
    plant(tmp_path, {}, {"docs": end, "round": "docs"})
    source = Source(tmp_path / "docs", PAGES, [], gitignore_from=tmp_path)

    [item] = walk(source, below)

    assert isinstance(item, Refused)
    assert (item.path, item.folder) == ("", True)
    assert list(folders(source, below)) == []


def test_a_part_of_a_folder_that_is_not_there_is_not_known_to_be_gone(
    tmp_path: Path,
) -> None:
    [item] = walk(pages_in(tmp_path / "missing"), "a/b.md")

    assert isinstance(item, Refused)
    assert (item.path, item.folder) == ("", True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("mode", [0, 0o100, 0o400])
def test_part_that_cannot_be_looked_at_is_refused_as_in_a_look_at_everything(
    tmp_path: Path, mode: int
) -> None:
    write_files(tmp_path, {"locked/a.md": "", "locked/b/c.md": "", "d.md": ""})
    (tmp_path / "locked").chmod(mode)

    whole = {item for item in walk(pages_in(tmp_path)) if item.path != "d.md"}
    parts = {
        item
        for below in ("locked/a.md", "locked/b")
        for item in walk(pages_in(tmp_path), below)
    }

    (tmp_path / "locked").chmod(0o700)
    assert parts == whole
    assert all(isinstance(item, Refused) for item in whole)


_SPOTS = st.lists(st.sampled_from(("a", "b", "docs", "x.md")), min_size=1, max_size=3)
_LINKS = st.dictionaries(
    _SPOTS.map("/".join),
    st.sampled_from(
        ("a", "b", "docs", "docs/b", "../b", "docs/x.md", "x.md", "nowhere", "..", "/")
    ),
    max_size=3,
)


@given(
    tree=file_trees,
    links=_LINKS,
    never_read=st.sampled_from(sorted(NEVER_READ)),
    source=st.sampled_from((".", "docs", "a/b")),
    globs=st.sampled_from(((["**/*"], []), (PAGES, ["build/**", "**/y.md"]))),
)
def test_what_is_below_a_path_is_that_part_of_everything(
    tree: dict[str, str],
    links: dict[str, str],
    never_read: str,
    source: str,
    globs: tuple[list[str], list[str]],
) -> None:
    with planted({**tree, f"a/{never_read}/x.md": ""}, links) as top:
        wanted = Source(top / source, *globs, gitignore_from=top)

        whole = list(walk(wanted))

        for below in [*everything_in(top / source), "nowhere", "a/nowhere/x.md"]:
            expected = [
                item
                for item in whole
                if item.path == below
                or item.path.startswith(f"{below}/")
                or (isinstance(item, Refused) and item.folder and item.path == "")
            ]
            assert sorted(walk(wanted, below)) == sorted(expected)

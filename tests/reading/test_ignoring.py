"""What git ignores is not part of the documents, and what it does not ignore is."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import anything, file_trees, gitignores
from structlog.testing import capture_logs
from trees import everything_in, planted
from vaults import vault, write_files

from ubp.packs.docs import source_of
from ubp.reading import ignoring
from ubp.reading.ignoring import rules_above
from ubp.reading.source import Source
from ubp.reading.walk import walk

EVERYTHING = ["**/*"]


def is_ignored(source: Source, path: str, *, folder: bool) -> bool:
    """Whether *path*, relative to the source's folder, is ignored or in what is.

    It need not exist; *folder* says what it is, or was.
    """
    if source.gitignore_from is None:
        return False
    place = source.folder.resolve()
    rules = rules_above(source)
    prefix = ""
    *around, name = path.split("/")
    for each in around:
        rules = rules.within(place, prefix)
        if rules.ignore(prefix + each, folder=True):
            return True
        prefix += f"{each}/"
        place /= each
    return rules.within(place, prefix).ignore(prefix + name, folder=folder)


@pytest.fixture(autouse=True)
def nothing_told_yet() -> Iterator[None]:
    """Nothing has been logged, and no other test has chosen what would be."""
    settings_before = structlog.get_config()
    structlog.reset_defaults()
    ignoring._tell.cache_clear()
    yield
    structlog.configure(**settings_before)


def source(top: Path, folder: str = ".", *, heeded: bool = True) -> Source:
    """Every file in a folder of the project at *top*."""
    return Source(top / folder, EVERYTHING, [], gitignore_from=top if heeded else None)


def found(top: Path, folder: str = ".", *, heeded: bool = True) -> list[str]:
    """What is read, but for the ``.gitignore`` files themselves."""
    wanted = source(top, folder, heeded=heeded)
    paths = [item.path for item in walk(wanted)]
    return sorted(path for path in paths if not path.endswith(".gitignore"))


# -- what it says ----------------------------------------------------------------------


def test_what_a_gitignore_names_is_not_found(tmp_path: Path) -> None:
    write_files(
        tmp_path, {".gitignore": "a.md\nb/\n", "a.md": "", "b/c.md": "", "d": ""}
    )

    assert found(tmp_path) == ["d"]


def test_it_counts_without_a_repository_and_not_at_all_if_so_set(
    tmp_path: Path,
) -> None:
    write_files(tmp_path, {".gitignore": "a.md", "a.md": "", "b.md": ""})

    assert found(tmp_path) == ["b.md"]
    assert found(tmp_path, heeded=False) == ["a.md", "b.md"]
    assert not is_ignored(source(tmp_path, heeded=False), "a.md", folder=False)


def test_setting_decides_whether_it_counts(tmp_path: Path) -> None:
    pages = {".gitignore": "a.md", "docs/a.md": "", "docs/b.md": ""}

    heeded = source_of(vault(tmp_path, pages))
    unheeded = source_of(vault(tmp_path, {"ubp.toml": "[source]\ngitignore = false"}))

    assert [item.path for item in walk(heeded)] == ["b.md"]
    assert sorted(item.path for item in walk(unheeded)) == ["a.md", "b.md"]


def test_rule_counts_below_the_folder_of_its_file_only(tmp_path: Path) -> None:
    paths = ["a/x.md", "a/b/x.md", "x.md", "c/x.md"]
    write_files(tmp_path, {"a/.gitignore": "x.md", **dict.fromkeys(paths, "")})

    assert found(tmp_path) == ["c/x.md", "x.md"]


def test_deeper_file_has_the_last_word(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "*.md", "a/.gitignore": "!x.md\n"})
    write_files(tmp_path, dict.fromkeys(["x.md", "a/x.md", "a/y.md", "a/b/x.md"], ""))

    assert found(tmp_path) == ["a/b/x.md", "a/x.md"]


def test_later_line_has_the_last_word(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "!a.md\n*.md\n!b.md", "a.md": "", "b.md": ""})

    assert found(tmp_path) == ["b.md"]


def test_nothing_below_an_ignored_folder_can_be_included_again(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "a/\n!a/x.md", "a/x.md": "", "b.md": ""})
    write_files(tmp_path, {"a/.gitignore": "!x.md"})

    assert found(tmp_path) == ["b.md"]


@pytest.mark.parametrize("again", ["!docs", "!/docs", "!/docs/", "!**/docs"])
def test_folder_that_is_included_again_does_not_include_what_is_in_it(
    tmp_path: Path, again: str
) -> None:
    """A rule is about the path it matches, not about those below."""
    write_files(tmp_path, {".gitignore": f"build/\n*.tmp.md\n{again}\n"})
    write_files(tmp_path, dict.fromkeys(["docs/build/x.md", "docs/a.tmp.md"], ""))
    write_files(tmp_path, {"docs/a.md": "", "docs/.gitignore": "!sub\n!/sub"})
    write_files(tmp_path, dict.fromkeys(["docs/sub/b.tmp.md", "docs/sub/b.md"], ""))

    assert found(tmp_path) == ["docs/a.md", "docs/sub/b.md"]


@pytest.mark.parametrize(
    ("line", "path", "ignored"),
    [
        ("b/?[!x]?", "b/c/d", False),
        ("b/?[!x]?", "b/cyd", True),
        ("a.md ", "a.md", True),
        ("a.md \\ ", "a.md  ", True),
        ("a.md\\ ", "a.md ", True),
        ("a.md\\  ", "a.md ", True),
        ("a.md\\ ", "a.md", False),
        ("a.md\r", "a.md", True),
        ("a/\r", "a/b.md", True),
        (" a.md", "a.md", False),
        ("!!a.md", "!a.md", False),
        ("*\n!!a.md", "!a.md", False),
        ("*\n!#a.md", "#a.md", False),
        ("#a.md", "#a.md", False),
        ("\\#a.md", "#a.md", True),
        ("\\!a.md", "!a.md", True),
        ("x\\[1\\].md", "x[1].md", True),
        ("x[1].md", "x1.md", True),
        ("***.md", "a/b.md", True),
        ("**/", "a.md", False),
        ("**/", "a/b.md", True),
        ("a/**/", "a/b.md", False),
        ("a/**/", "a/b/c.md", True),
        ("a/**/b.md", "a/b.md", True),
        ("a/*", "a/b/c.md", True),
        ("a/b.md", "c/a/b.md", False),
    ],
)
def test_lines_mean_what_git_makes_of_them(
    tmp_path: Path, line: str, path: str, *, ignored: bool
) -> None:
    write_files(tmp_path, {path: ""})
    (tmp_path / ".gitignore").write_text(f"{line}\n", encoding="utf-8", newline="")

    assert is_ignored(source(tmp_path), path, folder=False) is ignored


def test_many_stars_are_as_quick_as_one(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": f"{'*' * 60}x\na/{'*' * 60}x"})

    assert not is_ignored(source(tmp_path), "a" * 200, folder=False)
    assert is_ignored(source(tmp_path), f"a/{'a' * 200}x", folder=False)


def test_all_that_is_in_a_folder_is_not_the_folder(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "a/**\n!a/keep.md"})
    write_files(tmp_path, dict.fromkeys(["a/keep.md", "a/x.md", "a/b/keep.md"], ""))

    assert found(tmp_path) == ["a/keep.md"]


def test_link_to_a_folder_is_no_folder(tmp_path: Path) -> None:
    """Git sees a link as a file; so a rule for folders is not about it."""
    write_files(tmp_path, {"project/.gitignore": "a/\nb\n", "project/c.md": ""})
    (tmp_path / "project" / "a").symlink_to(tmp_path)
    (tmp_path / "project" / "b").symlink_to(tmp_path)

    assert found(tmp_path / "project") == ["a", "c.md"]


def test_exclude_file_of_the_repository_counts_and_comes_first(tmp_path: Path) -> None:
    write_files(tmp_path, {".git/info/exclude": "*.md", "a/.gitignore": "!b.md"})
    write_files(tmp_path, dict.fromkeys(["a.md", "a/b.md", "a/c.md", "d.txt"], ""))

    assert found(tmp_path) == ["a/b.md", "d.txt"]


# -- the folder of the documents -------------------------------------------------------


def test_rules_above_the_docs_folder_count_in_it(tmp_path: Path) -> None:
    write_files(
        tmp_path, {".gitignore": "/h/docs/a.md\nb.md", "h/.gitignore": "docs/c.md"}
    )
    pages = ["a.md", "b.md", "c.md", "d/a.md", "d/b.md", "d/c.md"]
    write_files(tmp_path / "h" / "docs", dict.fromkeys(pages, ""))

    assert found(tmp_path, "h/docs") == ["d/a.md", "d/c.md"]


@pytest.mark.parametrize("rule", ["docs", "/h", "h/", "*", "**/docs/"])
@pytest.mark.parametrize("file", [".gitignore", ".git/info/exclude"])
def test_docs_folder_that_is_ignored_was_asked_for(
    tmp_path: Path, rule: str, file: str
) -> None:
    write_files(tmp_path, {file: f"{rule}\na.md\n"})
    write_files(tmp_path / "h/docs", {".gitignore": "b.md", "a.md": "", "b.md": ""})
    write_files(tmp_path / "h/docs", {"c/a.md": "", "c/docs/d.md": "", "c/b.md": ""})

    assert found(tmp_path, "h/docs") == ["a.md", "c/a.md", "c/docs/d.md"]
    assert not is_ignored(source(tmp_path, "h/docs"), "c/a.md", folder=False)
    assert is_ignored(source(tmp_path, "h/docs"), "c/b.md", folder=False)


def test_files_that_decide_from_outside_are_those_above_the_folder(
    tmp_path: Path,
) -> None:
    def above(folder: str, *, heeded: bool = True) -> list[str]:
        files = ignoring.files_above(source(tmp_path, folder, heeded=heeded))
        return [file.relative_to(tmp_path.resolve()).as_posix() for file in files]

    exclude = ".git/info/exclude"
    assert above("h/docs") == [exclude, ".gitignore", "h/.gitignore"]
    assert above(".") == [exclude]
    assert above("h/docs", heeded=False) == []


# -- what cannot be used ---------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["a[z-y].md", "[[:alpha:]].md", "x[\\]]", "a[b--c]", "a\\", "[a&&b]"]
)
def test_pattern_that_cannot_be_used_is_logged_and_the_others_count(
    tmp_path: Path, line: str
) -> None:
    write_files(tmp_path, {".gitignore": f"a.md\n{line}\n", "a.md": "", "b.md": ""})

    with capture_logs() as logs:
        assert found(tmp_path) == ["b.md"]

    [event] = logs
    assert event["event"] == "index.gitignore_unusable"
    assert (event["path"], event["line"]) == (str(tmp_path / ".gitignore"), 2)


def test_what_cannot_be_used_is_logged_once_however_often_it_is_read(
    tmp_path: Path,
) -> None:
    write_files(tmp_path, {".gitignore": "[[:alpha:]]", "a.md": ""})

    with capture_logs() as logs:
        for _ in range(5):
            assert not is_ignored(source(tmp_path), "a.md", folder=False)

    assert len(logs) == 1


def test_folder_link_or_pipe_in_place_of_the_file_is_logged_and_ignored(
    tmp_path: Path,
) -> None:
    write_files(tmp_path, {"rules": "*", "a/.gitignore/x.md": "", "b/y.md": ""})
    (tmp_path / "b" / ".gitignore").symlink_to(tmp_path / "rules")
    os.mkfifo(tmp_path / ".gitignore")

    with capture_logs() as logs:
        paths = {item.path for item in walk(source(tmp_path))}

    assert {"a/.gitignore/x.md", "b/y.md", "rules"} <= paths
    assert len(logs) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read_is_logged_and_ignored(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "a.md", "a.md": ""})
    (tmp_path / ".gitignore").chmod(0)

    with capture_logs() as logs:
        assert found(tmp_path) == ["a.md"]

    assert len(logs) == 1


def test_names_that_are_not_utf_8_can_be_ignored(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbf\xff.md\r\n")
    for name in (b"\xff.md", b"\xfe.md"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).touch()

    assert found(tmp_path) == ["�.md"]


@given(text=st.one_of(anything, gitignores))
@example(
    text="/\n//\n!\n!!\n!/\n***\n/**/\n[\n[]\n[!\n[^]]\n\\\n\\ \n**/**\n[]-]\na//b"
)
def test_any_text_is_rules(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    top = tmp_path_factory.getbasetemp() / "any"
    top.mkdir(exist_ok=True)
    (top / ".gitignore").write_text(text, encoding="utf-8", newline="")

    for path in ("a.md", "a/b.md", "設計/a b.md", "[1].md"):
        assert is_ignored(source(top), path, folder=False) in {True, False}


# -- against others --------------------------------------------------------------------


@given(tree=file_trees, folder=st.sampled_from((".", "docs", "a")))
def test_question_about_one_path_is_answered_as_the_walk_does(
    tree: dict[str, str], folder: str
) -> None:
    with planted({f"{folder}/z.md": "", **tree}) as top:
        wanted = source(top, folder)

        walked = {item.path for item in walk(wanted)}

        for path in everything_in(top / folder):
            is_folder = (top / folder / path).is_dir()
            ignored = is_ignored(wanted, path, folder=is_folder)
            if is_folder:
                below = any(item.startswith(f"{path}/") for item in walked)
                assert not (ignored and below)
            else:
                assert ignored == (path not in walked)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=60)
@given(tree=file_trees, exclude=gitignores)
def test_what_is_found_is_what_git_would_add(
    tree: dict[str, str], exclude: str
) -> None:
    with planted(tree) as top:
        listed(top, "init", "--quiet")
        (top / ".git/info").mkdir(exist_ok=True)
        (top / ".git/info/exclude").write_text(exclude, encoding="utf-8", newline="")

        expected = listed(
            top, "ls-files", "-z", "--others", "--cached", "--exclude-standard"
        )

        assert sorted(item.path for item in walk(source(top))) == expected


def listed(repository: Path, *arguments: str) -> list[str]:
    """The paths a git command prints, with nobody's settings but the repository's."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nowhere",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(repository.parent),
    }
    command = ["git", "-C", str(repository), *arguments]
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    return sorted(path for path in os.fsdecode(done.stdout).split("\0") if path)

"""A project: where it begins, where its pages are, and what is derived from them."""

from pathlib import Path

import pytest
from vaults import vault, write_files

from ubp.errors import ConfigError
from ubp.project import find_root, open_project


@pytest.mark.parametrize("marker", ["ubp.toml", ".ubp/index.db", ".git/HEAD", ".git"])
def test_root_is_the_nearest_folder_with_a_marker(tmp_path: Path, marker: str) -> None:
    project = tmp_path / "outer" / "project"
    write_files(tmp_path, {"outer/ubp.toml": "", "outer/project/docs/deep/a.md": ""})
    write_files(project, {marker: ""})

    assert find_root(project / "docs" / "deep") == project


def test_folder_with_a_marker_is_its_own_root(tmp_path: Path) -> None:
    write_files(tmp_path, {"ubp.toml": "", "project/ubp.toml": ""})

    assert find_root(tmp_path / "project") == tmp_path / "project"


def test_folder_without_a_marker_anywhere_is_its_own_root(tmp_path: Path) -> None:
    assert find_root(tmp_path) == tmp_path.resolve()


def test_root_is_found_through_a_symbolic_link(tmp_path: Path) -> None:
    write_files(tmp_path, {"real/ubp.toml": "", "real/docs/a.md": ""})
    (tmp_path / "link").symlink_to(tmp_path / "real" / "docs")

    assert find_root(tmp_path / "link") == tmp_path / "real"


def test_project_opens_around_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"ubp.toml": "docs_dir = 'pages'", "pages/deep/a.md": ""})
    monkeypatch.chdir(tmp_path / "pages" / "deep")

    project = open_project()

    assert project.root == tmp_path.resolve()
    assert project.settings.docs_dir == "pages"


def test_pages_are_in_docs_where_there_is_such_a_folder(tmp_path: Path) -> None:
    project = vault(tmp_path, {"docs/a.md": ""})

    assert project.docs_dir == tmp_path / "docs"


def test_pages_are_in_the_root_where_there_is_no_docs_folder(tmp_path: Path) -> None:
    project = vault(tmp_path, {"a.md": "", "docs.md": ""})

    assert project.docs_dir == tmp_path


def test_settings_say_where_pages_are(tmp_path: Path) -> None:
    files = {"ubp.toml": "docs_dir = './wiki/'", "docs/a.md": "", "wiki/b.md": ""}

    assert vault(tmp_path, files).docs_dir == tmp_path / "wiki"


def test_docs_dir_can_be_the_root_itself(tmp_path: Path) -> None:
    project = vault(tmp_path, {"ubp.toml": "docs_dir = '.'", "docs/a.md": ""})

    assert project.docs_dir == tmp_path


def test_unknown_settings_are_kept_for_whoever_warns(tmp_path: Path) -> None:
    project = vault(tmp_path, {"ubp.toml": "colour = 'red'"})

    assert project.unknown_settings == ("colour",)


@pytest.mark.parametrize("outside", ["..", "../other", "/usr", "docs/../../other"])
def test_docs_dir_outside_the_project_is_refused(tmp_path: Path, outside: str) -> None:
    settings = f"docs_dir = '{outside}'"
    write_files(tmp_path, {"project/ubp.toml": settings, "other/a.md": ""})

    with pytest.raises(ConfigError):
        open_project(tmp_path / "project")


def test_docs_folder_that_links_out_of_the_project_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"elsewhere/a.md": "", "project/ubp.toml": ""})
    (tmp_path / "project" / "docs").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError):
        open_project(tmp_path / "project")


@pytest.mark.parametrize(
    "docs_dir", ["a\\u0000b", "missing", "a.md", "round", "x" * 5_000]
)
def test_docs_dir_that_is_no_folder_is_refused(tmp_path: Path, docs_dir: str) -> None:
    write_files(tmp_path, {"ubp.toml": f'docs_dir = "{docs_dir}"', "a.md": ""})
    (tmp_path / "round").symlink_to("round")

    with pytest.raises(ConfigError):
        open_project(tmp_path)


@pytest.mark.parametrize("target", ["away", "docs"])
def test_docs_that_is_a_link_to_nowhere_is_refused(tmp_path: Path, target: str) -> None:
    write_files(tmp_path, {"private/diary.md": ""})
    (tmp_path / "docs").symlink_to(target)

    with pytest.raises(ConfigError, match="leads nowhere"):
        open_project(tmp_path)


@pytest.mark.parametrize("root", ["missing", "file.txt", "round"])
def test_root_that_is_no_folder_is_refused(tmp_path: Path, root: str) -> None:
    write_files(tmp_path, {"file.txt": ""})
    (tmp_path / "round").symlink_to("round")

    with pytest.raises(ConfigError):
        open_project(tmp_path / root)


def test_everything_derived_is_in_one_folder_git_ignores(tmp_path: Path) -> None:
    project = vault(tmp_path, {"docs/a.md": ""})

    project.prepare()

    assert project.database == tmp_path / ".ubp" / "index.db"
    assert project.lock_file == tmp_path / ".ubp" / "serve.lock"
    assert (tmp_path / ".ubp" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_preparing_again_leaves_what_is_there(tmp_path: Path) -> None:
    project = vault(tmp_path, {".ubp/.gitignore": "mine\n"})

    project.prepare()

    ignore = tmp_path / ".ubp" / ".gitignore"
    assert ignore.read_text(encoding="utf-8") == "mine\n"


def test_file_in_the_place_of_the_derived_folder_is_refused(tmp_path: Path) -> None:
    project = vault(tmp_path, {".ubp": "a file"})

    with pytest.raises(ConfigError):
        project.prepare()


def test_opening_a_project_writes_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {"docs/a.md": ""})

    open_project(tmp_path)

    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.md", "docs"]

"""A page's file is read as it is now, and nothing else is."""

import os
from pathlib import Path

import pytest
from vaults import vault

from ubp.errors import ResourceTooLarge
from ubp.packs.docs import page_files
from ubp.packs.docs.page_files import stamp_at, text_at
from ubp.project import Project
from ubp.reading.walk import open_file

PRIVATE = "nobody's business\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "secret.md").write_text(PRIVATE, encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.md").write_text(PRIVATE, encoding="utf-8")
    pages = {"docs/a.md": "# A\r\n", "docs/guides/鍵 1.md": "鍵\n"}
    return vault(tmp_path / "project", {**pages, "README.md": PRIVATE})


def test_a_page_is_read_as_it_is_on_disk(project: Project) -> None:
    assert text_at(project, "a.md") == "# A\r\n"
    assert text_at(project, "guides/鍵 1.md") == "鍵\n"


def test_a_byte_order_mark_is_no_text(project: Project) -> None:
    (project.docs_dir / "a.md").write_bytes(b"\xef\xbb\xbf# A\n")

    assert text_at(project, "a.md") == "# A\n"


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"a\x00b", "é".encode("latin-1")])
def test_what_the_index_would_refuse_is_no_page(project: Project, raw: bytes) -> None:
    (project.docs_dir / "a.md").write_bytes(raw)

    assert text_at(project, "a.md") is None


@pytest.mark.parametrize(
    "path",
    ["gone.md", "guides", "a.md/b.md", "../README.md", "../../secret.md", "", "."],
)
def test_what_is_no_file_in_the_docs_folder_is_not_read(
    project: Project, path: str
) -> None:
    assert text_at(project, path) is None


def test_a_path_from_the_root_is_not_read(project: Project, tmp_path: Path) -> None:
    assert text_at(project, str(tmp_path / "secret.md")) is None
    assert stamp_at(project, str(tmp_path / "secret.md")) is None


@pytest.mark.parametrize("target", ["../../secret.md", "../README.md", "/etc/passwd"])
def test_a_file_that_became_a_link_out_of_the_folder_is_not_read(
    project: Project, target: str
) -> None:
    (project.docs_dir / "a.md").unlink()
    (project.docs_dir / "a.md").symlink_to(target)

    assert text_at(project, "a.md") is None
    assert stamp_at(project, "a.md") is None


def test_a_folder_that_became_a_link_out_of_the_folder_is_not_read(
    project: Project, tmp_path: Path
) -> None:
    (project.docs_dir / "linked").symlink_to(tmp_path / "elsewhere")

    assert text_at(project, "linked/secret.md") is None


def test_a_docs_folder_that_became_a_link_out_of_the_project_is_not_read(
    project: Project, tmp_path: Path
) -> None:
    project.docs_dir.rename(project.root / "before")
    (project.root / "docs").symlink_to(tmp_path / "elsewhere")

    assert text_at(project, "secret.md") is None
    assert stamp_at(project, "secret.md") is None


def test_a_link_inside_the_folder_is_followed(project: Project) -> None:
    (project.docs_dir / "b.md").symlink_to("a.md")

    assert text_at(project, "b.md") == "# A\r\n"


def test_a_link_to_itself_is_not_read(project: Project) -> None:
    (project.docs_dir / "b.md").symlink_to("b.md")

    assert text_at(project, "b.md") is None
    assert stamp_at(project, "b.md") is None


def test_a_pipe_keeps_nobody_waiting(project: Project) -> None:
    os.mkfifo(project.docs_dir / "b.md")

    assert text_at(project, "b.md") is None


def test_what_is_swapped_while_it_is_opened_is_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is a link outside when it is opened, and an honest file when looked at."""
    outside = tmp_path / "secret.md"
    monkeypatch.setattr(page_files, "open_file", lambda _: open_file(outside))

    assert text_at(project, "a.md") is None


def test_a_file_beyond_all_measure_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "LARGEST", 10)
    (project.docs_dir / "a.md").write_text("x" * 10, encoding="utf-8")
    assert text_at(project, "a.md") == "x" * 10
    (project.docs_dir / "a.md").write_text("x" * 11, encoding="utf-8")

    with pytest.raises(ResourceTooLarge) as caught:
        text_at(project, "a.md")

    assert caught.value.code == "resource_too_large"


def test_a_stamp_is_that_of_the_file(project: Project) -> None:
    stamp = stamp_at(project, "a.md")

    assert stamp is not None
    assert stamp.size == 5

"""Small vaults: a mapping of paths to texts becomes files, and files a project."""

from collections.abc import Mapping
from pathlib import Path

from ubp.config import Settings
from ubp.messages import Warned
from ubp.packs.docs.records import PageRecord, read_page
from ubp.project import Project, open_project
from ubp.toolkit import FileText

__all__ = ("NOWHERE", "page", "page_and_warnings", "vault", "write_files")

NOWHERE = Project(Path("/nowhere"), Settings(), Path("/nowhere"))
"""A project for pages that are read from memory and name no source files."""


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write *files* below *root*, with the folders they need."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def vault(root: Path, files: Mapping[str, str]) -> Project:
    """A project at *root* that holds *files*."""
    write_files(root, files)
    return open_project(root)


def page(text: str, path: str = "page.md", project: Project = NOWHERE) -> PageRecord:
    """The record of a page with this text."""
    return page_and_warnings(text, path, project)[0]


def page_and_warnings(
    text: str, path: str = "page.md", project: Project = NOWHERE
) -> tuple[PageRecord, list[Warned]]:
    return read_page(FileText(path, text, project))

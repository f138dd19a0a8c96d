"""``ubp init``: settings, .gitignore, a first index, and what clients need."""

import json
from pathlib import Path

import click

from ubp.actors.watcher import Scan
from ubp.cli.client_options import NAME, place_of
from ubp.cli.index import summary
from ubp.cli.indexing import run_index
from ubp.cli.install import snippet
from ubp.cli.options import App, command
from ubp.cli.user_files import write_whole
from ubp.clients.catalogue import CLIENTS
from ubp.clients.launching import launch
from ubp.config import FILE_NAME
from ubp.project import Project, open_project

__all__ = ("init",)

_IGNORED = ".ubp/"


@command("init")
@click.option("-y", "--yes", is_flag=True, help="Never ask; init asks nothing yet.")
@click.option("--docs-dir", metavar="DIR", help="Folder of the pages.")
@click.option("--include", multiple=True, metavar="GLOB", help="Files to read.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files to leave out.")
@click.option("--skip-embedding", is_flag=True, help="Leave vectors for later.")
def init(
    app: App,
    yes: bool,
    docs_dir: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    skip_embedding: bool,
) -> None:
    """Set a project up: settings, .gitignore, a first index.

    Settings that are there already are kept.
    """
    del yes
    # Here, not in a parent: who initialises a folder means that folder.
    root = open_project(app.root or Path.cwd()).root
    settings = root / FILE_NAME
    created = not settings.exists()
    if created:
        write_whole(settings, _settings(docs_dir, include, exclude))
    _ignore(root / ".gitignore")
    app = App(root, app.terminal, app.chosen_level, app.log_format, app.default_level)
    project = app.project()
    report = run_index(
        project, app.packs(project), Scan(), app.terminal, embed=not skip_embedding
    )
    value = {
        "docs_dir": report.docs_dir,
        "documents_found": report.total_documents,
        "sections_created": report.total_sections,
        "links_found": report.total_links,
        "unresolved_links": report.unresolved_links,
    }
    verb = "Wrote" if created else "Kept"
    told = [] if app.terminal.quiet else [*summary(report), "", *_snippets(project)]
    app.terminal.show(value, f"{verb} {FILE_NAME}.", *told)


def _settings(
    docs_dir: str | None, include: tuple[str, ...], exclude: tuple[str, ...]
) -> str:
    def toml(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [
        "# Settings of ubp; every key is optional. See docs/configuration.md.",
        "",
        f"docs_dir = {toml(docs_dir)}" if docs_dir else '# docs_dir = "docs"',
        "",
        "[source]",
        f"include = {toml(include)}" if include else '# include = ["**/*.md"]',
        f"exclude = {toml(exclude)}" if exclude else '# exclude = ["**/drafts/**"]',
    ]
    return "\n".join(lines) + "\n"


def _ignore(path: Path) -> None:
    """Add our folder to .gitignore, once, leaving the rest of it alone."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if _IGNORED in text.splitlines():
        return
    joint = "" if not text or text.endswith("\n") else "\n"
    write_whole(path, f"{text}{joint}{_IGNORED}\n")


def _snippets(project: Project) -> list[str]:
    """How to give the server to a client: by a command, or by hand."""
    start = launch(project.root)
    lines = ["Give it to a client:"]
    lines += [f"  ubp install {name}" for name in CLIENTS]
    lines += [
        "",
        "Or add it yourself; `ubp install CLIENT --print` says what, as here:",
    ]
    for name in ("claude-desktop", "claude-code"):
        place = place_of(CLIENTS[name], "user", project.root, None)
        lines += ["", *snippet(place, NAME, start)]
    return lines

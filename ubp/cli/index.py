"""``ubp index``: bring the index up to date and exit."""

import os
from pathlib import Path

import click

from ubp.actors.watcher import Scan
from ubp.cli.indexing import IndexReport, run_index
from ubp.cli.options import App, command
from ubp.cli.terminal import counted
from ubp.errors import PageNotFound
from ubp.project import Project
from ubp.reading.walk import matcher

__all__ = ("index", "summary")


@command("index")
@click.option(
    "--force", is_flag=True, help="Read and try every file again; resets staleness."
)
@click.option(
    "--file",
    "only",
    type=click.Path(path_type=Path),
    metavar="P",
    help="Look at this file alone.",
)
@click.option("--no-embed", is_flag=True, help="Leave vectors for later.")
def index(app: App, force: bool, only: Path | None, no_embed: bool) -> None:
    """Bring the whole index up to date and exit."""
    project = app.project()
    packs = app.packs(project)
    path = None if only is None else _in_docs(project, only)
    scan = Scan(force, path)
    report = run_index(project, packs, scan, app.terminal, embed=not no_embed)
    if only is not None and not (report.files_seen or report.documents_removed):
        raise PageNotFound(str(only))
    app.terminal.show(report, *([] if app.terminal.quiet else summary(report)))


def summary(report: IndexReport) -> list[str]:
    """The report in words."""
    there_is = (
        f"{counted(report.total_documents, 'page')}, "
        f"{counted(report.total_sections, 'section')} and "
        f"{counted(report.total_links, 'link')}; "
        f"{report.unresolved_links} of them to pages that do not exist."
    )
    was_done = (
        f"{report.documents_processed} read, {report.documents_removed} removed, "
        f"in {report.seconds:.1f} s."
    )
    lines = [there_is, was_done]
    if report.not_embedded:
        lines.append(f"No vectors were made: {report.not_embedded}")
    elif report.embedded:
        lines.append(f"{counted(report.embedded, 'section')} given vectors.")
    if report.failures:
        lines.append(f"{report.failures} could not be read: see `ubp status`.")
    return lines


def _in_docs(project: Project, given: Path) -> str:
    """The path in the docs folder of a file named on the command line.

    It may be relative to the current directory, the project or the docs folder.
    """
    docs = project.docs_dir
    source = project.settings.source
    wanted = matcher(source.include, source.exclude, ".md")
    for base in (Path.cwd(), project.root, docs):
        place = Path(os.path.normpath(base / given))
        if place.is_relative_to(docs) and (place.exists() or base == docs):
            path = place.relative_to(docs).as_posix()
            if wanted(path):
                return path
    raise PageNotFound(str(given))

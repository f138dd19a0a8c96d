"""``ubp index``: bring the index up to date and exit."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from ubp.actors.watcher import Scan
from ubp.cli.contents import in_words
from ubp.cli.indexing import IndexReport, run_index
from ubp.cli.options import App, command
from ubp.cli.terminal import counted
from ubp.errors import PageNotFound
from ubp.project import Project
from ubp.reading.walk import wanted
from ubp.toolkit import Pack

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
    scan = Scan(force, None if only is None else _read_by(project, packs, only))
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
        f"{report.documents_added} new, {report.documents_updated} changed, "
        f"{report.documents_skipped} unchanged, {report.documents_removed} removed, "
        f"in {report.seconds:.1f} s."
    )
    lines = [there_is] if report.has_pages else []
    # Of a pack that nobody uses here there is nothing to say.
    used = [held for held in report.contents.values() if any(held.values())]
    lines += [f"{in_words(held)}." for held in used]
    lines.append(was_done)
    if report.not_embedded:
        lines.append(f"No vectors were made: {report.not_embedded}")
    elif report.embedded:
        lines.append(f"{counted(report.embedded, 'section')} given vectors.")
    if report.failures:
        lines.append(f"{report.failures} could not be read: see `ubp status`.")
    return lines


def _read_by(project: Project, packs: Sequence[Pack], given: Path) -> Path:
    """The file named on the command line, if one of *packs* reads such files.

    It may be relative to the current directory, the project or the docs folder.
    """
    sources = [pack.reading.source(project) for pack in packs if pack.reading]
    bases = (Path.cwd(), project.root, project.docs_dir)
    places = [Path(os.path.normpath(base / given)) for base in bases]
    # One that is gone is to be looked at as well: where it would have been.
    for place in [*filter(Path.exists, places), *reversed(places[1:])]:
        for source in sources:
            if place.is_relative_to(source.folder) and wanted(source)(
                place.relative_to(source.folder).as_posix()
            ):
                return place
    raise PageNotFound(str(given))

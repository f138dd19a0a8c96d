"""Index from the command line, with a bar that shows how far it is."""

import time
from collections.abc import Mapping, Sequence

import anyio
from msgspec import Struct

from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan
from ubp.actors.wiring import index_once
from ubp.cli import file_reports
from ubp.cli.contents import contents
from ubp.cli.terminal import Terminal
from ubp.packs.docs import queries
from ubp.project import Project
from ubp.store.session import Session, reading
from ubp.toolkit import Pack

__all__ = ("IndexReport", "run_index")

_REDRAW = 0.1


class IndexReport(Struct, frozen=True):
    """What an index run did, and what there is now."""

    docs_dir: str
    files_seen: int
    documents_processed: int
    documents_added: int
    documents_updated: int
    """Of those processed, the ones the index did not have, and those it had."""
    documents_skipped: int
    """Not read, because they are as they were."""
    documents_removed: int
    failures: int
    total_documents: int
    total_sections: int
    total_links: int
    unresolved_links: int
    embedded: int
    """Sections that were given vectors."""
    not_embedded: str
    """Why others were not; empty if there are none."""
    seconds: float
    contents: dict[str, Mapping[str, int]] = {}
    """What other packs hold, by pack."""
    has_pages: bool = True
    """Whether the docs pack is enabled; without it the numbers of pages are old."""


def run_index(
    project: Project,
    packs: Sequence[Pack],
    scan: Scan,
    terminal: Terminal,
    *,
    embed: bool = True,
) -> IndexReport:
    """Bring the index up to date and say what was done."""
    return anyio.run(_run, project, packs, scan, terminal, embed)


async def _run(
    project: Project,
    packs: Sequence[Pack],
    scan: Scan,
    terminal: Terminal,
    embed: bool,
) -> IndexReport:
    begin = time.monotonic()
    progress = Progress()
    async with anyio.create_task_group() as group:
        if not (terminal.quiet or terminal.as_json):
            console = terminal.console(stderr=True)
            if console.is_terminal:
                group.start_soon(_draw, progress, console)
        await index_once(project, packs, scan, progress, embed=embed)
        group.cancel_scope.cancel()
    async with reading(project.database) as session:
        spent = time.monotonic() - begin
        return await _report(project, packs, session, progress, spent)


async def _report(
    project: Project,
    packs: Sequence[Pack],
    session: Session,
    progress: Progress,
    seconds: float,
) -> IndexReport:
    counts = await session.run(queries.counts)
    where = file_reports.folders(project, packs)
    failures = await session.run(file_reports.failures, where)
    return IndexReport(
        docs_dir=project.docs_dir.relative_to(project.root).as_posix(),
        files_seen=progress.seen,
        documents_processed=progress.stored,
        documents_added=progress.added,
        documents_updated=progress.stored - progress.added,
        documents_skipped=max(0, progress.seen - progress.stored - progress.failed),
        documents_removed=progress.removed,
        failures=len(failures),
        total_documents=counts.pages,
        total_sections=counts.sections,
        total_links=counts.links,
        unresolved_links=counts.links - counts.resolved,
        embedded=progress.made,
        not_embedded=progress.not_embedded,
        seconds=round(seconds, 2),
        contents=await session.run(contents, packs),
        has_pages=any(pack.name == "docs" for pack in packs),
    )


async def _draw(progress: Progress, console: object) -> None:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bar

    if not isinstance(console, Console):
        raise TypeError
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        reading_files = bar.add_task("Indexing", total=None)
        embedding = bar.add_task("Embedding", total=None, visible=False)
        while True:
            total = progress.found if progress.scanned else None
            bar.update(reading_files, completed=progress.done, total=total)
            bar.update(
                embedding,
                completed=progress.embedded,
                total=progress.to_embed,
                visible=progress.to_embed > 0,
                description=progress.preparing or "Embedding",
            )
            await anyio.sleep(_REDRAW)

"""``ubp status``: what is indexed, and what is waiting."""

from collections.abc import Mapping, Sequence
from functools import partial

import anyio
import anyio.to_thread
import apsw
import click
from msgspec import Struct

from ubp.actors.wiring import readable
from ubp.cli import file_reports
from ubp.cli.contents import contents, in_words
from ubp.cli.interruption import until_interrupted
from ubp.cli.options import App, command
from ubp.cli.status_watch import View, watched
from ubp.dictionary import lookup
from ubp.embedding import library
from ubp.errors import IndexNotReady
from ubp.packs.docs import queries
from ubp.packs.docs.reports import stale_documents
from ubp.project import Project
from ubp.store import files, vectors
from ubp.store.lock import holder
from ubp.store.session import Session
from ubp.toolkit import Pack

__all__ = ("Status", "collect", "status")

_SHOWN = 20


class EmbeddingProgress(Struct, frozen=True):
    """How many sections have a vector, and of which model."""

    completed: int = 0
    total: int = 0
    """Sections in a language the model knows."""
    model: str | None = None
    """The one that answers queries."""
    coming: str | None = None
    """The one that replaces it when it is complete; then the numbers are its own."""
    skipped: int = 0
    """Sections the model could not take."""
    unknown_language: int = 0
    """Sections the model cannot read; they are found by their words."""
    problem: str | None = None
    """Why vectors cannot be made, or not of all, and what to do."""


class Status(Struct, frozen=True, kw_only=True):
    """The numbers shown."""

    initialized: bool
    docs_dir: str
    total_documents: int = 0
    total_sections: int = 0
    total_links: int = 0
    resolved_links: int = 0
    unresolved_links: int = 0
    waiting_files: int = 0
    """Files whose index entry is not as the disk has them."""
    contents: dict[str, Mapping[str, int]] = {}
    """What other packs hold, by pack."""
    embedding_progress: EmbeddingProgress = EmbeddingProgress()
    stale_documents: int = 0
    failures: list[files.Failure] = []
    warnings: list[files.Noted] = []
    db_size_bytes: int = 0
    server_pid: int | None = None


@command("status")
@click.option("--check", is_flag=True, help="Exit 1 while links lead nowhere.")
@click.option(
    "--watch",
    is_flag=True,
    help="Go on until interrupted; with --json, a line for every change.",
)
@click.option(
    "--every",
    type=click.FloatRange(0.2, 3600),
    metavar="SECONDS",
    help="How often --watch looks, 0.2 to 3600; every 2 unless given.",
)
def status(app: App, check: bool, watch: bool, every: float | None) -> int:
    """Show what is indexed, waiting, or unreadable."""
    if check and watch:
        raise click.UsageError("--check and --watch exclude each other.")
    if every is not None and not watch:
        raise click.UsageError("--every belongs to --watch.")
    project = app.project()
    packs = app.packs(project)
    if watch:
        look = partial(collect, project, packs)
        view = View(app.terminal, partial(_lines, app), _summary)
        anyio.run(until_interrupted, partial(watched, look, view, every or 2.0))
        return 0
    found = anyio.run(collect, project, packs)
    app.terminal.show(found, *_lines(app, found))
    return 1 if check and found.unresolved_links else 0


async def collect(project: Project, packs: Sequence[Pack]) -> Status:
    """The numbers, from the database and from the files."""
    docs_dir = project.docs_dir.relative_to(project.root).as_posix()
    try:
        async with readable(project) as session:
            return await _collect(project, packs, docs_dir, session)
    except IndexNotReady:
        return Status(initialized=False, docs_dir=docs_dir)


async def _collect(
    project: Project, packs: Sequence[Pack], docs_dir: str, session: Session
) -> Status:
    counts = await session.run(queries.counts)
    waiting = await session.run(file_reports.waiting, project, packs)
    where = file_reports.folders(project, packs)
    stale = await session.run(stale_documents, project)
    return Status(
        initialized=True,
        docs_dir=docs_dir,
        total_documents=counts.pages,
        total_sections=counts.sections,
        total_links=counts.links,
        resolved_links=counts.resolved,
        unresolved_links=counts.links - counts.resolved,
        waiting_files=waiting,
        embedding_progress=await _embedding(project, packs, session, counts.sections),
        stale_documents=stale.total,
        contents=await session.run(contents, packs),
        failures=await session.run(file_reports.failures, where),
        warnings=await session.run(file_reports.warnings, where),
        db_size_bytes=_size(project),
        server_pid=holder(project.lock_file),
    )


async def _embedding(
    project: Project, packs: Sequence[Pack], session: Session, sections: int
) -> EmbeddingProgress:
    now = await session.run(_told_of, packs)
    problem = await anyio.to_thread.run_sync(_problem, project)
    if now.model is None:
        return EmbeddingProgress(total=sections, problem=problem)
    return EmbeddingProgress(
        completed=now.completed,
        total=now.total,
        model=now.model,
        coming=now.coming,
        skipped=now.skipped,
        unknown_language=now.unknown_language,
        problem=problem,
    )


def _told_of(db: apsw.Connection, packs: Sequence[Pack]) -> vectors.VectorProgress:
    """How much is embedded of what whoever asks may know of."""
    hidden = {pack.name: pack.hidden(db) if pack.hidden else () for pack in packs}
    return vectors.progress(db, hidden)


def _problem(project: Project) -> str | None:
    asked = (project.settings.embedding, project.root)
    dictionary = lookup.fault()
    return (
        library.problem(*asked)
        or library.shortcoming(*asked)
        or (dictionary and f"{dictionary} {lookup.HINT}")
    )


def _size(project: Project) -> int:
    names = ("index.db", "index.db-wal")
    paths = [project.derived / name for name in names]
    return sum(path.stat().st_size for path in paths if path.exists())


def _lines(app: App, found: Status) -> list[object]:
    from rich.markup import escape

    if not found.initialized:
        return ["Not indexed yet. Run `ubp index`."]
    served = f"process {found.server_pid}" if found.server_pid else "nobody"
    table = app.terminal.table("", "")
    table.show_header = False
    for name, value in (
        ("docs folder", found.docs_dir),
        ("pages", found.total_documents),
        ("sections", found.total_sections),
        ("links", f"{found.total_links}, {found.unresolved_links} lead nowhere"),
        *((name, in_words(held)) for name, held in found.contents.items()),
        ("waiting to be read", found.waiting_files),
        ("vectors", _vectors(found.embedding_progress)),
        ("possibly stale", found.stale_documents),
        ("index size", f"{found.db_size_bytes / 1e6:.1f} MB"),
        ("served by", served),
    ):
        table.add_row(f"[bold]{name}[/]", escape(str(value)))
    lines: list[object] = [table]
    lines += _listed("Not indexed", [(f.path, f.reason) for f in found.failures])
    lines += _listed("Warnings", [(w.path, w.text) for w in found.warnings])
    return lines


def _summary(found: Status) -> str:
    """The numbers that move, on one line."""
    if not found.initialized:
        return "not indexed yet"
    served = f"process {found.server_pid}" if found.server_pid else "nobody"
    return (
        f"{found.total_documents} pages, {found.total_sections} sections, "
        f"{found.waiting_files} waiting, "
        f"vectors {_vectors(found.embedding_progress)}, "
        f"{found.stale_documents} possibly stale, "
        f"{len(found.failures)} not indexed, served by {served}"
    )


def _vectors(now: EmbeddingProgress) -> str:
    parts = [f"{now.completed} of {now.total}"]
    if now.coming:
        parts.append(f"of {now.coming}; {now.model} answers until all are made")
    elif now.model:
        parts.append(f"of {now.model}")
    if now.skipped:
        parts.append(f"{now.skipped} could not be made")
    if now.unknown_language:
        parts.append(f"{now.unknown_language} in a language it does not know")
    if now.problem:
        parts.append(now.problem.rstrip("."))
    return ", ".join(parts)


def _listed(title: str, rows: list[tuple[str, str]]) -> list[str]:
    from rich.markup import escape

    if not rows:
        return []
    shown = [f"  {escape(path)}: {escape(why)}" for path, why in rows[:_SHOWN]]
    more = [f"  … and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return [f"[bold]{title}[/]", *shown, *more]

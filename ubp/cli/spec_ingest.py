"""``ubp spec ingest``: fetch specifications, and say what was done."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
import click
from msgspec import Struct

from ubp.actors.wiring import writable
from ubp.cli.downloading import Bar
from ubp.cli.options import App, command
from ubp.cli.terminal import counted, show_error
from ubp.config import Settings, fetch_patience
from ubp.errors import InvalidArguments, UbpError
from ubp.packs.specs.ingesting import DocumentReport, Ingested, Run
from ubp.packs.specs.ingesting import ingest as ingest_document
from ubp.packs.specs.languages import Document, UnknownLanguage, is_base, names
from ubp.packs.specs.languages import language as language_of
from ubp.project import Project

__all__ = ("IngestReport", "ingest")

_ALL = "all"

_PAGES_NAMED = 5
"""Of those that could not be had: they tend to fail for one reason."""


class IngestReport(Struct, frozen=True, kw_only=True):
    """What a run did, document by document."""

    documents: list[DocumentReport]


@command("ingest")
@click.argument("languages", nargs=-1, metavar="LANG…|all")
@click.option(
    "--from",
    "place",
    metavar="PATH_OR_URL",
    help="Read from here for this run; citations stay as they are.",
)
@click.option("--base-url", metavar="URL", help="Cite with this instead.")
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="The date of the snapshot; today (UTC) unless given.",
)
def ingest(
    app: App,
    languages: tuple[str, ...],
    place: str | None,
    base_url: str | None,
    date: datetime | None,
) -> int:
    """Fetch the specification of each LANG, cut it and store a snapshot."""
    project = app.project()
    wanted = _wanted(project.settings, languages)
    if len(wanted) > 1 and (place or base_url):
        raise click.UsageError("--from and --base-url go with one language only.")
    if base_url and not is_base(base_url):
        raise click.UsageError("--base-url has to be an http or https address.")
    now = datetime.now(UTC)
    run = Run(
        when=now if date is None else datetime.combine(date.date(), now.time()),
        patience=fetch_patience(),
        here=Path.cwd(),
        place=place,
        base_url=base_url,
    )
    with Bar(app.terminal, of="pages") as bar:
        done = anyio.run(_ingest, project, wanted, run, bar)
    report = IngestReport(documents=[each.report for each in done])
    app.terminal.show(report, *([] if app.terminal.quiet else _lines(report)))
    errors = [each.error for each in done if each.error is not None]
    for error in [] if app.terminal.as_json else errors:
        show_error(error.message, error.cause, error.hint, as_json=False)
    return 1 if errors else 0


def _wanted(settings: Settings, given: Sequence[str]) -> list[str]:
    """The languages that are meant, each once.

    Raises:
        UnknownLanguage: One of them is none.
        InvalidArguments: None is named.
    """
    known = names(settings)
    asked = list(dict.fromkeys(name.lower() for name in given))
    if not asked:
        raise InvalidArguments(
            f"Name a language: {', '.join(known)}; or {_ALL}.",
            cause="`ubp spec ingest` was not told what to fetch.",
            hint="Run `ubp spec ingest go`, for instance.",
        )
    if _ALL in asked:
        return known
    for name in asked:
        if name not in known:
            raise UnknownLanguage(name, known)
    return asked


async def _ingest(
    project: Project, languages: Sequence[str], run: Run, bar: Bar
) -> list[Ingested]:
    done: list[Ingested] = []
    async with writable(project) as session:
        for name in languages:
            try:
                documents = _documents(project.settings, name, run)
            except UbpError as error:
                nothing = DocumentReport(language=name, doc="", error=error.message)
                done.append(Ingested(nothing, error))
                continue
            for document in documents:
                bar.begin(f"{document.language} {document.doc}")
                done.append(
                    await ingest_document(project, session, document, run, bar.move)
                )
    return done


def _documents(settings: Settings, name: str, run: Run) -> tuple[Document, ...]:
    """All documents of a language; the first, where the run is told a place."""
    documents = language_of(settings, name).documents
    return documents[:1] if run.place or run.base_url else documents


def _lines(done: IngestReport) -> list[str]:
    """What was done, in words."""
    from rich.markup import escape

    lines: list[str] = []
    for report in done.documents:
        if report.error is not None:
            continue
        changes = ", ".join(
            f"{number} {word}"
            for word, number in (
                ("new", report.inserted),
                ("changed", report.updated),
                ("removed", report.removed),
                ("unchanged", report.unchanged),
                ("carried over", report.carried_over),
            )
            if number
        )
        lines.append(
            f"{report.language} {report.doc}: {report.version}, "
            f"{counted(report.total, 'page')}, sections: {changes}."
        )
        lines += [
            escape(f"  not had: {each.url}: {each.message}")
            for each in report.failed_pages[:_PAGES_NAMED]
        ]
        if unnamed := len(report.failed_pages[_PAGES_NAMED:]):
            lines.append(f"  not had: {counted(unnamed, 'more page')}; see --json.")
    return lines

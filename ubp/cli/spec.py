"""``ubp spec``: language specifications, for people."""

from typing import Any

import anyio
import click

from ubp.actors.wiring import readable
from ubp.cli.asking import answer
from ubp.cli.options import App, command, group
from ubp.cli.spec_ingest import ingest
from ubp.cli.terminal import counted, one_line
from ubp.errors import IndexNotReady
from ubp.packs.specs.choosing import LATEST
from ubp.packs.specs.comparing import Difference, NamedSection, compared
from ubp.packs.specs.failures import NotIngested
from ubp.packs.specs.languages import language as language_of

__all__ = ("spec",)

_SHOWN = 300


@group("spec")
def spec() -> None:
    """Fetch, search and cite language specifications."""


def _lower(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    return None if value is None else value.lower()


_LANGUAGE = click.argument("language", metavar="LANG", callback=_lower)
_VERSION = click.option(
    "--version", metavar="V", help="A snapshot; the newest unless given."
)
_DOC = click.option(
    "--doc", metavar="D", help="A document; the language's first unless given."
)


@command("list")
@click.argument("language", metavar="[LANG]", required=False, callback=_lower)
def list_(app: App, language: str | None) -> None:
    """List what has been ingested: languages, or the snapshots of LANG."""
    from rich.markup import escape

    name = "list_languages" if language is None else "list_versions"
    arguments = {} if language is None else {"language": language}
    try:
        found = _told(app, name, arguments).elements()
    except IndexNotReady:
        found = []  # nothing is indexed, so nothing has been ingested
    if language is None:
        table = app.terminal.table("language", "documents", "notes")
        for each in found:
            table.add_row(
                f"[bold]{escape(each.language)}[/]",
                escape(", ".join(each.docs)),
                escape(each.notes or ""),
            )
    else:
        table = app.terminal.table("version", "document", "fetched", "from")
        for each in found:
            table.add_row(
                *map(escape, (each.version, each.doc, each.fetched_at[:16])),
                escape(each.source_url),
            )
    hint = f"Nothing is here yet. Run `ubp spec ingest {language or 'LANG'}`."
    app.terminal.show(found, table if found else hint)


def _told(app: App, tool: str, arguments: dict[str, Any]) -> Any:
    """The tool's result, for a language there is."""
    project = app.project()
    if "language" in arguments:
        language_of(project.settings, arguments["language"])
    return answer(project, app.packs(project), tool, arguments)


def _asked(app: App, tool: str, arguments: dict[str, Any]) -> Any:
    """The tool's result; without an index there is nothing but to ingest."""
    try:
        return _told(app, tool, arguments)
    except IndexNotReady:
        raise NotIngested(arguments["language"]) from None


@command("search")
@_LANGUAGE
@click.argument("query")
@_VERSION
@_DOC
@click.option("--prefix", metavar="P", help="Only sections under these headings.")
@click.option(
    "--limit",
    type=click.IntRange(1, 50, clamp=True),
    default=10,
    help="Most results.",
)
def search(
    app: App,
    language: str,
    query: str,
    version: str | None,
    doc: str | None,
    prefix: str | None,
    limit: int,
) -> None:
    """Find the sections of LANG's specification that QUERY is about."""
    from rich.text import Text

    filters = {"doc": doc, "section_path_prefix": prefix, "limit": limit}
    arguments = {
        "language": language,
        "query": query,
        "version": version,
        "filters": {key: value for key, value in filters.items() if value is not None},
    }
    found = _asked(app, "search_spec", arguments)
    lines: list[Any] = []
    for number, hit in enumerate(found.result, start=1):
        line = Text(f"{number}. {hit.section_path}", style="bold")
        line.append(f"  {hit.section_id}", style="not bold dim")
        if hit.match:
            line.append(f"  {hit.match}", style="not bold yellow")
        lines += [line, Text(f"   {hit.url}", style="cyan")]
        lines.append(Text(f"   {one_line(hit.snippet.text, _SHOWN)}"))
    lines.append(Text(f"{counted(len(found.result), 'section')} found", style="dim"))
    app.terminal.show(found.elements(), *lines)


@command("get")
@_LANGUAGE
@click.argument("section_id")
@_VERSION
@_DOC
def get(
    app: App, language: str, section_id: str, version: str | None, doc: str | None
) -> None:
    """Show the section SECTION_ID of LANG's specification."""
    from rich.text import Text

    arguments = {
        "language": language,
        "section_id": section_id,
        "version": version or LATEST,
        "doc": doc,
    }
    found = _asked(app, "get_section", arguments)
    cited = found.citation
    head = Text(cited.section_path, style="bold")
    head.append(f"  {cited.version}", style="not bold dim")
    lines = [head, Text(cited.url, style="cyan"), Text()]
    lines.append(Text(found.content.fulltext or found.content.excerpt))
    if found.content.is_truncated and not found.content.fulltext_available:
        told = "An excerpt: the source allows no more. Follow the link for the rest."
        lines += [Text(), Text(told, style="dim")]
    if found.alternatives:
        others = ", ".join(found.alternatives)
        lines.append(Text(f"Others of that id: {others}", style="dim"))
    app.terminal.show(found, *lines)


@command("plan")
@_LANGUAGE
@click.option(
    "--weeks",
    type=click.IntRange(1, 12, clamp=True),
    default=4,
    help="How many weeks it may take.",
)
@click.option(
    "--focus", multiple=True, metavar="WORD", help="Read this early; may be repeated."
)
@_VERSION
def plan(
    app: App, language: str, weeks: int, focus: tuple[str, ...], version: str | None
) -> None:
    """Plan how to read LANG's specification."""
    from rich.markup import escape

    arguments = {
        "language": language,
        "total_weeks": weeks,
        "focus_areas": list(focus),
        "version": version,
    }
    found = _asked(app, "build_learning_plan", arguments)
    table = app.terminal.table("week", "minutes", "sections", "theme")
    for week in found.weeks:
        numbers = (week.week, week.estimated_minutes, len(week.sections))
        table.add_row(*map(str, numbers), escape(one_line(week.theme, _SHOWN)))
    app.terminal.show(found, table)


@command("diff")
@_LANGUAGE
@click.argument("old")
@click.argument("new")
@_DOC
def diff(app: App, language: str, old: str, new: str, doc: str | None) -> None:
    """Show which sections changed between the snapshots OLD and NEW."""
    project = app.project()
    spoken = language_of(project.settings, language)

    async def run() -> Difference:
        async with readable(project) as session:
            return await session.run(compared, spoken, doc, old, new)

    try:
        found = anyio.run(run)
    except IndexNotReady:
        raise NotIngested(language) from None
    kinds = {"+": found.added, "-": found.removed, "~": found.changed}
    lines = [
        line for sign, sections in kinds.items() for line in _listed(sign, sections)
    ]
    app.terminal.show(found, *(lines or ["Nothing changed."]))


def _listed(sign: str, sections: list[NamedSection]) -> list[Any]:
    from rich.text import Text

    style = {"+": "green", "-": "red", "~": "yellow"}[sign]
    return [
        Text(f"{sign} {each.title}", style=style).append(
            f"  {each.section_id}", style="dim"
        )
        for each in sections
    ]


for _each in (ingest, list_, search, get, plan, diff):
    spec.add_command(_each)

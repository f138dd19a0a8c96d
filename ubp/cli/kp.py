"""``ubp kp``: the registry of skills and knowledge, for people."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import click
import msgspec
from msgspec import Struct

from ubp.actors.meaning import direct_meaning
from ubp.actors.wiring import readable, writable
from ubp.cli.asking import ask_tool
from ubp.cli.options import App, command, group
from ubp.cli.terminal import counted, one_line
from ubp.cli.user_files import write_whole
from ubp.errors import ConfigError, IndexNotReady
from ubp.packs.registry import overview, writes
from ubp.packs.registry.acting import retention_of, thresholds_of, viewer
from ubp.packs.registry.contribute_tools import store
from ubp.packs.registry.offered_files import (
    CheckedFile,
    check_file,
    files_at,
    json_in,
    offered_at,
    text_in,
)
from ubp.packs.registry.problems import (
    InvalidContribution,
    Problem,
    RegistryError,
)
from ubp.project import Project
from ubp.store import texts_waiting
from ubp.toolkit import Context

__all__ = ("kp",)

T = TypeVar("T")

_SHOWN = 200

_PATHS = click.Path(path_type=Path)
_VISIBILITY = click.option(
    "--visibility",
    type=click.Choice(["private", "org", "network"]),
    help="Who may see it; as the file says unless given.",
)


@group("kp")
def kp() -> None:
    """Share and find skills and knowledge units."""


@command("search")
@click.argument("query")
@click.option("--knowledge", is_flag=True, help="Search units rather than skills.")
@click.option("--domain", help="Only this domain.")
@click.option("--tag", "tags", multiple=True, help="Only skills with this tag.")
@click.option("--type", "types", multiple=True, help="Only units of this kind.")
@click.option(
    "--min-quality",
    type=click.FloatRange(0, 1, clamp=True),
    help="Least quality of what is found.",
)
@click.option("--limit", type=click.IntRange(1, 20, clamp=True), help="Most results.")
def search(
    app: App,
    query: str,
    knowledge: bool,
    domain: str | None,
    tags: tuple[str, ...],
    types: tuple[str, ...],
    min_quality: float | None,
    limit: int | None,
) -> None:
    """Find skills, or with --knowledge units, about QUERY."""
    from rich.text import Text

    arguments: dict[str, Any] = {"query": query, "domain": domain}
    if min_quality is not None:
        arguments["min_quality"] = min_quality
    if knowledge:
        arguments["types"] = list(types) or None
        arguments["limit"] = min(limit or 5, 10)
        name = "kp_search_knowledge"
    else:
        arguments["tags"] = list(tags)
        arguments["limit"] = limit or 5
        name = "kp_search_skill"
    try:
        found = ask_tool(app, name, arguments)
    except IndexNotReady:
        # Making one brings back what was contributed, if it was only deleted.
        _asked(app.project(), overview.entries, viewer(), mine=True)
        found = ask_tool(app, name, arguments)
    lines: list[Any] = []
    for number, hit in enumerate(found.result, start=1):
        title = f"{number}. {_title(hit)}"
        line = Text(title, style="bold")
        line.append(f"  {hit.quality_score:.2f}", style="not bold dim")
        line.append(f"  {hit.id}", style="not bold cyan")
        lines.append(line)
    lines.append(Text(f"{counted(len(found.result), 'item')} found", style="dim"))
    if hidden := found.meta().get("hidden_by_min_quality"):
        hint = f"{counted(hidden, 'item')} below --min-quality not shown."
        lines.append(Text(hint, style="dim"))
    app.terminal.show(found.elements(), *lines)


def _title(hit: Any) -> str:
    if hasattr(hit, "name"):
        return f"{hit.name}: {one_line(hit.description, _SHOWN)}"
    named = hit.content.get("name") or hit.content["task"]["objective"]
    return f"{one_line(named, _SHOWN)} ({hit.type})"


@command("contribute")
@click.argument("file", type=_PATHS)
@_VISIBILITY
def contribute(app: App, file: Path, visibility: str | None) -> None:
    """Contribute FILE: a skill (.md) or a unit (.json)."""
    text = text_in(file)
    if file.suffix.lower() == ".json":
        unit = json_in(text)
        metadata = unit.get("metadata")
        own = metadata.get("visibility") if isinstance(metadata, dict) else None
        if visibility is None and own is None:
            where, what = "metadata.visibility", "is required, or --visibility"
            raise InvalidContribution([Problem(where, what)])
        arguments = {"unit": unit, "visibility": visibility or own}
        answer = ask_tool(app, "kp_contribute_knowledge", arguments)
    else:
        arguments = {"skill_md_content": text, "visibility": visibility}
        answer = ask_tool(app, "kp_contribute_skill", arguments)
    lines = [f"{answer.id}  quality {answer.quality_score:.2f}"]
    lines += [f"Warning: {warning}" for warning in answer.warnings]
    lines += [f"Redacted: {each.type} ({each.count})" for each in answer.redactions]
    app.terminal.show(answer, *map(_plain, lines))


class _Checked(Struct, frozen=True, kw_only=True):
    valid: bool
    files: list[CheckedFile]


@command("validate-file")
@click.argument("files", nargs=-1, required=True, type=_PATHS)
def validate_file(app: App, files: tuple[Path, ...]) -> None:
    """Check FILES as if they were contributed; nothing is stored."""
    thresholds = thresholds_of(app.project())
    agent = viewer().agent
    checked = [check_file(file, agent, thresholds) for file in files]
    answer = _Checked(valid=all(each.valid for each in checked), files=checked)
    lines: list[str] = []
    for each in checked:
        lines.append(f"{'valid  ' if each.valid else 'INVALID'}  {each.file}")
        lines += [f"         {problem}" for problem in each.errors]
        lines += [f"         Warning: {warning}" for warning in each.warnings]
    app.terminal.show(answer, *map(_plain, lines))
    if not answer.valid:
        raise click.exceptions.Exit(1)


@command("show")
@click.argument("ident", metavar="ID")
def show(app: App, ident: str) -> None:
    """Show the item ID with its votes."""
    shown = _asked(app.project(), overview.show, viewer(), ident)
    content = shown.content
    if not isinstance(content, str):
        encoded = msgspec.json.format(msgspec.json.encode(content), indent=2)
        content = encoded.decode()
    quality = f"{shown.quality_score:.2f} (computed {shown.computed_quality:.2f})"
    votes = f"{shown.positive} for and {shown.negative} against it"
    asked = shown.asked_visibility
    waits = f" ({asked} once it is confirmed)" if asked else ""
    head = (
        f"{shown.id}  {shown.kind}  by {shown.agent_id}",
        f"{shown.visibility}{waits}, {shown.status}, quality {quality}, {votes}",
    )
    said = [
        f"{each.validator}: {'valid' if each.valid else 'not valid'}"
        + (f" - {each.feedback}" if each.feedback else "")
        for each in shown.feedback
    ]
    app.terminal.show(shown, *map(_plain, (*head, *said, "", content)))


@command("list")
@click.option("--mine", is_flag=True, help="Only what this agent contributed.")
def list_(app: App, mine: bool) -> None:
    """List what this agent may see."""
    from rich.markup import escape

    found = _asked(app.project(), overview.entries, viewer(), mine=mine)
    table = app.terminal.table("id", "kind", "name", "quality", "status", "visible to")
    for each in found:
        quality = f"{each.quality_score:.2f}"
        name = escape(one_line(each.name, _SHOWN))
        row = (each.id, each.kind, name, quality, each.status, each.visibility)
        table.add_row(*row)
    app.terminal.show(found, table if found else "Nothing has been contributed yet.")


@command("export")
@click.option("--out", type=_PATHS, help="Write to this file.")
def export(app: App, out: Path | None) -> None:
    """Export what this agent contributed."""
    exported = _asked(app.project(), overview.export, viewer())
    text = msgspec.json.format(msgspec.json.encode(exported), indent=2).decode()
    if out is None:
        app.terminal.show(exported, _plain(text))
        return
    try:
        write_whole(out, f"{text}\n")
    except OSError as error:
        raise ConfigError(
            f"{out.name} cannot be written.",
            cause=f"{error.strerror}.",
            hint="Give --out a file in a folder that can be written.",
        ) from None
    total = counted(exported.total_contributions, "contribution")
    app.terminal.show(exported, _plain(f"{total} written to {out}"))


class _Told(Struct, frozen=True):
    file: str
    reason: str


class _Imported(Struct, frozen=True, omit_defaults=True):
    imported: int
    unchanged: int
    refused: list[_Told]
    replaced: list[_Told] = []
    """Files of this import whose items another one of them took the place of."""


@command("import")
@click.argument("paths", nargs=-1, required=True, type=_PATHS)
@_VISIBILITY
def import_(app: App, paths: tuple[Path, ...], visibility: Any) -> None:
    """Import skills, folders of them, units or an export from PATHS."""
    project = app.project()
    imported = _run(project, lambda ctx: _import(ctx, paths, visibility))
    summary = f"{imported.imported} imported, {imported.unchanged} unchanged"
    lines = [f"Refused: {each.file}: {each.reason}" for each in imported.refused]
    lines += [f"Replaced: {each.file}: {each.reason}" for each in imported.replaced]
    app.terminal.show(imported, *map(_plain, (summary, *lines)))
    if imported.refused and not imported.imported and not imported.unchanged:
        raise click.exceptions.Exit(1)


async def _import(ctx: Context, paths: tuple[Path, ...], visibility: Any) -> _Imported:
    done = [0, 0]
    refused: list[_Told] = []
    replaced: list[_Told] = []
    came_from: dict[str, Path] = {}
    thresholds = thresholds_of(ctx.project)
    for file in (file for path in paths for file in files_at(path)):
        for item in offered_at(file, visibility, viewer().agent, thresholds):
            try:
                if isinstance(item, RegistryError):
                    raise item
                stored = await store(ctx, item)
            except RegistryError as error:
                refused.append(_Told(str(file), error.message))
            else:
                done[not stored.changed] += 1
                earlier = came_from.setdefault(stored.ident, file)
                if stored.changed and earlier != file:
                    reason = f"{file} has the same name, and is the newer version."
                    replaced.append(_Told(str(earlier), reason))
                    came_from[stored.ident] = file
    return _Imported(done[0], done[1], refused, replaced)


@command("report")
def report(app: App) -> None:
    """Say how much there is of what, and what waits for validation."""
    found = _asked(app.project(), overview.report, viewer())
    table = app.terminal.table("", "", "items")
    for what, counts in (
        ("kind", found.by_kind),
        ("status", found.by_status),
        ("domain", found.by_domain),
    ):
        for name, number in counts.items():
            table.add_row(what, name or "(none)", str(number))
    waiting = counted(len(found.waiting_for_validation), "item")
    app.terminal.show(found, table, f"{waiting} waiting for validation")


class _Swept(Struct, frozen=True, omit_defaults=True):
    quarantined: list[str]
    released: list[str]
    expired: list[str] = []
    """Only if there are any."""


@command("sweep")
def sweep(app: App) -> None:
    """Apply the quarantine rules to every item now, and delete what is too old."""
    project = app.project()
    who, keep = viewer(), retention_of(project)
    swept = _Swept(*_run(project, lambda ctx: ctx.db.write(writes.sweep, who, keep)))
    lines = (
        f"{counted(len(swept.quarantined), 'item')} quarantined",
        f"{counted(len(swept.released), 'item')} released",
        f"{counted(len(swept.expired), 'item')} deleted",
    )
    app.terminal.show(swept, *lines)


def _asked(project: Project, function: Callable[..., T], *args: Any, **more: Any) -> T:
    """What *function* reads; of a project never indexed, nothing."""

    async def run() -> T:
        try:
            async with readable(project) as session:
                return await session.run(function, *args, **more)
        except IndexNotReady:
            async with writable(project) as session:
                return await session.run(function, *args, **more)

    return anyio.run(run)


def _run(project: Project, function: Callable[[Context], Awaitable[T]]) -> T:
    """What *function* does with a database that can be written."""

    async def run() -> T:
        async with (
            writable(project) as session,
            direct_meaning(project, session) as meaning,
        ):
            done = await function(Context(session, project, meaning))
            await anyio.to_thread.run_sync(texts_waiting.tell, project.database)
            return done

    return anyio.run(run)


def _plain(line: str) -> Any:
    from rich.text import Text

    return Text(line)


for _each in (
    search,
    contribute,
    validate_file,
    show,
    list_,
    export,
    import_,
    report,
    sweep,
):
    kp.add_command(_each)

"""``ubp doctor``: check the environment, and say what to do."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

import anyio
import apsw
import click

from ubp import __version__
from ubp.actors.model_processes import ModelProcesses
from ubp.checks import Check
from ubp.cli.client_checks import client_checks
from ubp.cli.client_options import NAME, name_option, settings_option
from ubp.cli.options import App, command
from ubp.clients.catalogue import CLIENTS
from ubp.dictionary import lookup
from ubp.embedding import japanese, library
from ubp.embedding.models import Model, chosen
from ubp.embedding.remote_choice import host_of
from ubp.errors import IndexDamaged, UbpError
from ubp.packs.docs import source_of
from ubp.project import Project
from ubp.reading.walk import Found, walk
from ubp.store import damage
from ubp.store.connection import open_reader
from ubp.store.lock import holder

__all__ = ("checks", "doctor")

_MARKS = {"ok": "[green]ok[/]  ", "warn": "[yellow]warn[/]", "fail": "[red]fail[/]"}


_AGAIN = "Install ubp again, as you did before."

_LITTLE_ROOM = 10_000_000
"""Bytes free below which a write may fail."""


@command("doctor")
@click.option(
    "--client",
    type=click.Choice(list(CLIENTS)),
    help="Check what this client does: read its settings, start the server, search.",
)
@name_option
@settings_option
@click.option("--trust", is_flag=True, help="Start whatever the project's files say.")
def doctor(
    app: App, client: str | None, name: str, settings: Path | None, trust: bool
) -> int:
    """Check the environment and say what to do.

    With --client, start the server just as that client would and try it.
    """
    from rich.markup import escape

    if client is None and (settings or trust or name != NAME):
        raise click.UsageError("--name, --settings and --trust belong to --client.")
    with app.terminal.waiting("Looking …"):
        if client is None:
            found = list(checks(app))
        else:
            found = client_checks(app, CLIENTS[client], name, settings, trust=trust)
    lines = []
    for check in found:
        lines.append(f"{_MARKS[check.verdict]} {check.name}: {escape(check.finding)}")
        if check.hint:
            lines.append(f"       {escape(check.hint)}")
    failed = any(check.verdict == "fail" for check in found)
    app.terminal.show({"checks": found, "ok": not failed}, *lines)
    return 1 if failed else 0


def checks(app: App) -> Iterator[Check]:
    """Everything worth looking at, in the order it could go wrong."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Check("ubp", "ok", f"{__version__} on Python {version}")
    yield _sqlite()
    yield _mcp()
    try:
        project = app.project()
        app.packs(project)
    except UbpError as error:
        yield Check("settings", "fail", f"{error.message} {error.cause}", error.hint)
        return
    yield _settings(project)
    looked_at: tuple[Callable[[Project], Check], ...] = (
        _docs,
        _derived,
        _index,
        _dictionary,
        _model,
        _server,
    )
    for look in looked_at:
        yield look(project)


def _sqlite() -> Check:
    version = apsw.sqlite_lib_version()
    if "ENABLE_FTS5" in apsw.compile_options:
        return Check("SQLite", "ok", f"{version} with full-text search")
    hint = f"{_AGAIN} apsw must come as a wheel: compiled here, it has what is here."
    return Check("SQLite", "fail", f"{version} lacks FTS5", hint)


def _mcp() -> Check:
    try:
        from importlib.metadata import version

        return Check("MCP SDK", "ok", version("mcp"))
    except ImportError:
        return Check("MCP SDK", "fail", "not installed", _AGAIN)


def _settings(project: Project) -> Check:
    if project.unknown_settings:
        keys = ", ".join(project.unknown_settings)
        hint = "See docs/configuration.md for the keys there are."
        return Check("settings", "warn", f"unknown keys are ignored: {keys}", hint)
    exists = (project.root / "ubp.toml").exists()
    return Check("settings", "ok", "ubp.toml" if exists else "defaults")


def _docs(project: Project) -> Check:
    folder = project.docs_dir
    shown = folder.relative_to(project.root).as_posix()
    if not folder.is_dir():
        hint = "Create it, or set docs_dir in ubp.toml."
        return Check("docs folder", "fail", f"{shown} is not a folder", hint)
    try:
        source = source_of(project)
    except UbpError as error:
        return Check(
            "docs folder", "fail", f"{error.message} {error.cause}", error.hint
        )
    pages = sum(isinstance(each, Found) for each in walk(source))
    if not pages:
        hint = "Write a .md file there, or set docs_dir in ubp.toml."
        if source.gitignore_from is not None:
            hint += " Files that git ignores do not count."
        return Check("docs folder", "warn", f"{shown} has no pages", hint)
    return Check("docs folder", "ok", f"{shown}, {pages} files")


def _derived(project: Project) -> Check:
    folder = project.derived if project.derived.exists() else project.root
    if not os.access(folder, os.W_OK):
        hint = "Give yourself permission to write below the project's root."
        return Check("writing", "fail", f"{folder.name}/ cannot be written", hint)
    free = shutil.disk_usage(folder).free
    if free < _LITTLE_ROOM:
        hint = "Make room: a server answers meanwhile, but follows no changes."
        finding = f"the disk is full ({free / 1e6:.0f} MB are free)"
        return Check("writing", "fail", finding, hint)
    return Check("writing", "ok", "the index can be written")


def _index(project: Project) -> Check:
    if not project.database.exists():
        return Check("index", "warn", "there is none yet", "Run `ubp index`.")
    try:
        db = open_reader(project.database)
        try:
            verdict = db.pragma("quick_check")
        finally:
            db.close()
    except (UbpError, apsw.Error) as error:
        verdict = str(error)
    if verdict != "ok":
        return Check("index", "fail", f"damaged: {verdict}", IndexDamaged.hint)
    size = f"{project.database.stat().st_size / 1e6:.1f} MB"
    kept = damage.kept(project.database)
    if kept.exists():
        since = datetime.fromtimestamp(kept.stat().st_mtime).astimezone()
        finding = f"{size}; one before it, last written {since:%Y-%m-%d}, was damaged"
        hint = f"Delete .ubp/{kept.name} when nobody wants to look into it."
        return Check("index", "warn", finding, hint)
    return Check("index", "ok", size)


def _model(project: Project) -> Check:
    settings = project.settings.embedding
    if settings.provider == "local" and find_spec("llama_cpp") is None:
        hint = (
            f"{_AGAIN} It compiles llama-cpp-python, which needs a C++ compiler. In "
            "a desktop extension, tick *Search by meaning*."
        )
        return Check("model", "warn", "llama-cpp-python is not installed", hint)
    try:
        model = chosen(settings, project.root)
        if model is None:
            return Check("model", "ok", "none: search is by words only")
        folder = library.folder_for(settings, project.root)
        library.check_dimensions(model, folder, settings.dimensions)
        begin = monotonic()
        where = host_of(model) if model.url else library.ready(model, folder).name
        if failure := anyio.run(_failure, project, model):
            raise failure
    except UbpError as error:
        return Check("model", "warn", f"{error.message} {error.cause}", error.hint)
    if model.is_default and (fault := japanese.fault()):
        return Check("model", "warn", fault, japanese.HINT)
    took = monotonic() - begin
    return Check("model", "ok", f"{model.name} ({where}), {took:.1f} s to a vector")


async def _failure(project: Project, model: Model) -> UbpError | None:
    """Why the model does not work; as a value, because a task group wraps errors."""
    async with anyio.create_task_group() as group:
        processes = ModelProcesses(group, project)
        try:
            await processes.query(model, "Is anybody there?")
        except UbpError as error:
            return error
        finally:
            await processes.aclose()
            group.cancel_scope.cancel()
    return None


def _dictionary(_: Project) -> Check:
    if fault := lookup.fault():
        return Check("dictionary", "warn", fault, lookup.HINT)
    return Check("dictionary", "ok", f"{lookup.size():,} words, English and Japanese")


def _server(project: Project) -> Check:
    pid = holder(project.lock_file)
    finding = f"process {pid} serves this project" if pid else "none is running"
    return Check("server", "ok", finding)

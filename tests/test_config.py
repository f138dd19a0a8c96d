"""Settings: every key has a default, and what cannot be used is named."""

from pathlib import Path

import pytest
from hypothesis import given
from strategies import anything

from ubp import config
from ubp.config import (
    DocsSettings,
    EmbeddingSettings,
    LogSettings,
    SearchSettings,
    Settings,
    SourceSettings,
    StalenessSettings,
)
from ubp.errors import ConfigError

EVERYTHING = """
docs_dir = "pages"
packs = ["docs"]

[source]
include = ["**/*.markdown"]
exclude = []
gitignore = false

[docs]
site_prefix = "/docs/"

[search]
default_limit = 20
max_depth = 3
alpha = 0.25

[embedding]
model = "bge-m3"
dimensions = 1024
batch_size = 8
threads = 2
niceness = 0
models_dir = "models"
pooling = "cls"
languages = ["ja"]
query_prefix = "q: "
passage_prefix = ""

[staleness]
threshold_days = 0.5

[log]
level = "warn"
file = "ubp.log"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / config.FILE_NAME


def test_missing_file_gives_the_defaults(file: Path) -> None:
    settings, unknown = config.load(file)

    assert settings == Settings()
    assert unknown == []


def test_defaults_are_those_of_the_specification() -> None:
    assert Settings() == Settings(
        docs_dir=None,
        packs=None,
        source=SourceSettings(
            include=["**/*.md"],
            exclude=["**/node_modules/**", "**/dist/**", "**/.git/**"],
            gitignore=True,
        ),
        docs=DocsSettings(site_prefix=""),
        search=SearchSettings(default_limit=10, max_depth=2, alpha=0.7),
        embedding=EmbeddingSettings(
            model="all-MiniLM-L6-v2",
            dimensions=None,
            batch_size=32,
            threads=None,
            niceness=10,
            models_dir=None,
            pooling=None,
            languages=None,
            query_prefix=None,
            passage_prefix=None,
        ),
        staleness=StalenessSettings(threshold_days=7),
        log=LogSettings(level="info", file=None),
    )


def test_every_key_can_be_set(file: Path) -> None:
    file.write_text(EVERYTHING, encoding="utf-8")

    settings, unknown = config.load(file)

    assert unknown == []
    assert settings == Settings(
        docs_dir="pages",
        packs=["docs"],
        source=SourceSettings(include=["**/*.markdown"], exclude=[], gitignore=False),
        docs=DocsSettings(site_prefix="/docs/"),
        search=SearchSettings(default_limit=20, max_depth=3, alpha=0.25),
        embedding=EmbeddingSettings(
            model="bge-m3",
            dimensions=1024,
            batch_size=8,
            threads=2,
            niceness=0,
            models_dir="models",
            pooling="cls",
            languages=["ja"],
            query_prefix="q: ",
            passage_prefix="",
        ),
        staleness=StalenessSettings(threshold_days=0.5),
        log=LogSettings(level="warn", file="ubp.log"),
    )


def test_missing_keys_take_their_defaults_at_any_level(file: Path) -> None:
    file.write_text("[search]\nmax_depth = 1\n", encoding="utf-8")

    settings, _ = config.load(file)

    assert settings == Settings(search=SearchSettings(max_depth=1))


def test_unknown_keys_are_ignored_and_named(file: Path) -> None:
    file.write_text(
        "colour = 1\ndocs_dir = 'x'\n[search]\nbeta = 0.7\n[embeding]\nmodel = 'm'\n",
        encoding="utf-8",
    )

    settings, unknown = config.load(file)

    assert settings == Settings(docs_dir="x")
    assert unknown == ["colour", "embeding", "search.beta"]


def test_byte_order_mark_is_accepted(file: Path) -> None:
    file.write_text("docs_dir = 'x'\n", encoding="utf-8-sig")

    assert config.load(file) == (Settings(docs_dir="x"), [])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("docs_dir = 1", "docs_dir"),
        ("docs_dir = 2024-01-02", "docs_dir"),
        ("source = 1", "source"),
        ("[source]\ninclude = '*.md'", "source.include"),
        ("[source]\ninclude = [1]", "source.include"),
        ("[source]\ngitignore = 1", "source.gitignore"),
        ("[search]\ndefault_limit = 0", "search.default_limit"),
        ("[search]\ndefault_limit = 21", "search.default_limit"),
        ("[search]\ndefault_limit = 2.5", "search.default_limit"),
        ("[search]\nmax_depth = 4", "search.max_depth"),
        ("[search]\nalpha = 1.1", "search.alpha"),
        ("[search]\nalpha = nan", "search.alpha"),
        ("[embedding]\nmodel = 1", "embedding.model"),
        ("[embedding]\ndimensions = 0", "embedding.dimensions"),
        ("[embedding]\nbatch_size = 257", "embedding.batch_size"),
        ("[embedding]\nthreads = 0", "embedding.threads"),
        ("[embedding]\nniceness = 20", "embedding.niceness"),
        ("[embedding]\npooling = 'max'", "embedding.pooling"),
        ("[embedding]\nlanguages = ['de']", "embedding.languages"),
        ("[staleness]\nthreshold_days = -1", "staleness.threshold_days"),
        ("[staleness]\nthreshold_days = nan", "staleness.threshold_days"),
        ("[log]\nlevel = 'loud'", "log.level"),
    ],
)
def test_value_that_does_not_fit_is_refused_by_the_name_of_its_key(
    file: Path, text: str, key: str
) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError) as refused:
        config.load(file)

    assert key in refused.value.message
    assert key in refused.value.cause


@pytest.mark.parametrize("raw", [b"docs_dir =", b"[a]\n[a]", b"\xff\xfe", b"a = '\n'"])
def test_file_that_is_not_toml_is_refused_by_its_name(file: Path, raw: bytes) -> None:
    file.write_bytes(raw)

    with pytest.raises(ConfigError) as refused:
        config.load(file)

    assert config.FILE_NAME in refused.value.message


def test_folder_in_place_of_the_file_is_refused(file: Path) -> None:
    file.mkdir()

    with pytest.raises(ConfigError):
        config.load(file)


@given(text=anything)
def test_any_text_is_settings_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_text(text, encoding="utf-8")

    try:
        settings, _ = config.load(file)
    except ConfigError as refusal:
        assert refusal.cause
    else:
        assert isinstance(settings, Settings)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"a = {'[' * 5_000}{']' * 5_000}", id="nested too deeply"),
        pytest.param(f"a = {'9' * 5_000}", id="an integer Python refuses"),
    ],
)
def test_hostile_toml_is_a_refusal_too(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError):
        config.load(file)


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("debug", "debug"),
        ("INFO", "info"),
        ("warn", "warn"),
        ("WARNING", "warn"),
        ("error", "error"),
        ("loud", None),
        ("", None),
    ],
)
def test_log_level_comes_from_the_environment_if_it_is_one(
    monkeypatch: pytest.MonkeyPatch, word: str, level: str | None
) -> None:
    monkeypatch.setenv("LOG_LEVEL", word)

    assert config.log_level_from_environment() == level


def test_environment_without_a_log_level_gives_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LOG_LEVEL", raising=False)

    assert config.log_level_from_environment() is None


def test_models_come_from_the_hub_or_from_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert config.hub_address() == "https://huggingface.co"

    monkeypatch.setenv("HF_ENDPOINT", " http://mirror.example/hub/ ")
    assert config.hub_address() == "http://mirror.example/hub"


def test_tables_with_names_of_ones_own_are_looked_through_for_unknown_keys(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ubp.toml"
    file.write_text(
        '[specs.sources.kotlin]\nstrategy = "local"\nroot = "x"\n'
        '[specs.sources.kotlin.docs.more]\nplace = "y"\n',
        encoding="utf-8",
    )

    settings, unknown = config.load(file)

    assert settings.specs.sources["kotlin"].strategy == "local"
    assert unknown == [
        "specs.sources.kotlin.docs.more.place",
        "specs.sources.kotlin.root",
    ]


def test_how_specifications_are_fetched_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UBP_RETRY_BASE_MS", "0")
    monkeypatch.setenv("UBP_PAGE_DELAY_MS", "250")

    assert config.fetch_patience() == config.FetchPatience(
        retry_base=0.0, page_delay=0.25, timeout=30.0
    )


@pytest.mark.parametrize("value", ["soon", "-1", "1.5", "９", "1" * 20])
def test_what_is_no_number_of_milliseconds_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("UBP_FETCH_TIMEOUT_MS", value)

    with pytest.raises(ConfigError) as caught:
        config.fetch_patience()
    assert "UBP_FETCH_TIMEOUT_MS" in caught.value.message

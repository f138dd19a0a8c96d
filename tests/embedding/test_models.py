"""Models: those there are, and the one the settings mean."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from msgspec.structs import replace
from strategies import anything

from ubp.config import EmbeddingSettings
from ubp.embedding.models import CATALOGUE, DEFAULT, Model, Scale, chosen, named
from ubp.errors import ConfigError

DOCS = Path(__file__).parents[2] / "docs"


def choose(root: Path, model: str, **more: object) -> Model:
    found = chosen(EmbeddingSettings(model=model, **more), root)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_default_comes_first_and_is_what_the_settings_say_by_default(
    tmp_path: Path,
) -> None:
    assert CATALOGUE[0] is DEFAULT
    assert chosen(EmbeddingSettings(), tmp_path) == DEFAULT


def test_every_model_has_a_name_of_its_own_and_says_what_it_knows() -> None:
    assert len({each.name.casefold() for each in CATALOGUE}) == len(CATALOGUE)
    for each in CATALOGUE:
        assert each.languages
        assert each.licence
        assert each.dimension
        assert each.size
        assert bool(each.repository) == bool(each.file)


@pytest.mark.parametrize("model", CATALOGUE, ids=lambda each: str(each.name))
def test_a_name_is_known_whatever_its_capitals(model: Model, tmp_path: Path) -> None:
    assert named(model.name.upper()) == model
    assert choose(tmp_path, model.name.lower()) == model


def test_none_means_no_model(tmp_path: Path) -> None:
    assert chosen(EmbeddingSettings(model="None"), tmp_path) is None


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        choose(tmp_path, "no-such-model")

    assert DEFAULT.name in refused.value.cause
    assert "ubp model list" in refused.value.hint


def test_a_path_is_relative_to_the_root(tmp_path: Path) -> None:
    model = choose(tmp_path, "models/Some.GGUF")

    assert model.path == str(tmp_path.resolve() / "models/Some.GGUF")
    assert model.name == "Some"
    assert model.dimension is None
    assert model.languages == ("en", "ja")
    assert not model.is_default


def test_a_path_may_begin_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    model = choose(tmp_path, "~/some.gguf")

    assert model.path == str(tmp_path.resolve() / "home/some.gguf")


@pytest.mark.parametrize(
    ("file", "query", "passage"),
    [
        ("multilingual-e5-large-q8_0.gguf", "query: ", "passage: "),
        ("ruri-v3-130m.gguf", "検索クエリ: ", "検索文書: "),
        (
            "EmbeddingGemma-300M.gguf",
            "task: search result | query: ",
            "title: none | text: ",
        ),
        ("plain.gguf", "", ""),
    ],
)
def test_the_prefixes_of_a_file_follow_from_its_name(
    tmp_path: Path, file: str, query: str, passage: str
) -> None:
    model = choose(tmp_path, file)

    assert (model.query_prefix, model.passage_prefix) == (query, passage)


def test_a_file_named_like_an_english_model_is_not_used_for_japanese(
    tmp_path: Path,
) -> None:
    assert choose(tmp_path, "all-MiniLM-L12-v2.Q8_0.gguf").languages == ("en",)
    assert choose(tmp_path, "bge-small-en-v1.5.gguf").languages == ("en",)


def test_settings_replace_what_is_known_of_any_model(tmp_path: Path) -> None:
    for name in (DEFAULT.name, "some.gguf"):
        model = choose(
            tmp_path,
            name,
            pooling="cls",
            languages=["ja"],
            query_prefix="Q ",
            passage_prefix="",
        )

        assert model.pooling == "cls"
        assert model.languages == ("ja",)
        assert model.query_prefix == "Q "
        assert model.passage_prefix == ""


def test_a_language_may_lie_elsewhere_on_the_scale_until_settings_say_otherwise(
    tmp_path: Path,
) -> None:
    apart = Scale("ja", 0.2, 0.9)
    model = replace(DEFAULT, scales=(apart,))
    assert model.scale("ja") == apart
    assert model.scale("en") == Scale("en", DEFAULT.unrelated, DEFAULT.related)

    for settings in ({"unrelated": 0.1}, {"related": 0.8}):
        chosen = choose(tmp_path, DEFAULT.name, **settings)

        both = Scale("ja", chosen.unrelated, chosen.related)
        assert chosen.scale("ja") == both


@given(name=anything)
def test_any_name_is_a_model_or_a_refusal(name: str) -> None:
    for given_name in (name, f"{name}.gguf", f"~{name}.gguf"):
        try:
            model = chosen(EmbeddingSettings(model=given_name), Path("/nowhere"))
        except ConfigError as refusal:
            assert refusal.cause
        else:
            assert model is None or model.name


def test_the_catalogue_in_the_documents_is_this_one() -> None:
    text = (DOCS / "models.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\| `.*", text, re.MULTILINE)
    ]

    assert rows == [
        [
            f"`{each.name}`",
            f"{each.size / 1e6:.0f} MB",
            str(each.dimension),
            " ".join(each.languages),
            each.licence,
            f"`{each.repository}`" if each.repository else "–",
            each.summary,
        ]
        for each in CATALOGUE
    ]

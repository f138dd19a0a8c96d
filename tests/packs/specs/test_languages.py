"""Which languages there are."""

from typing import Any

import msgspec
import pytest

from ubp.config import Settings, SpecDocumentSettings, SpecLanguageSettings
from ubp.errors import ConfigError, InvalidArguments
from ubp.packs.specs.languages import UnknownLanguage, language, names, notes

BUILT_IN = ["go", "java", "rust", "typescript"]


def settings(**sources: dict[str, Any]) -> Settings:
    return msgspec.convert({"specs": {"sources": sources}}, Settings)


def test_exactly_four_languages_are_built_in() -> None:
    assert names(Settings()) == BUILT_IN


def test_those_of_the_settings_follow_also_if_they_are_ready_made() -> None:
    given = settings(python={}, kotlin={"strategy": "local", "path": "x"}, go={})

    assert names(given) == [*BUILT_IN, "python", "kotlin"]


def test_an_unknown_language_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownLanguage) as caught:
        language(Settings(), "cobol")

    assert caught.value.code == "invalid_arguments"
    for each in ("cobol", *BUILT_IN):
        assert each in caught.value.message


def test_a_ready_made_language_is_unknown_until_it_is_named() -> None:
    with pytest.raises(UnknownLanguage):
        language(Settings(), "ecmascript")

    assert language(settings(ecmascript={}), "ecmascript").documents[0].doc == "ecma262"


def test_an_unknown_document_is_named_with_its_language() -> None:
    with pytest.raises(InvalidArguments) as caught:
        language(Settings(), "go").document("go-mem")

    assert "go-mem" in caught.value.message
    assert "go-spec" in caught.value.message


def test_of_a_known_language_only_what_differs_is_given() -> None:
    given = settings(
        rust={"path": "vendor", "policy": "excerpt_only", "notes": "Mine."}
    )

    document = language(given, "rust").document(None)

    assert (document.doc, document.path) == ("rust-reference", "vendor")
    assert document.policy == "excerpt_only"
    assert document.manifest == "SUMMARY.md"
    assert notes(given, "rust") == "Mine."


def test_a_new_language_has_defaults_and_may_have_further_documents() -> None:
    further = {"strategy": "local", "path": "mem.html", "headings": [1, 2]}
    given = settings(
        kotlin={
            "strategy": "single-html",
            "url": "https://k.example",
            "docs": {"mem": further},
        }
    )

    first, second = language(given, "kotlin").documents

    assert (first.doc, first.policy, first.headings) == (
        "kotlin-spec",
        "excerpt_only",
        (2, 3, 4),
    )
    assert (second.doc, second.path, second.headings) == ("mem", "mem.html", (1, 2))


@pytest.mark.parametrize(
    "source",
    [
        {"strategy": "carrier-pigeon", "url": "https://x.example"},
        {"url": "https://x.example"},
        {"strategy": "single-html"},
        {"strategy": "github-markdown"},
        {"strategy": "local"},
        {"strategy": "local", "path": "x", "doc": "../../x"},
        {
            "strategy": "local",
            "path": "x",
            "docs": {"..": {"strategy": "local", "path": "y"}},
        },
        {"strategy": "multi-html-toc", "url": "https://x.example", "pages": "("},
        {"strategy": "local", "path": "x", "base_url": "javascript:alert(1)//"},
        {"strategy": "local", "path": "x", "base_url": "https://x.example/a b"},
        {"strategy": "local", "path": "x", "headings": []},
        {
            "strategy": "local",
            "path": "x",
            "docs": {"demo-spec": {"strategy": "local", "path": "y"}},
        },
    ],
)
def test_a_source_that_cannot_be_used_is_refused_and_hurts_no_other(
    source: dict[str, Any],
) -> None:
    given = settings(demo=source)

    with pytest.raises(ConfigError) as caught:
        language(given, "demo")
    assert "demo" in caught.value.message
    assert language(given, "go").name == "Go"


@pytest.mark.parametrize("name", ["..", "a/b", "Go", "all", "", "-x", "a" * 65])
def test_a_name_that_could_be_a_path_or_means_something_else_is_refused(
    name: str,
) -> None:
    with pytest.raises(ConfigError):
        names(settings(**{name: {"strategy": "local", "path": "x"}}))


def test_every_key_of_a_source_is_documented() -> None:
    from test_docs import read

    page = read("docs/specs.md")
    keys = {
        *SpecDocumentSettings.__struct_fields__,
        *SpecLanguageSettings.__struct_fields__,
    }

    assert {key for key in keys if f"`{key}`" not in page} == set()

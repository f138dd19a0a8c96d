"""The commands on a project with vectors, and on one that cannot have them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from models import without_japanese

from ubp.cli import main
from ubp.dictionary import lookup
from ubp.embedding import japanese

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("models")]


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str

    @property
    def value(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    (tmp_path / "docs").mkdir()
    text = "Feed the sourdough starter with flour and water before baking bread."
    for name in ("a", "b"):
        (tmp_path / f"docs/{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "docs/鍵.md").write_text("鍵は金庫にあります。", encoding="utf-8")

    def run_command(*arguments: str, settings: str | None = None) -> Done:
        if settings is not None:
            (tmp_path / "ubp.toml").write_text(settings, encoding="utf-8")
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--root", str(tmp_path)])
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, capsys.readouterr().out)

    return run_command


def test_a_project_is_found_by_meaning_after_one_command(run: Run) -> None:
    # Each page is a section of the docs and a passage of the notes.
    assert "6 sections given vectors" in run("index").out
    assert "(hybrid)" in run("search", "making dough rise").out
    assert "(hybrid)" in run("search", "鍵").out

    progress = run("status", "--json").value["embedding_progress"]
    assert (progress["completed"], progress["total"]) == (6, 6)
    assert progress["unknown_language"] == 0
    assert "6 of 6" in run("status").out


def test_links_are_suggested_for_people_and_programs(run: Run) -> None:
    run("index")

    assert "1 pair found" in run("suggest-links").out
    found = run("suggest-links", "--json", "--min-score", "0.9").value
    assert found["total"] == 1
    [one] = found["suggestions"]
    assert (one["source_filepath"], one["target_filepath"]) == ("a.md", "b.md")
    assert run("suggest-links", "--json", "--min-score", "2").value["total"] == 0


def test_a_model_that_is_not_there_is_told_and_words_still_find(run: Run) -> None:
    missing = '[embedding]\nmodel = "nowhere/model.gguf"\n'

    indexed = run("index", settings=missing)

    assert indexed.code == 0
    assert "No vectors were made" in indexed.out
    assert "ubp model use" in run("status").out
    doctor = run("doctor")
    assert doctor.code == 0
    assert "warn model" in doctor.out
    assert "a.md" in run("search", "sourdough").out


def test_another_dimension_than_expected_is_told_everywhere(run: Run) -> None:
    wrong = "[embedding]\ndimensions = 1024\n"

    assert "embedding.dimensions" in run("index", settings=wrong).out
    assert (
        "384, not 1024"
        in run("status", "--json").value["embedding_progress"]["problem"]
    )
    assert "embedding.dimensions" in run("doctor").out


def test_a_model_switched_off_leaves_words(run: Run) -> None:
    run("index")

    found = run("search", "bread", "--json", settings='[embedding]\nmodel = "none"\n')

    assert found.value["search_type"] == "fulltext_fallback"
    assert "switched off" in found.value["notice"]
    assert "switched off" in run("index").out
    assert "switched off (embedding.model) " in run("status").out


def test_the_doctor_makes_a_vector(run: Run) -> None:
    assert "ok   model: all-MiniLM-L6-v2" in run("doctor").out


@pytest.fixture
def _no_japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    without_japanese(monkeypatch, "pieces.model is damaged")


@pytest.mark.usefixtures("_no_japanese")
def test_without_its_japanese_the_default_works_in_english_and_says_what_to_do(
    run: Run,
) -> None:
    assert "4 sections given vectors" in run("index").out
    assert "(hybrid)" in run("search", "making dough rise").out
    assert "By words only" in run("search", "鍵").out

    progress = run("status", "--json").value["embedding_progress"]
    assert (progress["completed"], progress["unknown_language"]) == (4, 2)
    for command in (("status", "--json"), ("doctor", "--json"), ("model", "info")):
        told = run(*command).out.replace("\n", " ")
        assert "pieces.model is damaged" in told, command
        assert "Install ubp again" in told, command
    assert run("model", "list", "--json").value["models"][0]["languages"] == ["en"]


def test_model_info_shows_what_japanese_was_learnt(run: Run) -> None:
    learnt = run("model", "info", "--json").value["japanese"]

    assert learnt["problem"] is None
    assert learnt["rows"] == japanese.size().rows
    assert Path(learnt["card"]).is_file()
    assert "rank" in run("model", "info").out
    assert run("model", "info", "bge-m3", "--json").value["japanese"] is None


def test_a_damaged_dictionary_is_told_and_search_goes_on(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ok   dictionary: " in run("doctor").out
    monkeypatch.setattr(lookup, "_lines", lambda _: b"")

    run("index")

    assert run("search", "making dough rise", "--json").value["results"]
    for command in ("status", "doctor"):
        told = run(command, "--json").out.replace("\n", " ")
        assert "The dictionary is missing or damaged." in told, command
        assert "Install ubp again" in told, command

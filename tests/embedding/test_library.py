"""The library: files are found, made once, made again when damaged, and told apart."""

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from ubp.config import EmbeddingSettings, cache_folder
from ubp.embedding import conversion, library, placing, weights
from ubp.embedding.models import CATALOGUE, DEFAULT, Model, chosen, named
from ubp.errors import ConfigError, DownloadFailed, ModelMissing, ModelUnusable


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_spec", lambda _: None)


def local(path: Path) -> Model:
    model = chosen(EmbeddingSettings(model=str(path)), path.parent)
    assert model is not None
    return model


def test_the_default_is_made_on_first_use_and_found_afterwards(tmp_path: Path) -> None:
    said: list[str] = []
    assert library.find(DEFAULT, tmp_path) is None

    made = library.ready(DEFAULT, tmp_path, said.append)

    assert library.find(DEFAULT, tmp_path) == made
    assert library.ready(DEFAULT, tmp_path, said.append) == made
    assert len(said) == 1
    assert weights.tokenizer_file(tmp_path).parent == made.parent


def test_a_damaged_file_of_the_default_is_made_again(tmp_path: Path) -> None:
    made = library.ready(DEFAULT, tmp_path)
    whole = made.read_bytes()

    for damaged in (whole[:-1], b"", b"FUGG" + whole[4:]):
        made.write_bytes(damaged)
        assert library.find(DEFAULT, tmp_path) is None
    assert library.ready(DEFAULT, tmp_path).read_bytes() == whole


def test_a_damaged_tokenizer_is_put_there_again(tmp_path: Path) -> None:
    made = library.ready(DEFAULT, tmp_path)
    kept = made.with_name("tokenizer.json")
    whole = kept.read_bytes()

    for damaged in (whole[:1_000], whole.replace(b"the", b"teh")):
        kept.write_bytes(damaged)
        assert library.find(DEFAULT, tmp_path) is None
    library.ready(DEFAULT, tmp_path)
    assert kept.read_bytes() == whole


def test_two_at_once_both_succeed(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=20)
    made: list[Path] = []

    def make() -> None:
        made.append(library.ready(DEFAULT, tmp_path, lambda _: (both.wait(), None)[1]))

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made == [library.find(DEFAULT, tmp_path)] * 2
    hidden = [each for each in made[0].parent.iterdir() if each.name.startswith(".")]
    assert hidden == []


@pytest.mark.usefixtures("no_weights")
def test_without_weights_the_default_is_missing_and_the_hint_says_pull(
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelMissing) as missing:
        library.ready(DEFAULT, tmp_path)

    assert f"ubp model pull {DEFAULT.name}" in missing.value.hint
    with pytest.raises(ModelMissing):
        weights.tokenizer_file(tmp_path)


@pytest.mark.usefixtures("no_weights")
def test_damaged_weights_are_not_used(tmp_path: Path) -> None:
    place = tmp_path / DEFAULT.name
    place.mkdir()
    for name in weights.HASHES:
        (place / name).write_bytes(b"{}")

    with pytest.raises(ModelUnusable):
        library.ready(DEFAULT, tmp_path)


def test_no_room_on_the_disk_is_said_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "_SPARE", 1 << 60)

    with pytest.raises(DownloadFailed):
        library.ready(DEFAULT, tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    for folder in (tmp_path / "file", tmp_path / "no\0path"):
        with pytest.raises(ModelUnusable) as refused:
            library.ready(DEFAULT, folder)
        assert "models_dir" in refused.value.hint


def test_what_cannot_be_written_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "file", tmp_path / "no folder" / "file"):
        with pytest.raises(ModelUnusable):
            placing.copy(tmp_path / "no source", path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", CATALOGUE[1:], ids=lambda each: str(each.name))
def test_a_model_of_the_hub_is_found_where_it_belongs(
    model: Model, tmp_path: Path
) -> None:
    with pytest.raises(ModelMissing) as missing:
        library.ready(model, tmp_path)
    assert "ubp model" in missing.value.hint

    path = library.home(model, tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"GGUF and more")

    assert library.ready(model, tmp_path) == path


def test_a_local_file_is_used_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    with pytest.raises(ModelMissing):
        library.ready(local(path), tmp_path / "models")

    path.write_bytes(b"<html>")
    with pytest.raises(ModelUnusable):
        library.ready(local(path), tmp_path / "models")

    path.write_bytes(b"GGUF")
    assert library.ready(local(path), tmp_path / "models") == path


def test_identities_differ_with_whatever_makes_vectors_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF" + bytes(2_000_000))
    model = local(path)
    found = {library.identity(model, tmp_path)}

    for change in (
        replace(model, pooling="last"),
        replace(model, query_prefix="a"),
        replace(model, passage_prefix="a"),
        replace(model, window=128),
    ):
        found.add(library.identity(change, tmp_path))
    path.write_bytes(b"GGUF" + bytes(1_000_000) + b"x" * 100_000 + bytes(900_000))
    found.add(library.identity(model, tmp_path))
    path.write_bytes(b"GGUF" + bytes(1_999_999))
    found.add(library.identity(model, tmp_path))
    found.add(library.identity(DEFAULT, tmp_path))
    monkeypatch.setattr(conversion, "VERSION", conversion.VERSION + 1)
    found.add(library.identity(DEFAULT, tmp_path))

    assert len(found) == 9


def test_an_identity_stays_the_same_and_needs_no_file_of_the_default(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other"

    assert library.identity(DEFAULT, tmp_path) == library.identity(DEFAULT, other)
    languages = replace(DEFAULT, languages=("en", "ja"))
    assert library.identity(languages, other) == library.identity(DEFAULT, other)


def test_nobody_knows_the_identity_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    model = named("bge-m3")
    assert model is not None

    with pytest.raises(ModelMissing):
        library.identity(model, tmp_path)


def test_the_folder_is_the_one_in_the_settings_or_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    given = EmbeddingSettings(models_dir="models")

    assert library.folder_for(given, tmp_path) == tmp_path / "models"
    assert library.folder_for(EmbeddingSettings(), tmp_path) == cache_folder()
    assert cache_folder() == tmp_path / "cache/ubp/models"
    with pytest.raises(ConfigError):
        library.folder_for(EmbeddingSettings(models_dir="~no such user/x"), tmp_path)


@pytest.mark.parametrize("name", ["x" * 300 + ".gguf", "a\x00b.gguf", "folder.gguf"])
def test_a_path_that_can_be_no_file_is_a_model_that_is_missing(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder.gguf").mkdir()
    model = replace(DEFAULT, name="mine", path=str(tmp_path / name))

    assert library.find(model, tmp_path) is None
    with pytest.raises(ModelMissing):
        library.identity(model, tmp_path)
    settings = EmbeddingSettings(model="x" * 300 + ".gguf")
    assert "x" * 20 in (library.problem(settings, tmp_path) or "")

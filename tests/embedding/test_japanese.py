"""Japanese for the default model: pieces, rows, adapter, and what if they are damaged."""

import shutil
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import without_japanese
from published import published_model
from sentencepiece import SentencePieceProcessor
from strategies import anything, mixed

from ubp.config import EmbeddingSettings
from ubp.embedding import japanese, library, weights
from ubp.embedding.llama import Adapter, LlamaContext, LlamaModel
from ubp.embedding.models import DEFAULT, chosen
from ubp.embedding.tokens import Bilingual, WordPieces, pieces
from ubp.errors import ModelUnusable

WORDS = WordPieces(weights.tokenizer_file(Path("/nowhere")))
BOTH = Bilingual(WORDS, japanese.pieces_file())

ENGLISH = sorted(Path(__file__).parents[2].glob("docs/**/*.md"))
"""Real documents: our own. Some quote a little Japanese; those parts are left out."""


def paragraphs() -> list[str]:
    found = [
        part
        for path in ENGLISH
        for part in path.read_text(encoding="utf-8").split("\n\n")
        if part.strip()
    ]
    return [part for part in found if not any(sign >= "\u3000" for sign in part)]


def framed(text: str) -> list[int]:
    return pieces([], BOTH.ids(text), BOTH.frame, DEFAULT.window)[0]


# -- ids -------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \n", "\n  ", "\u200b", "\u00ad"])
def test_where_a_line_ends_makes_no_difference_to_japanese(end: str) -> None:
    whole = "貸出の期間は二週間です。延滞すると、次の予約ができません。"

    wrapped = end.join(whole[at : at + 7] for at in range(0, len(whole), 7))

    assert BOTH.ids(wrapped) == BOTH.ids(whole)


def test_paragraphs_and_words_apart_stay_apart() -> None:
    for between in ("\n\n", " ", "\n- "):
        joined = BOTH.ids(f"東京{between}都立")
        assert joined == [*BOTH.ids("東京"), *BOTH.ids(between), *BOTH.ids("都立")]


def test_real_english_has_the_ids_of_the_published_tokenizer() -> None:
    texts = paragraphs()

    assert len(texts) > 300
    for text in texts:
        assert BOTH.ids(text) == WORDS.ids(text)


@given(anything.filter(lambda text: not any(sign >= "\u3000" for sign in text)))
def test_any_text_without_kana_and_kanji_has_the_ids_it_had(text: str) -> None:
    assert BOTH.ids(text) == WORDS.ids(text)


@given(st.one_of(anything, mixed))
def test_any_text_has_ids_of_one_vocabulary(text: str) -> None:
    size = BOTH.first + japanese.size().rows

    assert all(0 <= each < size for each in BOTH.ids(text))


def test_japanese_runs_are_cut_into_japanese_pieces_and_the_rest_is_not() -> None:
    ids = BOTH.ids("SQLiteに保存する")

    assert ids[: len(WORDS.ids("SQLite"))] == WORDS.ids("SQLite")
    assert all(each >= BOTH.first for each in ids[len(WORDS.ids("SQLite")) :])
    assert len(ids) < len("SQLiteに保存する")


def test_voiced_kana_differ_from_unvoiced_ones() -> None:
    assert BOTH.ids("がぎぐ") != BOTH.ids("かきく")


@pytest.mark.parametrize("text", ["ﾃﾞｰﾀﾍﾞｰｽ", "テ\u3099ータヘ\u3099ース"])
def test_letters_of_any_width_and_composition_are_one(text: str) -> None:
    assert BOTH.ids(text) == BOTH.ids("データベース")


def test_full_width_latin_within_japanese_is_latin() -> None:
    assert BOTH.ids("ＳＱＬを使う") == BOTH.ids("SQLを使う")


def test_what_is_in_no_vocabulary_is_unknown() -> None:
    assert set(BOTH.ids("\u4e02")) <= BOTH.unknown  # a rare kanji
    assert not set(BOTH.ids("保存")) <= BOTH.unknown


# -- files -----------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "learnt"
    shutil.copytree(japanese.FOLDER, folder)
    return folder


def test_the_files_are_whole_and_small() -> None:
    assert japanese.fault() is None
    assert japanese.size().bytes < 10_000_000
    assert (japanese.FOLDER / japanese.CARD).is_file()


@pytest.mark.parametrize("name", ["pieces.model", "learnt.safetensors", "SHA256SUMS"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()

    assert name in (japanese.fault(copy) or "")
    assert japanese.digest(copy) is None


@pytest.mark.parametrize("name", ["pieces.model", "learnt.safetensors"])
def test_a_damaged_file_is_named(copy: Path, name: str) -> None:
    whole = (copy / name).read_bytes()
    (copy / name).write_bytes(whole[:-1])

    assert name in (japanese.fault(copy) or "")


@pytest.mark.parametrize("name", ["pieces.model", "learnt.safetensors", "SHA256SUMS"])
def test_files_that_go_or_change_under_a_running_program_are_noticed(
    copy: Path, name: str
) -> None:
    whole = (copy / name).read_bytes()
    digest = japanese.digest(copy)
    assert digest is not None

    (copy / name).write_bytes(whole + b"x")
    assert japanese.fault(copy) is not None
    (copy / name).unlink()
    assert name in (japanese.fault(copy) or "")
    assert japanese.digest(copy) is None

    (copy / name).write_bytes(whole)
    assert japanese.digest(copy) == digest


@pytest.mark.parametrize("content", ["", "no digest at all", "\n\n", "é"])
def test_damaged_sums_are_a_fault(copy: Path, content: str) -> None:
    (copy / "SHA256SUMS").write_text(content, encoding="utf-8")

    assert japanese.fault(copy) is not None


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Japanese, as with files that were lost."""
    without_japanese(monkeypatch, "pieces.model is missing")


@pytest.mark.usefixtures("without")
def test_without_the_files_the_default_is_what_was_published(tmp_path: Path) -> None:
    model = chosen(EmbeddingSettings(), tmp_path)
    assert model is not None
    path = library.ready(model, tmp_path)

    assert model.languages == ("en",)
    assert not library.adapter(path).exists()
    assert len(np.fromfile(library.rows(path), np.float16)) == WORDS.size * 384
    told = library.shortcoming(EmbeddingSettings(), tmp_path)
    assert told is not None
    assert "Install ubp again" in told


def test_with_them_it_knows_both_and_its_vectors_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = chosen(EmbeddingSettings(), tmp_path)
    assert model is not None
    assert model.languages == ("en", "ja")
    assert library.shortcoming(EmbeddingSettings(), tmp_path) is None
    identity = library.identity(DEFAULT, tmp_path)

    without_japanese(monkeypatch, "pieces.model is missing")

    assert library.identity(DEFAULT, tmp_path) != identity


def test_what_an_earlier_version_made_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / DEFAULT.name
    folder.mkdir()
    stem = f"{DEFAULT.name}-f16.v1"
    endings = (".gguf", ".d58c6226.gguf", ".d58c6226.adapter.gguf", ".d58c6226.size")
    earlier = [folder / f"{stem}{ending}" for ending in endings]
    for each in earlier:
        each.write_bytes(b"GGUF")
    (folder / f"{stem}.folder").mkdir()
    foreign = folder / "notes.txt"
    foreign.write_text("mine", encoding="utf-8")

    made = library.ready(DEFAULT, tmp_path)

    assert not any(each.exists() for each in earlier)
    assert foreign.exists()
    assert made.exists()
    assert library.adapter(made).exists()
    assert library.rows(made).exists()


@pytest.mark.parametrize("which", ["model", "rows", "adapter"])
def test_a_damaged_file_of_the_three_is_made_again(tmp_path: Path, which: str) -> None:
    made = library.ready(DEFAULT, tmp_path)
    damaged = {
        "model": made,
        "rows": library.rows(made),
        "adapter": library.adapter(made),
    }[which]
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1])

    assert library.find(DEFAULT, tmp_path) is None
    library.ready(DEFAULT, tmp_path)

    assert damaged.read_bytes() == whole


# -- vectors ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(models: Path) -> Path:
    return library.ready(DEFAULT, models)


@pytest.fixture(scope="module")
def context(made: Path) -> LlamaContext:
    adapter = Adapter(library.adapter(made), BOTH.first)
    rows = library.rows(made)
    return LlamaModel(made, DEFAULT.pooling, DEFAULT.window, adapter, rows).context(1)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> LlamaContext:
    """The model without anything of ours."""
    path = published_model(tmp_path_factory.mktemp("published") / "model.gguf")
    return LlamaModel(path, DEFAULT.pooling, DEFAULT.window).context(1)


def test_english_vectors_are_those_of_the_published_model_bit_for_bit(
    context: LlamaContext, published: LlamaContext
) -> None:
    texts = [framed(text) for text in paragraphs()[:60]]

    # With Japanese among them: the adapter is switched on in between.
    mixed_in = [*texts, framed("延滞した本を返却する")]
    ours = context.vectors(mixed_in)[:-1]

    assert np.array_equal(ours, published.vectors(texts))
    assert np.array_equal(context.vectors(texts), published.vectors(texts))


def test_a_japanese_vector_does_not_depend_on_what_is_computed_with_it(
    context: LlamaContext,
) -> None:
    text = framed("延滞した本を返却する")

    alone = context.vectors([text])[0]
    among = context.vectors([framed("A short one."), text, framed("Another.")])[1]

    assert alone @ among > 0.99999


PAIRS = (
    ("How do I delete a file?", "ファイルを削除するにはどうすればよいですか?"),
    ("The server does not start.", "サーバーが起動しません。"),
    ("Change the color of the text", "テキストの色を変更する"),
    ("Search the database", "データベースを検索する"),
    ("Connect to the network", "ネットワークに接続する"),
    ("The password is wrong.", "パスワードが間違っています。"),
)


def test_translations_find_each_other(context: LlamaContext) -> None:
    english = context.vectors([framed(text) for text, _ in PAIRS])
    japanese_ = context.vectors([framed(text) for _, text in PAIRS])
    likeness = japanese_ @ english.T

    assert list(likeness.argmax(axis=0)) == list(range(len(PAIRS)))
    assert list(likeness.argmax(axis=1)) == list(range(len(PAIRS)))


def test_something_that_is_no_adapter_is_refused(made: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.gguf"
    nothing.write_bytes(b"GGUF")

    for path in (nothing, made, tmp_path / "missing.gguf"):
        with pytest.raises(ModelUnusable):
            LlamaModel(made, DEFAULT.pooling, DEFAULT.window, Adapter(path, 1))


def test_the_pieces_are_normal_text() -> None:
    """What NFKC would change could never be found in normalised text."""
    pieces = SentencePieceProcessor(model_file=str(japanese.pieces_file()))
    found = [pieces.id_to_piece(number) for number in range(pieces.vocab_size())]
    changed = [p for p in found if unicodedata.normalize("NFKC", p) != p]

    assert len(changed) < len(found) / 100

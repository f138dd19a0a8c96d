"""The real model through llama.cpp: its vectors, and the files it refuses."""

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import WORDS, tiny_model
from numpy.typing import NDArray
from published import published_model

from ubp.embedding import library, weights
from ubp.embedding.llama import LlamaContext, LlamaModel, LlamaTokens
from ubp.embedding.models import DEFAULT
from ubp.embedding.tokens import WordPieces, pieces
from ubp.errors import ModelUnusable

Floats = NDArray[np.float32]

TEXTS = [
    "The kitten sleeps on the sofa.",
    "How to renew a library card",
    "SELECT count(*) FROM docs_page WHERE doc_type = 'adr';",
    "word " * 120,
    "x",
    "延滞した本",
    "Overdue loans are blocked until the book comes back. " * 8,
    "",
    "A short one.",
    "Another short one, a little longer.",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LlamaModel:
    """With its vocabulary in the file, as those of the hub have it."""
    path = published_model(tmp_path_factory.mktemp("published") / "model.gguf")
    return LlamaModel(path, DEFAULT.pooling, DEFAULT.window)


@pytest.fixture(scope="module")
def tokens(models: Path) -> WordPieces:
    return WordPieces(weights.tokenizer_file(models))


@pytest.fixture(scope="module")
def context(model: LlamaModel) -> LlamaContext:
    return model.context(1)


def framed(tokens: WordPieces, texts: Sequence[str]) -> list[list[int]]:
    """The first piece of each text, ready for the model."""
    return [
        pieces([], tokens.ids(text), tokens.frame, DEFAULT.window)[0] for text in texts
    ]


# -- vectors ---------------------------------------------------------------------------


def test_vectors_have_length_one_and_the_models_dimension(
    context: LlamaContext, tokens: WordPieces
) -> None:
    found = context.vectors(framed(tokens, TEXTS))

    assert found.shape == (len(TEXTS), DEFAULT.dimension)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_the_same_text_has_the_same_vector(
    context: LlamaContext, tokens: WordPieces
) -> None:
    ids = framed(tokens, [TEXTS[0]])

    assert np.array_equal(context.vectors(ids), context.vectors(ids))


def test_a_text_among_others_has_the_vector_it_has_alone(
    context: LlamaContext, tokens: WordPieces
) -> None:
    ids = framed(tokens, TEXTS * 2)

    together = context.vectors(ids)
    alone = np.concatenate([context.vectors([each]) for each in ids])

    assert (np.sum(together * alone, axis=1) > 0.9999).all()


def test_two_contexts_of_one_model_may_compute_at_once(
    model: LlamaModel, tokens: WordPieces
) -> None:
    ids = framed(tokens, TEXTS)
    contexts = [model.context(1), model.context(2)]
    expected = contexts[0].vectors(ids)

    def often(context: LlamaContext) -> list[Floats]:
        return [context.vectors(ids) for _ in range(3)]

    with ThreadPoolExecutor(2) as pool:
        found = [each for both in pool.map(often, contexts) for each in both]

    for each in found:
        assert (np.sum(each * expected, axis=1) > 0.9999).all()


def test_what_is_alike_in_meaning_is_close(
    context: LlamaContext, tokens: WordPieces
) -> None:
    texts = [
        "a kitten is playing",
        "the young cat plays",
        "the car needs new tyres",
        "how to change a wheel of an automobile",
    ]

    kitten, cat, car, wheel = context.vectors(framed(tokens, texts))

    assert kitten @ cat > 0.6
    assert kitten @ cat > kitten @ car + 0.3
    assert car @ wheel > cat @ wheel + 0.2


def test_texts_as_long_as_the_window_are_computed(
    context: LlamaContext, tokens: WordPieces
) -> None:
    body = tokens.ids("word " * (DEFAULT.window - 2))
    [full] = pieces([], body, tokens.frame, DEFAULT.window)
    assert len(full) == DEFAULT.window

    found = context.vectors([full, full, full[:3], full])

    assert found.shape == (4, DEFAULT.dimension)
    assert found[0] @ found[3] > 0.9999


def test_no_texts_have_no_vectors(context: LlamaContext) -> None:
    assert context.vectors([]).shape == (0, DEFAULT.dimension)


def test_the_window_is_never_more_than_the_model_was_trained_for(
    model: LlamaModel, tmp_path: Path
) -> None:
    tiny = LlamaModel(tiny_model(tmp_path / "tiny.gguf"), None, 512)

    assert model.window == DEFAULT.window
    assert (tiny.window, tiny.dimension) == (64, 32)
    assert len(tiny.context(1).vectors([[2, 5, 3]])[0]) == 32


def test_a_vector_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tiny_model(tmp_path / "nan.gguf", weight=float("nan"))
    context = LlamaModel(path, None, 64).context(1)

    with pytest.raises(ModelUnusable):
        context.vectors([[2, 5, 3]])


# -- tokens of the file ----------------------------------------------------------------


def test_the_files_own_tokenizer_agrees_with_the_published_one_in_english(
    model: LlamaModel, tokens: WordPieces
) -> None:
    own = model.tokens

    assert own.frame == tokens.frame
    for text in (*TEXTS, "Don't re-use x86_64; see https://example.com/?q=1 (e.g.)"):
        if text.isascii():
            assert own.ids(text) == tokens.ids(text)


def test_a_long_text_is_tokenized_whole(model: LlamaModel, tokens: WordPieces) -> None:
    text = "one two three " * 5_000

    assert model.tokens.ids(text) == tokens.ids(text)


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "\ufffe", "[CLS] [SEP]", " "])
def test_odd_text_is_still_text(model: LlamaModel, text: str) -> None:
    ids = model.tokens.ids(text)

    assert set(ids).isdisjoint({*model.tokens.frame.before, *model.tokens.frame.after})


def test_english_tokens_cannot_tell_voiced_kana(model: LlamaModel) -> None:
    assert not model.tokens.tells_voiced_kana()


def test_a_tiny_vocabulary_frames_its_texts(tmp_path: Path) -> None:
    tiny = LlamaModel(tiny_model(tmp_path / "tiny.gguf"), None, 64)

    found = LlamaTokens(tiny.vocabulary)

    assert found.frame.before == (2,)
    assert found.frame.after == (3,)
    assert found.ids(" ".join(WORDS)) == list(range(5, 5 + len(WORDS)))


# -- files it refuses ------------------------------------------------------------------

# In a process of its own: llama.cpp ends it where it does not like something.
ATTEMPT = """
import json, sys
from pathlib import Path
from ubp.embedding.llama import LlamaModel
from ubp.errors import ModelUnusable
try:
    LlamaModel(Path(sys.argv[1]), sys.argv[2] or None, 256).context(1)
    print(json.dumps(None))
except ModelUnusable as error:
    print(json.dumps([error.message, error.cause, error.hint]))
"""


def attempt(path: Path, pooling: str = "") -> Any:
    done = subprocess.run(
        [sys.executable, "-c", ATTEMPT, str(path), pooling],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_file_cut_short_is_refused_with_a_reason(
    models: Path, tmp_path: Path, share: float
) -> None:
    whole = library.ready(DEFAULT, models).read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: int(len(whole) * share)])

    message, cause, hint = attempt(path)

    assert "cut.gguf" in message
    assert len(cause) > 10
    assert "ubp model" in hint


@pytest.mark.slow
def test_a_file_that_is_no_gguf_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>Not found</html>" * 100, encoding="utf-8")

    message, cause, _ = attempt(path)

    assert "page.gguf" in message
    assert cause


@pytest.mark.slow
def test_the_cause_is_what_was_wrong_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>Not found</html>" * 100, encoding="utf-8")

    _, cause, _ = attempt(path)

    assert "magic" in cause


@pytest.mark.slow
def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    message, _, _ = attempt(tmp_path / "none.gguf")

    assert "none.gguf" in message


@pytest.mark.slow
def test_a_model_that_makes_no_vectors_is_refused_unless_told_how(
    tmp_path: Path,
) -> None:
    path = tiny_model(tmp_path / "chat.gguf", pooling=False)

    message, cause, hint = attempt(path)

    assert "not an embedding model" in message
    assert cause
    assert "embedding.pooling" in hint
    assert attempt(path, "mean") is None


@pytest.mark.slow
def test_a_file_that_is_overwritten_does_not_change_a_model_in_use(
    tmp_path: Path,
) -> None:
    path = tiny_model(tmp_path / "model.gguf")
    other = tiny_model(tmp_path / "other.gguf", seed=2)
    context = LlamaModel(path, None, 64).context(1)
    before = context.vectors([[2, 5, 6, 3]])

    with path.open("rb+") as file:  # in its place: the same file, other contents
        file.write(other.read_bytes())

    assert np.array_equal(context.vectors([[2, 5, 6, 3]]), before)


def test_a_file_without_a_vocabulary_cannot_cut_text(models: Path) -> None:
    layers = LlamaModel(library.ready(DEFAULT, models), None, 64)

    with pytest.raises(ModelUnusable):
        _ = layers.tokens

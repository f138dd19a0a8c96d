"""Conversion: the GGUF file holds what was published, tensor by tensor."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from published import published_weights
from safetensors import safe_open

from ubp.embedding import conversion, japanese


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "made.gguf"
    conversion.convert_layers(published_weights(), path)
    return path


@pytest.fixture(scope="module")
def reader(made: Path) -> gguf.GGUFReader:
    return gguf.GGUFReader(made)


def published(key: str) -> Any:
    with safe_open(published_weights() / "model.safetensors", framework="np") as file:
        return file.get_tensor(key)


def field(reader: gguf.GGUFReader, name: str) -> Any:
    found = reader.get_field(name)
    assert found is not None
    return found.contents()


def test_every_tensor_of_the_layers_is_there_with_its_values(
    reader: gguf.GGUFReader,
) -> None:
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, 6)
    made = {each.name: each.data for each in reader.tensors}

    with safe_open(published_weights() / "model.safetensors", framework="np") as file:
        kept = [key for key in file.keys() if "position_ids" not in key]  # noqa: SIM118
    for key in (key for key in kept if not key.startswith("pooler.")):
        tensor = published(key)
        name = names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert name is not None
        data = made.pop(name)
        if name != "token_embd.weight":
            assert np.array_equal(data, tensor.astype(data.dtype)), name

    assert made == {}


@pytest.mark.parametrize("learnt", [None, japanese.FOLDER])
def test_the_rows_are_those_published_and_those_learnt_behind_them(
    tmp_path: Path, learnt: Path | None
) -> None:
    path = tmp_path / "made.rows"

    conversion.convert_rows(published_weights(), path, learnt)

    made = np.fromfile(path, np.float16).reshape(-1, 384)
    words = published("embeddings.word_embeddings.weight")
    assert np.array_equal(made[: len(words)], words.astype(np.float16))
    more = np.empty((0, 384)) if learnt is None else japanese.rows()
    assert np.array_equal(made[len(words) :], more.astype(np.float16))


def test_what_llama_wants_in_full_is_in_full(reader: gguf.GGUFReader) -> None:
    kinds = {each.name: each.tensor_type.name for each in reader.tensors}

    for name, kind in (
        ("token_embd.weight", "F16"),
        ("blk.0.attn_q.weight", "F16"),
        ("blk.0.attn_q.bias", "F32"),
        ("position_embd.weight", "F32"),
        ("token_types.weight", "F32"),
        ("blk.5.layer_output_norm.weight", "F32"),
    ):
        assert kinds[name] == kind, name


def test_the_header_says_what_it_is(reader: gguf.GGUFReader) -> None:
    for name, value in (
        ("general.architecture", "bert"),
        ("general.license", "apache-2.0"),
        ("bert.block_count", 6),
        ("bert.context_length", 512),
        ("bert.embedding_length", 384),
        ("bert.attention.head_count", 12),
        ("bert.attention.causal", False),
        ("bert.pooling_type", gguf.PoolingType.MEAN),
    ):
        assert field(reader, name) == value, name


def test_llama_is_given_no_vocabulary_to_keep(reader: gguf.GGUFReader) -> None:
    words = next(each for each in reader.tensors if each.name == "token_embd.weight")

    assert len(words.data) == 1
    assert reader.get_field("tokenizer.ggml.tokens") is None


def test_nothing_is_left_behind_when_it_fails(tmp_path: Path) -> None:
    source = tmp_path / "weights"
    source.mkdir()
    (source / "config.json").write_text("{}", encoding="utf-8")

    with pytest.raises(KeyError):
        conversion.convert_layers(source, tmp_path / "made.gguf")

    assert [each.name for each in tmp_path.iterdir()] == ["weights"]

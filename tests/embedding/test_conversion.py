"""Conversion: the GGUF file holds what was published, tensor by tensor."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors import safe_open

from ubp.embedding import conversion, weights


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = weights.find(Path("/nowhere"))
    assert place is not None, "make setup installs the weights"
    path = tmp_path_factory.mktemp("model") / "made.gguf"
    conversion.convert(place, path)
    return path


@pytest.fixture(scope="module")
def reader(made: Path) -> gguf.GGUFReader:
    return gguf.GGUFReader(made)


def field(reader: gguf.GGUFReader, name: str) -> Any:
    found = reader.get_field(name)
    assert found is not None
    return found.contents()


def test_every_tensor_is_there_with_its_values(reader: gguf.GGUFReader) -> None:
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, 6)
    made = {each.name: each.data for each in reader.tensors}
    place = weights.find(Path("/nowhere"))
    assert place is not None

    with safe_open(place / "model.safetensors", framework="np") as published:
        kept = [key for key in published.keys() if "position_ids" not in key]  # noqa: SIM118
        kept = [key for key in kept if not key.startswith("pooler.")]
        for key in kept:
            tensor = published.get_tensor(key)
            name = names.get_name(key, try_suffixes=(".weight", ".bias"))
            assert name is not None
            data = made.pop(name)
            assert np.array_equal(data, tensor.astype(data.dtype)), name

    assert made == {}


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


def test_the_vocabulary_is_marked_as_llama_has_it(reader: gguf.GGUFReader) -> None:
    tokens = field(reader, "tokenizer.ggml.tokens")

    assert len(tokens) == 30_522
    assert tokens[101] == "[CLS]"
    assert "\N{LOWER ONE EIGHTH BLOCK}search" in tokens
    assert "ing" in tokens
    assert not any(token.startswith("##") and len(token) > 2 for token in tokens)
    assert field(reader, "tokenizer.ggml.bos_token_id") == 101
    assert field(reader, "tokenizer.ggml.seperator_token_id") == 102


def test_nothing_is_left_behind_when_it_fails(tmp_path: Path) -> None:
    source = tmp_path / "weights"
    source.mkdir()
    (source / "config.json").write_text("{}", encoding="utf-8")
    (source / "tokenizer.json").write_text("{}", encoding="utf-8")

    with pytest.raises(KeyError):
        conversion.convert(source, tmp_path / "made.gguf")

    assert [each.name for each in tmp_path.iterdir()] == ["weights"]

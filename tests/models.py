"""Embedding models for tests: the real default one, made once, and tiny made-up ones."""

from pathlib import Path

import gguf
import numpy as np
import pytest

from ubp.embedding import japanese
from ubp.messages import NoVector
from ubp.store.vector_blocks import Blocks

__all__ = (
    "OFF",
    "WORDS",
    "NoMeaning",
    "tiny_model",
    "without_japanese",
    "without_model",
)

OFF = '[embedding]\nmodel = "none"\n'
"""The settings of a project that is searched by words only."""

WORDS = ("cat", "dog", "tree", "river", "stone", "light", "house", "paper")
"""What a tiny model has in its vocabulary, beside the letters."""


class NoMeaning:
    """What a tool gets where nothing is embedded."""

    def __init__(self) -> None:
        self.blocks = Blocks()

    async def vector(self, text: str) -> NoVector:
        return NoVector(f"{len(text)} characters, and no model.")


def without_model(root: Path) -> None:
    """Have the project at *root* searched by words only."""
    settings = root / "ubp.toml"
    before = settings.read_text(encoding="utf-8") if settings.exists() else ""
    settings.write_text(before + OFF, encoding="utf-8")


def without_japanese(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Have the default model without what it learnt, because of *fault*."""
    monkeypatch.setattr(japanese, "_examined", lambda _: japanese._Verdict(fault))


def tiny_model(
    path: Path,
    *,
    dimension: int = 32,
    pooling: bool = True,
    seed: int = 1,
    weight: float = 0.2,
) -> Path:
    """A BERT of two layers with random weights; what it computes means nothing."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(path.stem)
    writer.add_block_count(2)
    writer.add_context_length(64)
    writer.add_embedding_length(dimension)
    writer.add_feed_forward_length(2 * dimension)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-12)
    writer.add_token_type_count(2)
    writer.add_causal_attention(value=False)
    if pooling:
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    size = _add_vocabulary(writer)
    _add_tensors(writer, size, dimension, np.random.default_rng(seed), weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: gguf.GGUFWriter) -> int:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,#"
    starts = [f"\N{LOWER ONE EIGHTH BLOCK}{each}" for each in [*WORDS, *letters]]
    tokens = [*special, *starts, *letters]
    kinds = [gguf.TokenType.CONTROL] * len(special)
    kinds += [gguf.TokenType.NORMAL] * (len(tokens) - len(special))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(3)
    writer.add_sep_token_id(3)
    writer.add_unk_token_id(1)
    writer.add_pad_token_id(0)
    writer.add_mask_token_id(4)
    return len(tokens)


def _add_tensors(
    writer: gguf.GGUFWriter,
    size: int,
    dimension: int,
    chance: np.random.Generator,
    weight: float,
) -> None:
    def add(name: str, *shape: int) -> None:
        values = weight * chance.normal(size=shape)
        writer.add_tensor(name, values.astype(np.float32))

    add("token_embd.weight", size, dimension)
    add("position_embd.weight", 64, dimension)
    add("token_types.weight", 2, dimension)
    add("token_embd_norm.weight", dimension)
    add("token_embd_norm.bias", dimension)
    for layer in range(2):
        block = f"blk.{layer}"
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"{block}.{part}.weight", dimension, dimension)
            add(f"{block}.{part}.bias", dimension)
        add(f"{block}.ffn_up.weight", 2 * dimension, dimension)
        add(f"{block}.ffn_up.bias", 2 * dimension)
        add(f"{block}.ffn_down.weight", dimension, 2 * dimension)
        add(f"{block}.ffn_down.bias", dimension)
        for norm in ("attn_output_norm", "layer_output_norm"):
            add(f"{block}.{norm}.weight", dimension)
            add(f"{block}.{norm}.bias", dimension)

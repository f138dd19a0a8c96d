"""The default model's weights, made into the GGUF files that llama.cpp loads.

Only what that one model needs: BERT with a WordPiece vocabulary, with the rows for
Japanese behind it, and the adapter in a file of its own. We hand llama.cpp token ids,
but the file carries the vocabulary too, so that other programs can use it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ubp.embedding import japanese
from ubp.embedding.models import DEFAULT
from ubp.embedding.placing import placing

if TYPE_CHECKING:
    import numpy as np
    from gguf import GGUFWriter

__all__ = ("VERSION", "convert", "convert_adapter")

VERSION = 1
"""Raised when the file would give other vectors than before."""

_WORD_START = "\N{LOWER ONE EIGHTH BLOCK}"
_WORDS = "embeddings.word_embeddings.weight"
_UNUSED = ("pooler.", "embeddings.position_ids")
"""Tensors that have no part in an embedding."""
_EXACT = ("position_embd", "token_types", "_norm")
"""Tensors llama.cpp wants in full, as it does every vector."""


def convert(weights: Path, to: Path, learnt: Path | None = None) -> None:
    """Make the GGUF file *to* from the published files in the folder *weights*.

    With *learnt*, the folder of what was learnt, the rows for Japanese are joined to
    the vocabulary.
    """
    import numpy as np

    config = msgspec.json.decode((weights / "config.json").read_bytes())
    tokenizer = msgspec.json.decode((weights / "tokenizer.json").read_bytes())
    width = config["hidden_size"]
    more = np.empty((0, width)) if learnt is None else japanese.rows(learnt)
    with _writing(to) as writer:
        _describe(writer, config)
        _add_vocabulary(writer, tokenizer, config["vocab_size"], len(more))
        _add_tensors(writer, weights, config["num_hidden_layers"], more)


def convert_adapter(to: Path, learnt: Path, layers: int = 6) -> None:
    """Make the GGUF file *to* of the adapter in the folder *learnt*."""
    from gguf import GGUFType, Keys

    corrections = list(japanese.corrections(learnt))
    name_of = _names(layers)
    with _writing(to) as writer:
        writer.add_type(GGUFType.ADAPTER)
        writer.add_string(Keys.Adapter.TYPE, "lora")
        # As much as the rank: what was learnt is added as it is.
        writer.add_float32(Keys.Adapter.LORA_ALPHA, float(len(corrections[0].down)))
        for each in corrections:
            name = name_of(f"{each.name}.weight")
            writer.add_tensor(f"{name}.lora_a", each.down)
            writer.add_tensor(f"{name}.lora_b", each.up)


@contextmanager
def _writing(to: Path) -> "Iterator[GGUFWriter]":
    """A GGUF file to be filled, which takes its place when it is complete."""
    from gguf import GGUFWriter

    with placing(to) as temporary:
        writer = GGUFWriter(temporary, "bert")
        try:
            yield writer
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
        finally:
            writer.close()


def _describe(writer: "GGUFWriter", config: dict[str, Any]) -> None:
    from gguf import GGML_QUANT_VERSION, LlamaFileType, PoolingType

    writer.add_name(DEFAULT.name)
    writer.add_license(DEFAULT.licence.lower())
    writer.add_file_type(LlamaFileType.MOSTLY_F16)
    writer.add_quantization_version(GGML_QUANT_VERSION)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_causal_attention(value=False)
    writer.add_pooling_type(PoolingType.MEAN)


def _add_vocabulary(
    writer: "GGUFWriter", tokenizer: dict[str, Any], size: int, more: int
) -> None:
    from gguf import TokenType

    special = {each["content"] for each in tokenizer["added_tokens"]}
    ids: dict[str, int] = tokenizer["model"]["vocab"]
    tokens = [f"[PAD{number}]" for number in range(size)]
    kinds = [TokenType.UNUSED] * size
    for piece, number in ids.items():
        tokens[number] = piece if piece in special else _as_llama_has_it(piece)
        kinds[number] = TokenType.CONTROL if piece in special else TokenType.NORMAL
    # Only we know how to cut Japanese text; for others these ids are out of reach.
    tokens += [f"[JA{number}]" for number in range(more)]
    kinds += [TokenType.UNUSED] * more
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(ids["[CLS]"])
    writer.add_eos_token_id(ids["[SEP]"])
    writer.add_sep_token_id(ids["[SEP]"])
    writer.add_unk_token_id(ids["[UNK]"])
    writer.add_pad_token_id(ids["[PAD]"])
    writer.add_mask_token_id(ids["[MASK]"])


def _as_llama_has_it(piece: str) -> str:
    """It marks the piece that begins a word, where BERT marks those that go on."""
    rest = piece.removeprefix("##")
    return rest if rest != piece else _WORD_START + piece


def _names(layers: int) -> Callable[[str], str]:
    """What llama.cpp calls the tensors that were published under other names."""
    from gguf import MODEL_ARCH, get_tensor_name_map

    names = get_tensor_name_map(MODEL_ARCH.BERT, layers)

    def name_of(key: str) -> str:
        name = names.get_name(key, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise KeyError(key)
        return name

    return name_of


def _add_tensors(
    writer: "GGUFWriter", weights: Path, layers: int, more: "np.ndarray[Any, Any]"
) -> None:
    import numpy as np

    name_of = _names(layers)
    for key, published in _tensors(weights / "model.safetensors"):
        name = name_of(key)
        tensor = np.concatenate((published, more)) if key == _WORDS else published
        exact = tensor.ndim == 1 or any(part in name for part in _EXACT)
        writer.add_tensor(name, tensor.astype(np.float32 if exact else np.float16))


def _tensors(path: Path) -> "Iterator[tuple[str, np.ndarray[Any, Any]]]":
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        for key in sorted(file.keys()):
            if not key.startswith(_UNUSED):
                yield key, file.get_tensor(key)

"""The default model's weights, made into the files that are loaded.

Only what that one model needs: the layers of a BERT as a GGUF; the rows of its
vocabulary, with those for Japanese behind them, in a file that is read row by row
(``word_rows``); and the adapter as a GGUF of its own. So llama.cpp is handed rows, not
ids, and its file has no vocabulary: of one it would take 60 MB more.
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

__all__ = ("VERSION", "convert_adapter", "convert_layers", "convert_rows")

VERSION = 1
"""Raised when the files would give other vectors than before."""

_WORDS = "embeddings.word_embeddings.weight"
_UNUSED = ("pooler.", "embeddings.position_ids")
"""Tensors that have no part in an embedding."""
_EXACT = ("position_embd", "token_types", "_norm")
"""Tensors llama.cpp wants in full, as it does every vector."""


def convert_layers(weights: Path, to: Path) -> None:
    """Make the GGUF file *to* of the layers, from the published files in *weights*."""
    config = msgspec.json.decode((weights / "config.json").read_bytes())
    with _writing(to) as writer:
        _describe(writer, config)
        # llama.cpp wants a vocabulary. One row of it is never asked for.
        writer.add_tokenizer_model("no_vocab")
        writer.add_vocab_size(1)
        _add_tensors(writer, weights, config["num_hidden_layers"])


def convert_rows(weights: Path, to: Path, learnt: Path | None = None) -> None:
    """Make the file *to* of the rows of the vocabulary, by their ids.

    With *learnt*, the folder of what was learnt, the rows for Japanese follow.
    """
    import numpy as np

    from ubp.embedding.word_rows import write_rows

    tensors = _tensors(weights / "model.safetensors")
    rows = next(tensor for key, tensor in tensors if key == _WORDS)
    if learnt is not None:
        rows = np.concatenate((rows, japanese.rows(learnt)))
    with placing(to) as temporary:
        write_rows(temporary, rows)


def convert_adapter(to: Path, learnt: Path, layers: int = 6) -> None:
    """Make the GGUF file *to* of the adapter in the folder *learnt*."""
    import numpy as np
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
            # In full: products this narrow take llama.cpp longer with halves.
            writer.add_tensor(f"{name}.lora_a", each.down.astype(np.float32))
            writer.add_tensor(f"{name}.lora_b", each.up.astype(np.float32))


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


def _add_tensors(writer: "GGUFWriter", weights: Path, layers: int) -> None:
    import numpy as np

    name_of = _names(layers)
    for key, published in _tensors(weights / "model.safetensors"):
        name = name_of(key)
        tensor = published[:1] if key == _WORDS else published
        exact = tensor.ndim == 1 or any(part in name for part in _EXACT)
        writer.add_tensor(name, tensor.astype(np.float32 if exact else np.float16))


def _tensors(path: Path) -> "Iterator[tuple[str, np.ndarray[Any, Any]]]":
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        for key in sorted(file.keys()):
            if not key.startswith(_UNUSED):
                yield key, file.get_tensor(key)

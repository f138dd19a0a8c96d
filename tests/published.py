"""The default model as others convert it: one GGUF, its vocabulary in it.

What ``ubp`` makes of the same weights must compute the same.
"""

import json
from pathlib import Path

import gguf
import numpy as np
from safetensors import safe_open

from ubp.embedding import weights

__all__ = ("published_model", "published_weights")

_NAMES = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, 6)


def published_weights() -> Path:
    """The folder of the weights as their package has them."""
    place = weights.find(Path("/nowhere"))
    assert place is not None, "make setup installs the weights"
    return place


def published_model(to: Path) -> Path:
    """Make the GGUF file *to*, ids in and vectors out, and return it."""
    place = published_weights()
    writer = gguf.GGUFWriter(to, "bert")
    writer.add_block_count(6)
    writer.add_context_length(512)
    writer.add_embedding_length(384)
    writer.add_feed_forward_length(1536)
    writer.add_head_count(12)
    writer.add_layer_norm_eps(1e-12)
    writer.add_token_type_count(2)
    writer.add_causal_attention(value=False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    _add_vocabulary(writer, place)
    with safe_open(place / "model.safetensors", framework="np") as file:
        for key in sorted(file.keys()):
            if key.startswith("pooler.") or key.endswith("position_ids"):
                continue
            name = _NAMES.get_name(key, try_suffixes=(".weight", ".bias"))
            assert name is not None
            tensor = file.get_tensor(key)
            in_full = tensor.ndim == 1 or "position" in name or "types" in name
            kind = np.float32 if in_full else np.float16
            writer.add_tensor(name, tensor.astype(kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return to


def _add_vocabulary(writer: gguf.GGUFWriter, place: Path) -> None:
    published = json.loads((place / "tokenizer.json").read_bytes())
    special = {each["content"] for each in published["added_tokens"]}
    ids: dict[str, int] = published["model"]["vocab"]
    pieces = sorted(ids, key=lambda piece: ids[piece])
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(
        [piece if piece in special else _as_llama_has_it(piece) for piece in pieces]
    )
    writer.add_token_types(
        [
            gguf.TokenType.CONTROL if piece in special else gguf.TokenType.NORMAL
            for piece in pieces
        ]
    )
    writer.add_bos_token_id(ids["[CLS]"])
    writer.add_eos_token_id(ids["[SEP]"])
    writer.add_sep_token_id(ids["[SEP]"])
    writer.add_unk_token_id(ids["[UNK]"])
    writer.add_pad_token_id(ids["[PAD]"])
    writer.add_mask_token_id(ids["[MASK]"])


def _as_llama_has_it(piece: str) -> str:
    rest = piece.removeprefix("##")
    return rest if rest != piece else f"\N{LOWER ONE EIGHTH BLOCK}{piece}"

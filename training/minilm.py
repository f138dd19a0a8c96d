"""all-MiniLM-L6-v2 in JAX: published weights, the forward pass, batches by length."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file

__all__ = (
    "BUCKETS",
    "CLS",
    "ROWS",
    "SEP",
    "WIDTH",
    "WORDS",
    "Weights",
    "bucket",
    "embed",
    "forward",
    "load_weights",
    "padded",
)

Weights = Mapping[str, jax.Array]
Ids = Sequence[int]

WORDS = "embeddings.word_embeddings.weight"
ROWS = 30522
"""Rows of the English vocabulary; the new ones follow."""

WIDTH = 384
CLS, SEP = 101, 102
BUCKETS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192)
"""Lengths that batches are padded to, so that few programs are compiled."""

_LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12
_TOKENS_A_BATCH = 2048


def load_weights(model: Path) -> dict[str, jax.Array]:
    """The weights of a model folder, without the prefix some exports have."""
    tensors = load_file(model / "model.safetensors")
    return {
        name.removeprefix("bert."): jnp.asarray(tensor)
        for name, tensor in tensors.items()
        if tensor.dtype == np.float32
    }


def looked_up(weights: Weights, rows: jax.Array, ids: jax.Array) -> jax.Array:
    """Input embeddings: of the English table, or of the new rows behind it.

    Two lookups instead of one joined table: the table is large, and a gradient through
    it would be as large in every step.
    """
    known = weights[WORDS][jnp.minimum(ids, ROWS - 1)]
    new = rows[jnp.clip(ids - ROWS, 0, rows.shape[0] - 1)]
    return jnp.where((ids >= ROWS)[..., None], new, known)


def forward(
    weights: Weights, rows: jax.Array, ids: jax.Array, mask: jax.Array
) -> jax.Array:
    """Unit vectors of a batch, with ``rows`` behind the English vocabulary."""
    length = ids.shape[1]
    x = (
        looked_up(weights, rows, ids)
        + weights["embeddings.position_embeddings.weight"][:length]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = _normed(weights, "embeddings.LayerNorm", x)
    hidden = (1.0 - mask)[:, None, None, :] * -1e9
    for layer in range(_LAYERS):
        x = _layer(weights, f"encoder.layer.{layer}.", x, hidden)
    total = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return total / jnp.linalg.norm(total, axis=1, keepdims=True)


def _layer(weights: Weights, name: str, x: jax.Array, hidden: jax.Array) -> jax.Array:
    batch, length, _ = x.shape

    def heads(part: str) -> jax.Array:
        split = _linear(weights, f"{name}attention.self.{part}", x)
        return split.reshape(batch, length, _HEADS, -1).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / jnp.sqrt(float(query.shape[-1]))
    mixed = jax.nn.softmax(scores + hidden, axis=-1) @ value
    joined = mixed.transpose(0, 2, 1, 3).reshape(batch, length, -1)
    attended = _linear(weights, name + "attention.output.dense", joined)
    x = _normed(weights, name + "attention.output.LayerNorm", x + attended)
    inner = jax.nn.gelu(
        _linear(weights, name + "intermediate.dense", x), approximate=False
    )
    outer = _linear(weights, name + "output.dense", inner)
    return _normed(weights, name + "output.LayerNorm", x + outer)


def _linear(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def _normed(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    scaled = (x - mean) / jnp.sqrt(variance + _EPSILON)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def bucket(length: int) -> int:
    """The padded length for a text of so many tokens."""
    return next((size for size in BUCKETS if size >= length), BUCKETS[-1])


def padded(
    texts: Sequence[Ids], length: int, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask of a batch; rows beyond the texts are empty ones."""
    ids = np.zeros((rows, length), np.int32)
    mask = np.zeros((rows, length), np.float32)
    mask[:, 0] = 1
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return ids, mask


def embed(
    weights: Weights,
    rows: jax.Array | None,
    texts: Sequence[Ids],
    done: Callable[[int], None] = lambda _: None,
) -> np.ndarray:
    """Unit vectors of texts given as ids, in their order."""
    out = np.zeros((len(texts), WIDTH), np.float32)
    table = jnp.zeros((1, WIDTH)) if rows is None else rows
    for length, places in _by_length(texts):
        size = max(8, _TOKENS_A_BATCH // length)
        for start in range(0, len(places), size):
            part = places[start : start + size]
            ids, mask = padded([texts[place] for place in part], length, size)
            out[part] = np.asarray(_forward(weights, table, ids, mask))[: len(part)]
            done(len(part))
    return out


_forward = jax.jit(forward)


def _by_length(texts: Sequence[Ids]) -> Iterator[tuple[int, list[int]]]:
    places: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(bucket(len(text)), []).append(place)
    return iter(sorted(places.items()))

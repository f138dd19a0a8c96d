"""all-MiniLM-L6-v2 in JAX: published weights, the forward pass, batches by length."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file

from training.adapter import corrected

__all__ = (
    "BUCKETS",
    "CLS",
    "JA",
    "ROWS",
    "SEP",
    "WIDTH",
    "WORDS",
    "Learnt",
    "Weights",
    "bucket",
    "embed",
    "forward",
    "load_weights",
    "padded",
)

Weights = Mapping[str, jax.Array]
Learnt = Mapping[str, jax.Array]
"""What was learnt beside the weights: ``rows``, and the parts of the adapter."""
Ids = Sequence[int]

WORDS = "embeddings.word_embeddings.weight"
JA = "rows"
"""The name of the new rows in what was learnt."""

ROWS = 30522
"""Rows of the English vocabulary; the new ones follow."""

WIDTH = 384
CLS, SEP = 101, 102
BUCKETS = (16, 24, 32, 48, 64, 96, 128, 160, 192, 256)
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
    weights: Weights, learnt: Learnt, ids: jax.Array, mask: jax.Array
) -> jax.Array:
    """Unit vectors of a batch, by the weights and what was learnt beside them."""
    length = ids.shape[1]
    x = (
        looked_up(weights, learnt[JA], ids)
        + weights["embeddings.position_embeddings.weight"][:length]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = _normed(weights, "embeddings.LayerNorm", x)
    hidden = (1.0 - mask)[:, None, None, :] * -1e9
    shape = x.shape
    # Flat, a row a token: gradients of products of two matrices are computed fast.
    x = x.reshape(-1, WIDTH)
    for layer in range(_LAYERS):
        x = _layer(weights, learnt, f"encoder.layer.{layer}.", x, hidden, length)
    x = x.reshape(shape)
    total = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return total / jnp.linalg.norm(total, axis=1, keepdims=True)


def _layer(
    weights: Weights,
    learnt: Learnt,
    name: str,
    x: jax.Array,
    hidden: jax.Array,
    length: int,
) -> jax.Array:
    def linear(part: str, x: jax.Array) -> jax.Array:
        y = x @ weights[f"{name}{part}.weight"].T + weights[f"{name}{part}.bias"]
        return corrected(learnt, name + part, x, y)

    def heads(part: str) -> jax.Array:
        split = linear(f"attention.self.{part}", x)
        return split.reshape(-1, length, _HEADS, WIDTH // _HEADS).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / jnp.sqrt(float(query.shape[-1]))
    mixed = jax.nn.softmax(scores + hidden, axis=-1) @ value
    joined = mixed.transpose(0, 2, 1, 3).reshape(-1, WIDTH)
    attended = linear("attention.output.dense", joined)
    x = _normed(weights, name + "attention.output.LayerNorm", x + attended)
    inner = jax.nn.gelu(linear("intermediate.dense", x), approximate=False)
    outer = linear("output.dense", inner)
    return _normed(weights, name + "output.LayerNorm", x + outer)


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
    learnt: Learnt | None,
    texts: Sequence[Ids],
    done: Callable[[int], None] = lambda _: None,
) -> np.ndarray:
    """Unit vectors of texts given as ids, in their order."""
    out = np.zeros((len(texts), WIDTH), np.float32)
    beside = {JA: jnp.zeros((1, WIDTH))} if learnt is None else learnt
    for length, places in _by_length(texts):
        size = max(8, _TOKENS_A_BATCH // length)
        for start in range(0, len(places), size):
            part = places[start : start + size]
            ids, mask = padded([texts[place] for place in part], length, size)
            out[part] = np.asarray(_forward(weights, beside, ids, mask))[: len(part)]
            done(len(part))
    return out


_forward = jax.jit(forward)


def _by_length(texts: Sequence[Ids]) -> Iterator[tuple[int, list[int]]]:
    places: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(bucket(len(text)), []).append(place)
    return iter(sorted(places.items()))

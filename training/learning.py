"""Rows: the input embeddings of the Japanese pieces, trained with the layers frozen.

The Japanese text of a pair is to get the vector that the untouched model gives to the
English one. A checkpoint is written every few minutes; a run that is started again goes
on where the last one was, with the same schedule.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

from training.batches import Batch, Sampling, passes
from training.minilm import WORDS, Weights, forward, load_weights, padded
from training.pairing import Pair, read_pairs
from training.progress import console, meter
from training.ridge import ridge_start
from training.teaching import taught
from training.tokens import Encoder

__all__ = ("SAMPLING", "Settings", "learn", "write_rows")

SAMPLING: Mapping[str, Sampling] = {
    "passage": Sampling(share=1.0, weight=1.0),
    "text": Sampling(share=1.0, weight=1.0),
    "message": Sampling(share=0.7, weight=1.0),
    "label": Sampling(share=0.4, weight=0.5),
    "word": Sampling(share=0.25, weight=0.3),
}
"""Words are many and easy: a part of them a pass is enough."""

_RATE = 2e-3
_WARM_UP = 100
_SECOND_MOMENT = 0.98
_SHARPNESS = 20.0
_CONTRAST = 0.5
"""Weight of telling translations apart, beside getting near to them."""

_ALIKE = 0.95
"""Targets nearer than this are not told apart: they may well mean the same."""

_POOL = 2048
"""Further English texts that a Japanese one is told apart from, beside its batch."""

_RIDGE_TOKENS = 64
_SMOOTH = 0.99


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How long and how: by time, or by steps where a run has to be repeatable."""

    minutes: float = 60.0
    steps: int | None = None
    seed: int = 0
    length: int = 160
    checkpoint_minutes: float = 3.0


@dataclass
class _State:
    """All that a run needs to go on."""

    rows: jax.Array
    moments: optax.OptState
    step: int = 0
    number: int = 0
    place: int = 0
    seconds: float = 0.0
    loss: float = 0.0
    nearness: float = 0.0


@dataclass(frozen=True)
class _Data:
    """The pairs that have a target, as ids."""

    ids: list[list[int]]
    target: np.ndarray
    vectors: np.ndarray
    shares: np.ndarray
    weights: np.ndarray
    counts: Counter[tuple[str, str]]


_Step = Callable[..., tuple[jax.Array, optax.OptState, jax.Array, jax.Array]]
"""One step: rows and moments before, a batch; rows and moments after, two figures."""


def learn(work: Path, model: Path, settings: Settings) -> None:
    """Train until the time or the steps are used up, then write ``rows.npz``."""
    weights, encoder = load_weights(model), Encoder(model, work / "ja.json")
    data = _load(work, encoder, settings.length)
    console.print(f"{len(data.ids):,} pairs with a target")
    optimizer = optax.adam(1.0, b2=_SECOND_MOMENT)
    state = _restored(work, optimizer)
    if state is None:
        start = jnp.asarray(_start(work, weights, encoder))
        state = _State(rows=start, moments=optimizer.init(start))
    else:
        console.print(
            f"going on at step {state.step:,}, {state.seconds / 60:.1f} minutes"
        )
    _train(work, weights, data, optimizer, state, settings)
    write_rows(work / "rows.npz", np.asarray(state.rows))
    _write_card(work, data, state, settings)


def write_rows(path: Path, rows: np.ndarray) -> None:
    """Write rows as the product reads them: ``ja``, half precision."""
    np.savez(path, ja=rows.astype(np.float16))


def _load(work: Path, encoder: Encoder, length: int) -> _Data:
    places, vectors = taught(work)
    pairs = [pair for pair in read_pairs(work) if pair.en in places]
    ids = []
    with meter("Japanese texts", len(pairs)) as shown:
        for pair in pairs:
            ids.append(encoder.encode(pair.ja, length))
            shown.advance()
    return _Data(
        ids,
        np.array([places[pair.en] for pair in pairs]),
        vectors,
        np.array([SAMPLING[pair.kind].share for pair in pairs]),
        np.array([SAMPLING[pair.kind].weight for pair in pairs], np.float32),
        Counter((_family(pair), pair.kind) for pair in pairs),
    )


def _family(pair: Pair) -> str:
    """Catalogues of programs are many; the card counts them as one source."""
    return "catalogues" if pair.source.startswith("mo/") else pair.source


def _start(work: Path, weights: Weights, encoder: Encoder) -> np.ndarray:
    path = work / "start.npy"
    if not path.exists():
        console.print("ridge start")
        pairs = [pair for pair in read_pairs(work) if pair.kind != "passage"]
        english = [encoder.english(pair.en)[:_RIDGE_TOKENS] for pair in pairs]
        japanese = [encoder.encode(pair.ja, _RIDGE_TOKENS)[1:-1] for pair in pairs]
        words = np.asarray(weights[WORDS])
        np.save(path, ridge_start(words, english, japanese, encoder.new_rows))
    return np.load(path)


def _train(
    work: Path,
    weights: Weights,
    data: _Data,
    optimizer: optax.GradientTransformation,
    state: _State,
    settings: Settings,
) -> None:
    step = _compiled(weights, optimizer)
    lengths = [len(ids) for ids in data.ids]
    total = float(settings.steps or settings.minutes * 60)
    saved = began = time.monotonic()
    before = state.seconds
    with meter("steps" if settings.steps else "seconds", total) as shown:
        while _used(state, settings) < 1:
            targets = data.vectors[data.target]
            batches = passes(lengths, data.shares, targets, settings.seed, state.number)
            for batch in batches[state.place :]:
                used = _used(state, settings)
                if used >= 1:
                    break
                rate = _RATE * min(1.0, (state.step + 1) / _WARM_UP) * (1 - used)
                _one(step, data, batch, state, rate, settings.seed)
                state.seconds = before + time.monotonic() - began
                shown.reach(used * total, _note(state))
                if time.monotonic() - saved > settings.checkpoint_minutes * 60:
                    _save(work, state)
                    saved = time.monotonic()
            else:
                state.number, state.place = state.number + 1, 0
    _save(work, state)


def _used(state: _State, settings: Settings) -> float:
    """The share of the schedule that is behind; none at all is a ridge start alone."""
    if settings.steps is not None:
        return state.step / max(settings.steps, 1)
    return state.seconds / (settings.minutes * 60) if settings.minutes else 1.0


def _note(state: _State) -> str:
    seen = 1 - _SMOOTH**state.step
    return (
        f"step {state.step:,}, pass {state.number + 1},"
        f" loss {state.loss / seen:.4f}, cosine {state.nearness / seen:.4f}"
    )


def _one(
    step: _Step, data: _Data, batch: Batch, state: _State, rate: float, seed: int
) -> None:
    places = batch.places
    ids, mask = padded([data.ids[place] for place in places], batch.length, len(places))
    chance = np.random.default_rng((seed, 1, state.step))
    pool = data.vectors[chance.integers(0, len(data.vectors), _POOL)]
    targets = data.vectors[data.target[places]]
    state.rows, state.moments, loss, nearness = step(
        state.rows,
        state.moments,
        ids,
        mask,
        targets.astype(np.float32),
        pool.astype(np.float32),
        data.weights[places],
        rate,
    )
    state.step += 1
    state.place += 1
    state.loss = _SMOOTH * state.loss + (1 - _SMOOTH) * float(loss)
    state.nearness = _SMOOTH * state.nearness + (1 - _SMOOTH) * float(nearness)


def _compiled(weights: Weights, optimizer: optax.GradientTransformation) -> _Step:
    def loss(
        rows: jax.Array,
        ids: jax.Array,
        mask: jax.Array,
        targets: jax.Array,
        pool: jax.Array,
        share: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        vectors = forward(weights, rows, ids, mask)
        nearness = (vectors * targets).sum(1)
        others = jnp.concatenate([targets, pool])
        alike = targets @ others.T > _ALIKE
        itself = jnp.eye(len(targets), len(others), dtype=bool)
        scores = jnp.where(alike & ~itself, -1e9, vectors @ others.T * _SHARPNESS)
        labels = jnp.arange(len(targets))
        contrast = optax.softmax_cross_entropy_with_integer_labels(scores, labels)
        each = 2 * (1 - nearness) + _CONTRAST * contrast
        return (share * each).sum() / share.sum(), nearness.mean()

    @jax.jit
    def step(
        rows: jax.Array, moments: optax.OptState, *batch: jax.Array
    ) -> tuple[jax.Array, optax.OptState, jax.Array, jax.Array]:
        *inputs, rate = batch
        (value, nearness), slope = jax.value_and_grad(loss, has_aux=True)(rows, *inputs)
        change, moments = optimizer.update(slope, moments, rows)
        return rows + rate * change, moments, value, nearness

    return step


def _save(work: Path, state: _State) -> None:
    leaves = jax.tree.leaves(state.moments)
    partial = work / "checkpoint.part.npz"
    np.savez(
        partial,
        rows=np.asarray(state.rows),
        figures=np.array(
            [
                state.step,
                state.number,
                state.place,
                state.seconds,
                state.loss,
                state.nearness,
            ]
        ),
        **{f"moment{index}": np.asarray(leaf) for index, leaf in enumerate(leaves)},
    )
    partial.rename(work / "checkpoint.npz")


def _restored(work: Path, optimizer: optax.GradientTransformation) -> _State | None:
    path = work / "checkpoint.npz"
    if not path.exists():
        return None
    with np.load(path) as kept:
        rows = jnp.asarray(kept["rows"])
        shape = jax.tree.structure(optimizer.init(rows))
        leaves = [jnp.asarray(kept[f"moment{i}"]) for i in range(shape.num_leaves)]
        step, number, place, seconds, loss, nearness = kept["figures"]
    return _State(
        rows=rows,
        moments=jax.tree.unflatten(shape, leaves),
        step=int(step),
        number=int(number),
        place=int(place),
        seconds=float(seconds),
        loss=float(loss),
        nearness=float(nearness),
    )


def _write_card(work: Path, data: _Data, state: _State, settings: Settings) -> None:
    seen = 1 - _SMOOTH ** max(state.step, 1)
    card = {
        "base": "sentence-transformers/all-MiniLM-L6-v2",
        "rows": list(state.rows.shape),
        "seed": settings.seed,
        "steps": state.step,
        "passes": state.number,
        "minutes": round(state.seconds / 60, 1),
        "tokens": settings.length,
        "loss": round(state.loss / seen, 4),
        "cosine": round(state.nearness / seen, 4),
        "pairs": sum(data.counts.values()),
        "pairs_by_source": _nested(data.counts),
        "sampling": {
            kind: {"share": how.share, "weight": how.weight}
            for kind, how in SAMPLING.items()
        },
    }
    (work / "card.json").write_text(json.dumps(card, indent=1))


def _nested(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for (source, kind), count in sorted(counts.items()):
        table.setdefault(source, {})[kind] = count
    return table

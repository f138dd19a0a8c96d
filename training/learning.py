"""Learning: rows for the Japanese pieces, and an adapter for the frozen layers.

The Japanese text of a pair is to get the vector that the untouched model gives to the
English one. A checkpoint is written every few minutes; a run that is started again goes
on where the last one was, with the same schedule.
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

from training.adapter import RANK, blank_adapter, grown, rank_of
from training.batches import Batch, passes
from training.digests import digest_of
from training.exporting import FILE, PIECES, read_learnt, write_learnt
from training.lessons import SAMPLING, Lessons, read_lessons
from training.minilm import (
    JA,
    WORDS,
    Learnt,
    Weights,
    forward,
    load_weights,
    padded,
)
from training.pairing import PAIRS, PARTS, read_pairs
from training.progress import console, meter
from training.refusing import Refused
from training.ridge import ridge_start
from training.teaching import teach
from training.tokens import Encoder

__all__ = ("Settings", "learn")

_RATES = {JA: 2e-3}
_ADAPTER_RATE = 1e-3
_AGAIN = 0.5
"""What was trained before is changed by so much less."""

_WARM_UP = 100
_SECOND_MOMENT = 0.98
_SHARPNESS = 20.0
_CONTRAST = 0.5
"""Weight of telling translations apart, beside getting near to them."""

_REVERSE = 0.25
"""Weight of the same the other way round: an English text among Japanese ones."""

_ANSWERING = 0.5
"""Weight of telling the part of a page that answers a question from others."""

_ALIKE = 0.95
"""Targets nearer than this are not told apart: they may well mean the same."""

_POOL = 2048
"""Further English texts that a Japanese one is told apart from, beside its batch. As
many parts of pages are those that a question is not answered by."""

_RIDGE_TOKENS = 64
_CHECKPOINT = "checkpoint.npz"
_SMOOTH = 0.99


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How long and how: by time, or by steps where a run has to be repeatable."""

    minutes: float = 60.0
    steps: int | None = None
    seed: int = 0
    length: int = 192
    checkpoint_minutes: float = 3.0
    most: int | None = None
    """Sentences to learn from, and fewer of the rest; all without a number."""
    start: Path | None = None
    """A folder with what was learnt before; without one, a ridge start."""


@dataclass
class _State:
    """All that a run needs to go on."""

    learnt: dict[str, jax.Array]
    moments: optax.OptState
    step: int = 0
    number: int = 0
    place: int = 0
    seconds: float = 0.0
    loss: float = 0.0
    nearness: float = 0.0


_Step = Callable[..., tuple[dict[str, jax.Array], optax.OptState, jax.Array, jax.Array]]
"""One step: what is learnt and moments before, a batch; both after, two figures."""


def learn(work: Path, model: Path, settings: Settings) -> None:
    """Train until the time or the steps are used up, then write what was learnt."""
    run = _run(work, settings)
    _check_checkpoint(work, run)
    # Rows belong to the pieces they were learnt for.
    if settings.start is not None and settings.start.resolve() != work.resolve():
        shutil.copyfile(settings.start / PIECES, work / PIECES)
    pieces = digest_of(work / PIECES)
    teach(work, model, settings.most)
    weights, encoder = load_weights(model), Encoder(model, work / PIECES)
    data = read_lessons(work, encoder, settings.length, settings.most)
    console.print(f"{len(data.ids):,} pairs")
    optimizer = optax.adam(1.0, b2=_SECOND_MOMENT)
    state = _restored(work, optimizer)
    if state is None:
        start = _start(work, weights, encoder, settings)
        state = _State(learnt=start, moments=optimizer.init(start))
    else:
        console.print(
            f"going on at step {state.step:,}, {state.seconds / 60:.1f} minutes"
        )
    _train(work, weights, data, optimizer, state, settings, run)
    if digest_of(work / PIECES) != pieces:
        raise Refused("The pieces were exchanged while rows for them were learnt.")
    learnt = {key: np.asarray(it) for key, it in state.learnt.items()}
    write_learnt(work, learnt, pieces)
    _write_card(work, data, state, settings)


def _start(
    work: Path, weights: Weights, encoder: Encoder, settings: Settings
) -> dict[str, jax.Array]:
    learnt = blank_adapter(weights, settings.seed)
    if settings.start is None:
        learnt[JA] = _ridge(work, weights, encoder)
    else:
        learnt = grown(read_learnt(settings.start), learnt)
    return {key: jnp.asarray(value) for key, value in learnt.items()}


def _ridge(work: Path, weights: Weights, encoder: Encoder) -> np.ndarray:
    made_of = digest_of(work / PIECES), digest_of(work / PAIRS)
    path = work / f"start.{'.'.join(digest[:8] for digest in made_of)}.npy"
    if not path.exists():
        console.print("ridge start")
        pairs = [pair for pair in read_pairs(work) if pair.kind not in PARTS]
        english = [encoder.english(pair.en)[:_RIDGE_TOKENS] for pair in pairs]
        japanese = [encoder.encode(pair.ja, _RIDGE_TOKENS)[1:-1] for pair in pairs]
        words = np.asarray(weights[WORDS])
        np.save(path, ridge_start(words, english, japanese, encoder.new_rows))
    return np.load(path)


def _train(
    work: Path,
    weights: Weights,
    data: Lessons,
    optimizer: optax.GradientTransformation,
    state: _State,
    settings: Settings,
    run: str,
) -> None:
    known = read_learnt(settings.start).keys() if settings.start else ()
    rates = {
        key: _RATES.get(key, _ADAPTER_RATE) * (_AGAIN if key in known else 1.0)
        for key in state.learnt
    }
    step = _compiled(weights, optimizer, rates)
    lengths = [len(ids) for ids in data.ids]
    near = data.vectors[data.target]
    total = float(settings.steps or settings.minutes * 60)
    saved = began = time.monotonic()
    before = state.seconds
    with meter("steps" if settings.steps else "seconds", total) as shown:
        while _used(state, settings) < 1:
            batches = passes(lengths, data.shares, near, settings.seed, state.number)
            for batch in batches[state.place :]:
                used = _used(state, settings)
                if used >= 1:
                    break
                rate = min(1.0, (state.step + 1) / _WARM_UP) * (1 - used)
                _one(step, data, batch, state, rate, settings.seed)
                state.seconds = before + time.monotonic() - began
                shown.reach(used * total, _note(state))
                if time.monotonic() - saved > settings.checkpoint_minutes * 60:
                    _save(work, state, run)
                    saved = time.monotonic()
            else:
                state.number, state.place = state.number + 1, 0
    _save(work, state, run)


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
    step: _Step, data: Lessons, batch: Batch, state: _State, rate: float, seed: int
) -> None:
    places = batch.places
    ids, mask = padded([data.ids[place] for place in places], batch.length, len(places))
    chance = np.random.default_rng((seed, 1, state.step))
    everything = np.arange(len(data.vectors))
    pool = data.vectors[chance.choice(everything, _POOL)]
    parts = data.parts if len(data.parts) else everything
    others = parts[chance.integers(0, len(parts), _POOL)]
    own, partner = data.target[places], data.partner(places, chance)
    asking = data.asking[places]
    questions = np.where(asking, own, partner)
    answers = np.concatenate([np.where(asking, partner, own), others])
    state.learnt, state.moments, loss, nearness = step(
        state.learnt,
        state.moments,
        ids,
        mask,
        data.vectors[own].astype(np.float32),
        pool.astype(np.float32),
        data.weights[places],
        data.vectors[partner].astype(np.float32),
        data.has_partner(places),
        asking,
        data.vectors[others].astype(np.float32),
        data.answered(questions, answers),
        rate,
    )
    state.step += 1
    state.place += 1
    state.loss = _SMOOTH * state.loss + (1 - _SMOOTH) * float(loss)
    state.nearness = _SMOOTH * state.nearness + (1 - _SMOOTH) * float(nearness)


def _compiled(
    weights: Weights,
    optimizer: optax.GradientTransformation,
    rates: Mapping[str, float],
) -> _Step:
    def loss(
        learnt: Learnt,
        ids: jax.Array,
        mask: jax.Array,
        targets: jax.Array,
        pool: jax.Array,
        share: jax.Array,
        partner: jax.Array,
        has_partner: jax.Array,
        asking: jax.Array,
        parts: jax.Array,
        answered: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        vectors = forward(weights, learnt, ids, mask)
        nearness = (vectors * targets).sum(1)
        others = jnp.concatenate([targets, pool])
        # A Japanese question and the English part that answers it, or the reverse.
        asks = asking[:, None]
        question = jnp.where(asks, vectors, partner)
        answers = jnp.concatenate([jnp.where(asks, partner, vectors), parts])
        english = jnp.where(asks, partner, targets)
        likeness = english @ jnp.concatenate([english, parts]).T
        likeness = jnp.where(answered, 1.0, likeness)
        each = (
            2 * (1 - nearness)
            + _CONTRAST * _told_apart(vectors, others, targets @ others.T)
            + _REVERSE * _told_apart(targets, vectors, targets @ targets.T)
            + _ANSWERING * has_partner * _told_apart(question, answers, likeness)
        )
        return (share * each).sum() / share.sum(), nearness.mean()

    @jax.jit
    def step(
        learnt: dict[str, jax.Array], moments: optax.OptState, *batch: jax.Array
    ) -> tuple[dict[str, jax.Array], optax.OptState, jax.Array, jax.Array]:
        *inputs, rate = batch
        slopes = jax.value_and_grad(loss, has_aux=True)
        (value, nearness), slope = slopes(learnt, *inputs)
        change, moments = optimizer.update(slope, moments, learnt)
        after = {key: learnt[key] + rate * rates[key] * change[key] for key in learnt}
        return after, moments, value, nearness

    return step


def _told_apart(
    vectors: jax.Array, others: jax.Array, likeness: jax.Array
) -> jax.Array:
    """Cross-entropy of finding the own one of *others*, which is at the same place."""
    itself = jnp.eye(*likeness.shape, dtype=bool)
    alike = (likeness > _ALIKE) & ~itself
    scores = jnp.where(alike, -1e9, vectors @ others.T * _SHARPNESS)
    labels = jnp.arange(len(vectors))
    return optax.softmax_cross_entropy_with_integer_labels(scores, labels)


def _save(work: Path, state: _State, run: str) -> None:
    leaves = jax.tree.leaves(state.moments)
    partial = work / "checkpoint.part.npz"
    np.savez(
        partial,
        run=np.array(run),
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
        **{f"learnt.{key}": np.asarray(it) for key, it in state.learnt.items()},
    )
    partial.rename(work / _CHECKPOINT)


def _run(work: Path, settings: Settings) -> str:
    """What tells one run from another: all that decides what a step computes."""
    start = settings.start
    made_of = {
        "pieces": digest_of((start or work) / PIECES),
        "pairs": digest_of(work / PAIRS),
        "start": digest_of(start / FILE) if start else None,
        "rank": RANK,
        "seed": settings.seed,
        "length": settings.length,
        "most": settings.most,
    }
    return json.dumps(made_of, sort_keys=True)


def _check_checkpoint(work: Path, run: str) -> None:
    path = work / _CHECKPOINT
    if not path.exists():
        return
    with np.load(path) as kept:
        known = json.loads(str(kept["run"])) if "run" in kept else {}
    wanted = json.loads(run)
    other = [name for name in wanted if known.get(name, wanted) != wanted[name]]
    if other:
        raise Refused(
            f"{path} is of a run with other {', '.join(other)}."
            " To begin anew, delete it."
        )


def _restored(work: Path, optimizer: optax.GradientTransformation) -> _State | None:
    path = work / _CHECKPOINT
    if not path.exists():
        return None
    with np.load(path) as kept:
        learnt = {
            key.removeprefix("learnt."): jnp.asarray(kept[key])
            for key in kept.files
            if key.startswith("learnt.")
        }
        shape = jax.tree.structure(optimizer.init(learnt))
        leaves = [jnp.asarray(kept[f"moment{i}"]) for i in range(shape.num_leaves)]
        step, number, place, seconds, loss, nearness = kept["figures"]
    return _State(
        learnt=learnt,
        moments=jax.tree.unflatten(shape, leaves),
        step=int(step),
        number=int(number),
        place=int(place),
        seconds=float(seconds),
        loss=float(loss),
        nearness=float(nearness),
    )


def _write_card(work: Path, data: Lessons, state: _State, settings: Settings) -> None:
    seen = 1 - _SMOOTH ** max(state.step, 1)
    card = {
        "base": "sentence-transformers/all-MiniLM-L6-v2",
        "rows": list(state.learnt[JA].shape),
        "rank": rank_of(state.learnt),
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

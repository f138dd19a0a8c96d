"""Lessons: the pairs as ids, the vectors they are to get, and what answers what.

Questions that parts of pages answer are lessons of their own, and each side knows the
other, so that a question can be told which part answers it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.asking import questions_of
from training.batches import Sampling
from training.pairing import Pair
from training.progress import meter
from training.teaching import mixture, taught
from training.tokens import Encoder

__all__ = ("SAMPLING", "Lessons", "read_lessons")

SAMPLING: Mapping[str, Sampling] = {
    "passage": Sampling(share=0.5, weight=1.0),
    "section": Sampling(share=0.6, weight=1.0),
    "question": Sampling(share=0.4, weight=1.0),
    "text": Sampling(share=0.6, weight=1.0),
    "message": Sampling(share=0.5, weight=1.0),
    "label": Sampling(share=0.3, weight=0.5),
    "common": Sampling(share=0.5, weight=0.5),
    "word": Sampling(share=0.25, weight=0.3),
    "english": Sampling(share=1.0, weight=0.5),
}
"""Words are many and easy: a part of them a pass is enough, a larger one of those that
are common. Passages are long: half of them take as much time as all sentences.
``english`` is the English side once more, now as input: the adapter is to leave it
where it is."""

_ENGLISH_SHARE = 0.05


@dataclass(frozen=True)
class Lessons:
    """The pairs as ids, and the vectors of their English texts."""

    ids: list[list[int]]
    target: np.ndarray
    vectors: np.ndarray
    shares: np.ndarray
    weights: np.ndarray
    counts: Counter[tuple[str, str]]
    partners: list[list[int]]
    """Of each pair, the English texts that answer it, or that it answers."""
    answers: dict[int, list[int]]
    """Of each English question, the English texts that answer it."""
    asking: np.ndarray
    """Which pairs are questions."""
    parts: np.ndarray
    """The English texts that answer a question."""

    def partner(self, places: np.ndarray, chance: np.random.Generator) -> np.ndarray:
        """An English text that belongs to each pair; its own where nothing does."""
        return np.array(
            [
                some[chance.integers(len(some))] if some else self.target[place]
                for place in places
                for some in (self.partners[place],)
            ]
        )

    def has_partner(self, places: np.ndarray) -> np.ndarray:
        return np.array([bool(self.partners[place]) for place in places], np.float32)

    def answered(self, questions: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Whether each of the questions is answered by each of the parts."""
        return np.array([np.isin(parts, self.answers.get(q, ())) for q in questions])


def read_lessons(
    work: Path, encoder: Encoder, length: int, most: int | None
) -> Lessons:
    """The pairs of a folder, all or a mixture, and the vectors the teacher made."""
    shards, computed = taught(work)
    pairs = list(mixture(work, most))
    pairs += _english(pairs)
    questions = questions_of(pairs)
    asked = [[en for en, _ in pair.asks if en in questions] for pair in pairs]
    asked += [question.answers for question in questions.values()]
    pairs += [question.lesson for question in questions.values()]
    places = {en: at for at, en in enumerate(dict.fromkeys(p.en for p in pairs))}
    ids = []
    with meter("texts", len(pairs)) as shown:
        for pair in pairs:
            ids.append(encoder.encode(pair.ja, length))
            shown.advance()
    return Lessons(
        ids,
        np.array([places[pair.en] for pair in pairs]),
        computed[[shards[en] for en in places]],
        np.array([SAMPLING[pair.kind].share for pair in pairs]),
        np.array([SAMPLING[pair.kind].weight for pair in pairs], np.float32),
        Counter((_family(pair), pair.kind) for pair in pairs),
        [[places[en] for en in some] for some in asked],
        {
            places[question]: [places[en] for en in each.answers]
            for question, each in questions.items()
        },
        np.array([pair.kind == "question" for pair in pairs]),
        np.unique(
            [places[en] for each in questions.values() for en in each.answers]
        ).astype(np.int64),
    )


def _english(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Some English texts as their own translation."""
    for pair in pairs[: int(len(pairs) * _ENGLISH_SHARE)]:
        yield Pair(pair.en, pair.en, pair.source, "english")


def _family(pair: Pair) -> str:
    """Catalogues of programs are many; the card counts them as one source."""
    return "catalogues" if pair.source.startswith("mo/") else pair.source

"""Lessons: the pairs as ids, the vectors they are to get, and what answers what.

Parts of pages, which are passages and sections, come with questions they answer: first
sentences of their paragraphs. Those are lessons of their own, and each side knows the
other, so that a question can be told which part answers it. A passage and a section of
one page begin alike: then both are answers, and neither is held against the other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.batches import Sampling
from training.minilm import WIDTH
from training.pairing import Pair
from training.progress import meter
from training.teaching import LENGTH, mixture, taught
from training.tokens import Encoder

__all__ = ("SAMPLING", "Lessons", "read_lessons")

SAMPLING: Mapping[str, Sampling] = {
    "passage": Sampling(share=0.5, weight=1.0),
    "section": Sampling(share=0.6, weight=1.0),
    "question": Sampling(share=0.4, weight=1.0),
    "text": Sampling(share=1.0, weight=1.0),
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
    """The pairs as ids, and the vectors of their English texts as far as known."""

    ids: list[list[int]]
    english: list[list[int]]
    target: np.ndarray
    vectors: np.ndarray
    known: np.ndarray
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
    work: Path, model: Path, encoder: Encoder, length: int, most: int | None
) -> Lessons:
    """The pairs of a folder, all or a mixture, and what was computed of them."""
    shards, computed = taught(work)
    pairs = list(mixture(work, most))
    pairs += _english(pairs)
    questions = _questions(pairs)
    asked = [[en for en, _ in pair.asks if en in questions] for pair in pairs]
    asked += [answers for _, answers in questions.values()]
    pairs += [question for question, _ in questions.values()]
    places = {en: at for at, en in enumerate(dict.fromkeys(p.en for p in pairs))}
    known = np.array([en in shards for en in places])
    vectors = np.zeros((len(places), WIDTH), np.float16)
    vectors[known] = computed[[shards[en] for en in places if en in shards]]
    teacher = Encoder(model, None)
    english = [teacher.encode(en, LENGTH) for en in places]
    ids = []
    with meter("texts", len(pairs)) as shown:
        for pair in pairs:
            ids.append(encoder.encode(pair.ja, length))
            shown.advance()
    return Lessons(
        ids,
        english,
        np.array([places[pair.en] for pair in pairs]),
        vectors,
        known,
        np.array([SAMPLING[pair.kind].share for pair in pairs]),
        np.array([SAMPLING[pair.kind].weight for pair in pairs], np.float32),
        Counter((_family(pair), pair.kind) for pair in pairs),
        [[places[en] for en in some] for some in asked],
        {
            places[question.en]: [places[en] for en in answers]
            for question, answers in questions.values()
        },
        np.array([pair.kind == "question" for pair in pairs]),
        np.unique(
            [places[en] for _, answers in questions.values() for en in answers]
        ).astype(np.int64),
    )


def _english(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Some English texts as their own translation."""
    for pair in pairs[: int(len(pairs) * _ENGLISH_SHARE)]:
        yield Pair(pair.en, pair.en, pair.source, "english")


def _questions(pairs: Sequence[Pair]) -> dict[str, tuple[Pair, list[str]]]:
    """What is asked of the pairs: a lesson each, and the English texts that answer it.

    What several parts of a kind begin with is none: a notice, a line of navigation.
    """
    counts = Counter((en, pair.kind) for pair in pairs for en, _ in pair.asks)
    repeated = {en for (en, _), count in counts.items() if count > 1}
    found: dict[str, tuple[Pair, list[str]]] = {}
    for pair in pairs:
        for english, japanese in pair.asks:
            if english not in repeated:
                lesson = Pair(english, japanese, pair.source, "question")
                found.setdefault(english, (lesson, []))[1].append(pair.en)
    return found


def _family(pair: Pair) -> str:
    """Catalogues of programs are many; the card counts them as one source."""
    return "catalogues" if pair.source.startswith("mo/") else pair.source

"""Asking: what is asked of parts of pages, and which parts answer it.

A part comes with the first sentences of its paragraphs, which stand for questions. A
passage and a section of one page begin alike: then both are answers, and neither may be
held against the other. What several parts of a kind begin with is no question: it is a
notice, or a line of navigation.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from training.pairing import Pair

__all__ = ("Question", "questions_of")


@dataclass(frozen=True)
class Question:
    """A question in both languages, and the English texts of the parts it is for."""

    lesson: Pair
    answers: list[str] = field(default_factory=list)


def questions_of(pairs: Sequence[Pair]) -> dict[str, Question]:
    """What is asked of the pairs, by its English text."""
    counts = Counter((en, pair.kind) for pair in pairs for en, _ in pair.asks)
    repeated = {en for (en, _), count in counts.items() if count > 1}
    found: dict[str, Question] = {}
    for pair in pairs:
        for english, japanese in pair.asks:
            if english not in repeated:
                lesson = Pair(english, japanese, pair.source, "question")
                found.setdefault(english, Question(lesson)).answers.append(pair.en)
    return found

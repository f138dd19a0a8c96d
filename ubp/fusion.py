"""How the signals of a search become one score: a pure function, for all packs.

Each result has up to three signals between 0 and 1: how close it is in meaning (the
cosine of its vector and the query's), how well it fits the words, and how near it is to
other results in the graph of links.

Nobody can say beforehand whether words or vectors are to be trusted: a model knows
nothing of a name it has never read, and words nothing of a question that uses other
ones. But a model shows it: where nothing it knows is close, the closest is far. So

    trust   = 0 at *unrelated*, 1 at *related*, by the similarity of the closest result
    telling = 1 - 3 * common, and 0 at least
    words   = literal * (1 - abroad) + TRANSLATED * abroad
    weight  = alpha * (1 + words * (1 - 2 * telling)), and 1 at most
    doubt   = (1 - trust) / 2 * (1 - min(1, 2 * words) * (1 - telling))
    meaning = weight * (1 - doubt) * min(1, 2 * (1 - missing))
    near    = similarity / closest, and missing * words at least
    fit     = words; in another language, FOREIGN * √trust * abroad of the way to near
    score   = (1 - GRAPH) * (meaning * near + (1 - meaning) * fit) + GRAPH * proximity

*unrelated*, *related* and *literal* belong to the model and the language of the
question. *common* is the share of the other results that have nearly as many of the
words as the best one: words that everything has tell nothing. Where a model is weaker
than words that tell, *literal* lets them outweigh it, and it them where they do not.
*missing* is the share of sections that
have no vector, because they wait for it or because the model cannot read them: where
most have none, the closest of the others is no answer, and having none says nothing.
Across languages words match by a dictionary, which does not have every word; so in a
result in another language than the question nearness makes up for the lack of them: the
more, the more of what is close is *abroad*, and the more the model is to be trusted.
Where there is as much in one's own language, answers in that come first; where nothing
is close, the words that are there. Words that had to be translated, too, outweigh the
model where they tell.
All numbers were chosen by measurement on relevance sets; see docs/search-quality.md.
"""

import math
from collections.abc import Collection
from typing import NamedTuple

from ubp.languages import Language

__all__ = (
    "FOREIGN",
    "GRAPH",
    "Calibration",
    "Facts",
    "common",
    "score",
    "words_signal",
)

GRAPH = 0.05
"""The weight of links: enough to order what is equal, and to bring in neighbours."""

FOREIGN = 0.25
"""How far being near makes up for words that the dictionary did not find in another
language, where everything that is close is in that language and the model is sure."""

TRANSLATED = 0.3
"""What *literal* is for words that had to be translated."""

_COMMON = 3.0
"""Where a third of all has the words, they tell nothing."""

_DOUBTS = 2.0
"""Of a *literal* that outweighs the model by half, in full."""

_NEARLY = 0.5
"""Who has this share of the words that the best has, has nearly as many."""


class _Words(NamedTuple):
    """What the words' signal is made of."""

    share: float
    """What comes of being better than others; the rest comes of containing what was
    asked for."""
    steep: int
    """The power of that: half of the words are far less than half an answer."""


_WORDS: dict[Language, _Words] = {
    "en": _Words(0.4, 6),
    # Looked for in pairs of characters, endings and particles among them, or through a
    # dictionary: even an answer has not all of them, and the best may have half.
    "ja": _Words(0.3, 2),
}


class Calibration(NamedTuple):
    """What similarities of a model mean; equal if that has not been measured."""

    unrelated: float
    """The best that can be expected where nothing fits."""
    related: float
    """Where the best result is this close, it is most likely an answer."""
    literal: float = 0.0
    """What words that tell take from the weight of meaning, and others add to it."""

    def trust(self, closest: float) -> float:
        """How far the model is to be trusted whose closest result is this close."""
        if self.related <= self.unrelated:
            return 0.5
        share = (closest - self.unrelated) / (self.related - self.unrelated)
        return min(1.0, max(0.0, share))

    def similarity(self, cosine: float) -> float:
        """A cosine on a scale that means the same for every model, 0 to 1.

        0.5 at *unrelated*, 0.9 at *related*, and in between and beyond them on the
        logistic curve through these two: it never stops rising, so no order is lost.
        Where nothing has been measured it is the cosine itself.
        """
        if self.related <= self.unrelated:
            return min(1.0, max(0.0, cosine))
        steep = math.log(9) / (self.related - self.unrelated)
        return 1 / (1 + math.exp(-steep * (cosine - self.unrelated)))


class Facts(NamedTuple):
    """What is known of a query before its results are compared."""

    alpha: float
    """The weight of meaning against words where the model is sure."""
    closest: float
    """The highest similarity there is; 0 without vectors."""
    calibration: Calibration
    missing: float = 0.0
    """The share of what is searched that has no vector."""
    abroad: float = 0.0
    """The share of what is close that is in another language than the question."""
    common: float = 0.0
    """The share of the other results that have nearly as many of the words as the best
    one."""

    @property
    def trust(self) -> float:
        """How far the model is to be trusted with this query."""
        return self.calibration.trust(self.closest)

    @property
    def meaning(self) -> float:
        """The weight of meaning against words for this query."""
        if self.closest <= 0:
            return 0.0
        present = min(1.0, 2 * (1 - self.missing))
        telling = max(0.0, 1 - _COMMON * self.common)
        own = self.calibration.literal * (1 - self.abroad)
        literal = own + TRANSLATED * self.abroad
        weight = min(1.0, self.alpha * (1 + literal * (1 - 2 * telling)))
        # Where words tell nothing, doubts about the model do not speak for them.
        spoken_for = 1 - min(1.0, _DOUBTS * literal) * (1 - telling)
        doubt = (1 - self.trust) / 2 * spoken_for
        return weight * (1 - doubt) * present


def common(coverages: Collection[float], total: int) -> float:
    """The share of *total* results that have nearly as many words as the best has.

    *coverages* are of those that have any; the best itself does not count.
    """
    least = _NEARLY * max(coverages, default=0.0)
    others = sum(each > least for each in coverages) - 1
    return max(0, others) / max(1, total - 1)


def words_signal(share: float, coverage: float, language: Language) -> float:
    """How well a result fits the words.

    *share* compares its BM25 score with the best one, *coverage* is the worth of the
    words it contains in that of all words asked for, *language* that of the question;
    Japanese as well where the words had to be translated.
    """
    words = _WORDS[language]
    return words.share * share + (1 - words.share) * coverage**words.steep


def score(
    facts: Facts,
    similarity: float,
    words: float,
    proximity: float,
    *,
    foreign: bool = False,
) -> float:
    """One number between 0 and 1; without vectors it is the words' signal.

    *foreign*: the result is in another language than the question.
    """
    if facts.closest <= 0:
        return words
    near = max(similarity / facts.closest, facts.missing * words)
    fit = words
    if foreign:
        share = FOREIGN * math.sqrt(facts.trust) * facts.abroad
        fit += share * max(0.0, near - words)
    text = facts.meaning * near + (1 - facts.meaning) * fit
    return (1 - GRAPH) * text + GRAPH * proximity

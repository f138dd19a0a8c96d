"""Whom do the trusted trust? EigenTrust over votes, and published reputation."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ("Trust", "Vote", "published", "trust")

Shares = npt.NDArray[np.float64]

_ALPHA = 0.1
"""How much of everybody's trust is given to everybody alike, in every round."""

_CONVERGED = 0.001
_MOST_ITERATIONS = 50
_APPROVAL, _DISAPPROVAL = 1.0, -0.5
_OWN_MERIT, _OF_OTHERS = 0.6, 0.4


class Vote(NamedTuple):
    """One agent's judgement of another's work."""

    voter: str
    target: str
    valid: bool


class Trust(NamedTuple):
    """Each agent's share of all trust; the shares sum to 1."""

    shares: Mapping[str, float]
    iterations: int
    converged: bool


def trust(votes: Iterable[Vote], most_iterations: int = _MOST_ITERATIONS) -> Trust:
    """What the votes say of everybody who cast or received one."""
    votes = list(votes)
    agents = sorted({name for vote in votes for name in (vote.voter, vote.target)})
    if not agents:
        return Trust({}, 0, converged=True)
    place = {name: number for number, name in enumerate(agents)}
    given: defaultdict[tuple[int, int], float] = defaultdict(float)
    for vote in votes:
        if vote.voter != vote.target:
            pair = place[vote.voter], place[vote.target]
            given[pair] += _APPROVAL if vote.valid else _DISAPPROVAL
    walk = _Walk(len(agents), {pair: of for pair, of in given.items() if of > 0})
    now = walk.start()
    for iteration in range(1, most_iterations + 1):
        then = walk.step(now)
        moved = float(np.abs(then - now).max())
        now = then
        if moved < _CONVERGED:
            return Trust(_by_name(agents, now), iteration, converged=True)
    return Trust(_by_name(agents, now), most_iterations, converged=False)


class _Walk:
    """Trust that flows along what agents gave each other."""

    def __init__(self, size: int, given: Mapping[tuple[int, int], float]) -> None:
        self._size = size
        self._from = np.array([pair[0] for pair in given], dtype=np.intp)
        self._to = np.array([pair[1] for pair in given], dtype=np.intp)
        self._given = np.array(list(given.values()), dtype=np.float64)
        rows = np.bincount(self._from, self._given, minlength=size)
        self._share = self._given / rows[self._from]
        self._gives_nothing = rows == 0

    def start(self) -> Shares:
        received = np.bincount(self._to, self._given, minlength=self._size)
        total = received.sum()
        return received / total if total > 0 else np.full(self._size, 1 / self._size)

    def step(self, now: Shares) -> Shares:
        passed = self._share * now[self._from]
        flow = np.bincount(self._to, passed, minlength=self._size)
        # Who trusts nobody in particular trusts everybody alike.
        spread = now[self._gives_nothing].sum() / self._size
        then: Shares = (1 - _ALPHA) * (flow + spread) + _ALPHA / self._size
        return then


def published(additive: float, agent: str, shares: Mapping[str, float]) -> float:
    """An agent's reputation from 0 to 1: what it did, and what others make of it."""
    own = min(1.0, max(0.0, additive))
    if not shares:
        return round(own, 4)
    others = shares.get(agent, 0.0) / max(shares.values())
    return round(_OWN_MERIT * own + _OF_OTHERS * others, 4)


def _by_name(agents: list[str], shares: Shares) -> dict[str, float]:
    return dict(zip(agents, map(float, shares), strict=True))

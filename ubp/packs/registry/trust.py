"""Whom do the trusted trust? EigenTrust over votes, and published reputation."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = ("Trust", "Vote", "published", "trust")

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
        moved = max(abs(a - b) for a, b in zip(then, now, strict=True))
        now = then
        if moved < _CONVERGED:
            return Trust(_by_name(agents, now), iteration, converged=True)
    return Trust(_by_name(agents, now), most_iterations, converged=False)


class _Walk:
    """Trust that flows along what agents gave each other."""

    def __init__(self, size: int, given: Mapping[tuple[int, int], float]) -> None:
        self._size = size
        self._given = given
        rows = [0.0] * size
        for (voter, _), amount in given.items():
            rows[voter] += amount
        self._shares = [
            (voter, target, amount / rows[voter])
            for (voter, target), amount in given.items()
        ]
        self._gives_nothing = [agent for agent in range(size) if rows[agent] == 0]

    def start(self) -> list[float]:
        received = [0.0] * self._size
        for (_, target), amount in self._given.items():
            received[target] += amount
        total = sum(received)
        if total == 0:
            return [1 / self._size] * self._size
        return [amount / total for amount in received]

    def step(self, now: Sequence[float]) -> list[float]:
        # Who trusts nobody in particular trusts everybody alike.
        spread = sum(now[agent] for agent in self._gives_nothing) / self._size
        everybody = (1 - _ALPHA) * spread + _ALPHA / self._size
        then = [everybody] * self._size
        for voter, target, share in self._shares:
            then[target] += (1 - _ALPHA) * share * now[voter]
        return then


def published(additive: float, agent: str, shares: Mapping[str, float]) -> float:
    """An agent's reputation from 0 to 1: what it did, and what others make of it."""
    own = min(1.0, max(0.0, additive))
    if not shares:
        return round(own, 4)
    others = shares.get(agent, 0.0) / max(shares.values())
    return round(_OWN_MERIT * own + _OF_OTHERS * others, 4)


def _by_name(agents: list[str], shares: list[float]) -> dict[str, float]:
    return dict(zip(agents, shares, strict=True))

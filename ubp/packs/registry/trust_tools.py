"""``kp_validate_unit`` and ``kp_reputation_query``: whom and what to trust."""

from typing import Annotated

import apsw
from msgspec import Meta, Struct

from ubp.packs.registry import queries, writes
from ubp.packs.registry.acting import thresholds_of, viewer
from ubp.packs.registry.queries import Viewer
from ubp.packs.registry.redaction import Redactor
from ubp.packs.registry.sanitising import sanitise
from ubp.packs.registry.standing import Status
from ubp.packs.registry.trust import published, trust
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("Reputation", "query_reputation", "reputation_of", "validate_unit")

_EARNED = {"skill": 0.1, "unit": 0.2, "validation": 0.05}
_REGISTRATION = 0.1
"""For the first thing an agent does."""

_MOST_HISTORY = 20

_REASONS = {
    "skill": "skill contributed",
    "unit": "knowledge unit contributed",
    "validation": "contribution of another agent validated",
}


class ValidateUnit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Say whether a skill or unit of another agent is right.

    A second judgement replaces the first; readers of the item see the feedback.
    """

    unit_id: Annotated[str, Meta(description="Its id")]
    valid: Annotated[bool, Meta(description="Right and useful")]
    feedback: (
        Annotated[
            str,
            Meta(max_length=4000, description="Why"),
        ]
        | None
    ) = None


class Validated(Struct, frozen=True, kw_only=True):
    """Where the item stands after the vote."""

    validated: bool
    positive: int
    negative: int
    quality_score: Annotated[float, Meta(ge=0, le=1)]
    status: Status


class QueryReputation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far an agent can be trusted, and why.

    What it contributed, and what others say; only what the asking agent may see
    counts.
    """

    agent_id: Annotated[str, Meta(description="kp:agent:name")]


class Change(Struct, frozen=True, kw_only=True):
    """Something that changed an agent's reputation."""

    timestamp: str
    delta: float
    reason: str


class Reputation(Struct, frozen=True, kw_only=True):
    """An agent's reputation, and the last of what it came of."""

    score: Annotated[float, Meta(ge=0, le=1)]
    contributions: int
    validations: int
    history: list[Change]


@tool("kp_validate_unit", Effect.CHANGE, slow_ms=200)
async def validate_unit(ctx: Context, args: ValidateUnit) -> Validated:
    feedback = args.feedback
    if feedback is not None:
        # Others will read it, as they read what is contributed.
        text = sanitise(feedback, thresholds_of(ctx.project)).text
        feedback = Redactor(identifiers=True).text(text)
    with phase("store"):
        stands = await ctx.db.write(
            writes.vote, viewer(), args.unit_id, valid=args.valid, feedback=feedback
        )
    return Validated(
        validated=True,
        positive=stands.positive,
        negative=stands.negative,
        quality_score=stands.quality,
        status=stands.status,
    )


@tool("kp_reputation_query", Effect.READ, slow_ms=200)
async def query_reputation(ctx: Context, args: QueryReputation) -> Reputation:
    with phase("query"):
        return await ctx.db.run(reputation_of, viewer(), args.agent_id)


def reputation_of(db: apsw.Connection, who: Viewer, agent: str) -> Reputation:
    """The reputation of *agent*, of what *who* may see."""
    merits = queries.merits(db, who, agent)
    changes = [
        Change(
            timestamp=merit.earned_at,
            delta=_EARNED[merit.reason],
            reason=_REASONS[merit.reason],
        )
        for merit in merits
    ]
    if changes:
        # Not stored: whoever may not see the first of them sees another as the first.
        first = changes[0].timestamp
        joined = Change(timestamp=first, delta=_REGISTRATION, reason="registration")
        changes.insert(0, joined)
    additive = sum(change.delta for change in changes)
    shares = trust(queries.votes(db, who)).shares
    return Reputation(
        score=published(additive, agent, shares),
        contributions=sum(merit.reason != "validation" for merit in merits),
        validations=sum(merit.reason == "validation" for merit in merits),
        history=changes[-_MOST_HISTORY:],
    )

"""``kp_contribute_skill`` and ``kp_contribute_knowledge``: share what worked."""

from functools import partial
from typing import Annotated, Any

import anyio.to_thread
import apsw
from msgspec import Meta, Struct

from ubp.messages import QueryVector
from ubp.packs.registry import queries, writes
from ubp.packs.registry.acting import thresholds_of, viewer
from ubp.packs.registry.contributions import (
    Contribution,
    skill_contribution,
    unit_contribution,
)
from ubp.packs.registry.queries import Viewer
from ubp.packs.registry.redaction import Redaction
from ubp.packs.registry.search import novelty
from ubp.packs.registry.unit_schema import Visibility, opens
from ubp.packs.registry.writes import Stored
from ubp.store.connection import lasting
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("contribute_knowledge", "contribute_skill", "store")

_COMPARED = 2_000
"""Characters of a trace that are compared with others: more than a model reads."""

WhoSees = Annotated[
    Visibility,
    Meta(description="Who may see it"),
]


class ContributeSkill(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Share a skill with other agents, or its new version.

    The same name again is a new version. It is checked, cleaned of HTML and
    secrets, and scored. Who may see it: only this agent (`private`), its
    organisation (`org`), or everybody (`network`); as the skill says unless given.
    """

    skill_md_content: Annotated[
        str,
        Meta(description="SKILL.md with name and description"),
    ]
    visibility: Annotated[
        Visibility | None,
        Meta(description="Who may see it"),
    ] = None


class ContributeKnowledge(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Share a reasoning trace, tool-call pattern or expert procedure.

    It is checked, cleaned of secrets and personal data, and scored. `id`,
    `@context` and `metadata.created_at` of the unit are filled in where they are
    missing. Who may see it: only this agent (`private`), its organisation (`org`),
    or everybody (`network`).
    """

    unit: Annotated[
        dict[str, Any],
        Meta(
            description="JSON-LD; `@type` ReasoningTrace, ToolCallPattern or ExpertSOP"
        ),
    ]
    visibility: WhoSees


class Contributed(Struct, frozen=True, kw_only=True):
    """What became of a contribution."""

    id: str
    quality_score: Annotated[float, Meta(ge=0, le=1)]
    warnings: list[str]
    redactions: list[Redaction]


@tool("kp_contribute_skill", Effect.CHANGE, slow_ms=500)
async def contribute_skill(ctx: Context, args: ContributeSkill) -> Contributed:
    with phase("check"):
        item = await anyio.to_thread.run_sync(
            skill_contribution,
            args.skill_md_content,
            args.visibility,
            thresholds_of(ctx.project),
        )
    return await _contributed(ctx, item)


@tool("kp_contribute_knowledge", Effect.CHANGE, slow_ms=500)
async def contribute_knowledge(ctx: Context, args: ContributeKnowledge) -> Contributed:
    with phase("check"):
        item = await anyio.to_thread.run_sync(
            unit_contribution,
            args.unit,
            args.visibility,
            viewer().agent,
            thresholds_of(ctx.project),
        )
    return await _contributed(ctx, item)


async def store(ctx: Context, item: Contribution) -> Stored:
    """Store *item* as the acting agent's, unless it is there as it is."""
    who = viewer()
    vector = await _vector(ctx, item, who)
    with phase("store"):
        function = partial(_store, item=item, who=who, vector=vector)
        return await ctx.db.write(function, ctx.meaning.blocks)


async def _contributed(ctx: Context, item: Contribution) -> Contributed:
    stored = await store(ctx, item)
    return Contributed(
        id=stored.ident,
        quality_score=stored.quality,
        warnings=[*item.warnings, *_on_visibility(item, stored)],
        redactions=item.redactions,
    )


def _on_visibility(item: Contribution, stored: Stored) -> list[str]:
    """Warnings where it is seen by more agents than before, or by fewer than meant.

    Whoever left the argument out, with a skill that says nothing, may not mean
    the former.
    """
    now, before = stored.visibility, stored.before
    warnings: list[str] = []
    if now == "org" and not viewer().org:
        said = "Nobody else sees it: KP_ORG_ID does not say of which organisation."
        warnings.append(said)
    elif before is not None and opens(before, now):
        said = f"It was visible to `{before}`, and is now visible to `{now}`."
        warnings.append(said)
    if stored.missing and now != item.visibility:
        many = stored.missing
        agents = "1 more agent confirms" if many == 1 else f"{many} more agents confirm"
        warnings.append(f"It is visible to `org` only, until {agents} it.")
    elif now != item.visibility:
        said = "It is visible to `org` only: everybody sees another item of its id."
        warnings.append(said)
    return warnings


async def _vector(ctx: Context, item: Contribution, who: Viewer) -> QueryVector | None:
    """What a trace is compared by, if there is anything to compare it with."""
    if item.kind != "ReasoningTrace":
        return None
    if not await ctx.db.run(queries.recent_traces, who):
        return None
    unit = item.unit
    told = [step.get("content", "") for step in unit["steps"]]
    text = "\n".join((unit["task"]["objective"], *told))[:_COMPARED]
    with phase("embed"):
        vector = await ctx.meaning.vector(text)
    return vector if isinstance(vector, QueryVector) else None


def _store(
    db: apsw.Connection,
    blocks: Blocks,
    *,
    item: Contribution,
    who: Viewer,
    vector: QueryVector | None,
) -> Stored:
    with lasting(db):
        novel = None
        if vector is not None:
            # Its own earlier version is nothing that it repeats.
            earlier = queries.item_of(db, who, item.ident) if item.ident else None
            own = earlier.row if earlier else None
            others = [row for row in queries.recent_traces(db, who) if row != own]
            novel = novelty(db, blocks, vector, others) if others else None
        return writes.contribute(db, item, who, novel)

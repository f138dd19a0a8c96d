"""``kp_search_skill`` and ``kp_search_knowledge``: find what worked for others."""

import re
from typing import Annotated, Any

import apsw
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ubp.messages import QueryVector
from ubp.packs.registry import queries
from ubp.packs.registry.acting import viewer
from ubp.packs.registry.queries import Filter, Item
from ubp.packs.registry.search import Question, find
from ubp.packs.registry.unit_schema import ID_PREFIXES, UnitKind
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import ArrayResult, Context, Effect, phase, tool

__all__ = ("search_knowledge", "search_skill", "shown_unit")

_VERSION_ONE = re.compile(r"v?1(?:\.\d+)*")

Quality = Annotated[float, Meta(ge=0, le=1)]
Query = Annotated[
    str,
    Meta(description="Any language; empty: the best"),
]


class SearchSkill(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find skills that agents shared.

    By meaning and words, the fittest first; those with less than `min_quality` only
    if they are one's own.
    """

    query: Query
    domain: Annotated[str | None, Meta(description="Only this")] = None
    tags: Annotated[list[str], Meta(description="Any of these")] = []
    min_quality: Annotated[
        float,
        Meta(ge=0, le=1, description="Least quality"),
    ] = 0.7
    limit: Annotated[int, Meta(ge=1, le=20, description="Most skills")] = 5


class SearchKnowledge(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find reasoning traces, tool-call patterns and procedures that agents shared.

    By meaning and words, the fittest first; those with less than `min_quality` only
    if they are one's own.
    """

    query: Query
    types: Annotated[
        list[UnitKind] | None,
        Meta(description="Only these"),
    ] = None
    domain: Annotated[
        str | None,
        Meta(description="Only this"),
    ] = None
    min_quality: Annotated[
        float,
        Meta(ge=0, le=1, description="Least quality"),
    ] = 0.75
    limit: Annotated[int, Meta(ge=1, le=10, description="Most units")] = 5
    schema_version: Annotated[
        str | None,
        Meta(description="Such as 1.0"),
    ] = None


class SkillHit(Struct, frozen=True, kw_only=True):
    """A skill that was found."""

    id: str
    name: str
    domain: str | None
    tags: list[str]
    quality_score: Quality
    content: str
    description: str
    version: str | None
    author: str | None
    visibility: str
    created_at: str
    updated_at: str


class UnitHit(Struct, frozen=True, kw_only=True):
    """A unit that was found; its content is the unit itself."""

    id: str
    type: str
    domain: str
    quality_score: Quality
    content: dict[str, Any]


Hidden = (
    Annotated[int, Meta(ge=1, description="In `_meta`: how many were not good enough.")]
    | UnsetType
)


class SkillHits(ArrayResult, frozen=True, kw_only=True):
    """The skills found, the fittest first."""

    result: list[SkillHit]
    hidden_by_min_quality: Hidden = UNSET

    def meta(self) -> dict[str, Any]:
        return _meta(self.hidden_by_min_quality)


class UnitHits(ArrayResult, frozen=True, kw_only=True):
    """The units found, the fittest first."""

    result: list[UnitHit]
    hidden_by_min_quality: Hidden = UNSET

    def meta(self) -> dict[str, Any]:
        return _meta(self.hidden_by_min_quality)


def _meta(hidden: int | UnsetType) -> dict[str, Any]:
    return {} if hidden is UNSET else {"hidden_by_min_quality": hidden}


@tool("kp_search_skill", Effect.READ, slow_ms=200)
async def search_skill(ctx: Context, args: SearchSkill) -> SkillHits:
    wanted = Filter(("skill",), args.domain, tuple(args.tags))
    question = await _question(ctx, args, wanted)
    with phase("query"):
        items, hidden = await ctx.db.run(_items, ctx.meaning.blocks, question)
    return SkillHits(
        result=[_skill_hit(item) for item in items],
        hidden_by_min_quality=hidden or UNSET,
    )


@tool("kp_search_knowledge", Effect.READ, slow_ms=200)
async def search_knowledge(ctx: Context, args: SearchKnowledge) -> UnitHits:
    version = args.schema_version
    if version is not None and not _VERSION_ONE.fullmatch(version.strip().lower()):
        return UnitHits(result=[])
    kinds = tuple(args.types or ID_PREFIXES)
    question = await _question(ctx, args, Filter(kinds, args.domain))
    with phase("query"):
        units, hidden = await ctx.db.run(_units, ctx.meaning.blocks, question)
    return UnitHits(
        result=[_unit_hit(item, content) for item, content in units],
        hidden_by_min_quality=hidden or UNSET,
    )


def shown_unit(item: Item, approving: list[str]) -> dict[str, Any]:
    """A unit as its readers get it: with those who approve of it now."""
    unit: dict[str, Any] = msgspec.json.decode(item.content)
    unit["metadata"]["validated_by"] = [_validator(agent) for agent in approving]
    return unit


def _validator(agent: str) -> str:
    return f"kp:validator:{agent.removeprefix('kp:agent:')}"


async def _question(
    ctx: Context, args: SearchSkill | SearchKnowledge, wanted: Filter
) -> Question:
    vector = None
    if args.query.strip():
        with phase("embed"):
            vector = await ctx.meaning.vector(args.query)
    return Question(
        text=args.query,
        vector=vector if isinstance(vector, QueryVector) else None,
        viewer=viewer(),
        wanted=wanted,
        least_quality=args.min_quality,
        limit=args.limit,
        alpha=ctx.project.settings.search.alpha,
    )


def _items(
    db: apsw.Connection, blocks: Blocks, question: Question
) -> tuple[list[Item], int]:
    found = find(db, blocks, question)
    items = queries.items(db, question.viewer, found.rows)
    return [items[row] for row in found.rows], found.hidden


def _units(
    db: apsw.Connection, blocks: Blocks, question: Question
) -> tuple[list[tuple[Item, dict[str, Any]]], int]:
    items, hidden = _items(db, blocks, question)
    approving = queries.validators(db, [item.row for item in items])
    shown = [(item, shown_unit(item, approving.get(item.row, []))) for item in items]
    return shown, hidden


def _skill_hit(item: Item) -> SkillHit:
    return SkillHit(
        id=item.ident,
        name=item.name,
        domain=item.domain,
        tags=item.details["tags"],
        quality_score=item.quality,
        content=item.content,
        description=item.details["description"],
        version=item.details["version"],
        author=item.details["author"],
        visibility=item.visibility,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _unit_hit(item: Item, content: dict[str, Any]) -> UnitHit:
    return UnitHit(
        id=item.ident,
        type=item.kind,
        domain=item.domain or "",
        quality_score=item.quality,
        content=content,
    )

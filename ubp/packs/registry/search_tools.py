"""``kp_search_skill`` and ``kp_search_knowledge``: find what worked for others."""

import re
from typing import Annotated, Any

import apsw
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ubp.amounts import MOST_BYTES_FOUND, size
from ubp.messages import QueryVector
from ubp.packs.registry import queries
from ubp.packs.registry.acting import viewer
from ubp.packs.registry.queries import Filter, Item
from ubp.packs.registry.search import Question, find
from ubp.packs.registry.shortening import LEVELS, shortened_text, shortened_unit
from ubp.packs.registry.unit_schema import ID_PREFIXES, UnitKind
from ubp.packs.registry.uris import uri
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import ArrayResult, Context, Effect, phase, tool

__all__ = ("search_knowledge", "search_skill", "shown_unit")

_VERSION_ONE = re.compile(r"v?1(?:\.\d+)*")

Quality = Annotated[float, Meta(ge=0, le=1)]
Query = Annotated[
    str,
    Meta(description="Any language"),
]


_USUAL_LIMIT = 5

MaxSize = Annotated[int, Meta(ge=1, description="Most bytes")] | None


class SearchSkill(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find skills that agents shared.

    By meaning and words, the fittest first, or the best if the query is empty;
    those with less than `min_quality` only if they are one's own. Contents are cut
    (`truncated`) to say them all in `max_size` bytes, 1,200 for each skill asked for
    (6,000 at least) unless given; the `uri` of a skill leads to all of it.
    """

    query: Query
    domain: Annotated[str | None, Meta(description="Only this")] = None
    tags: Annotated[list[str], Meta(description="Any of these")] = []
    min_quality: Annotated[
        float,
        Meta(ge=0, le=1, description="Least quality"),
    ] = 0.7
    limit: Annotated[int, Meta(ge=1, le=20, description="Most skills")] = 5
    max_size: MaxSize = None


class SearchKnowledge(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find reasoning traces, tool-call patterns and procedures that agents shared.

    By meaning and words, the fittest first; those with less than `min_quality` only
    if they are one's own. Contents are cut (`truncated`) to say them all in
    `max_size` bytes, 1,200 for each unit asked for (6,000 at least) unless given.
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
    max_size: MaxSize = None
    schema_version: Annotated[
        str | None,
        Meta(description="Such as 1.0"),
    ] = None


Truncated = Annotated[
    bool, Meta(description="Its content is cut; a larger max_size shows more.")
]


class SkillHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    uri: str
    truncated: Truncated = False


class UnitHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit that was found; its content is the unit itself."""

    id: str
    type: str
    domain: str
    quality_score: Quality
    content: dict[str, Any]
    truncated: Truncated = False


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
        result=_skills_within([_skill_hit(item) for item in items], _most_bytes(args)),
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
        result=_units_within(
            [_unit_hit(item, content) for item, content in units], _most_bytes(args)
        ),
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
        uri=uri(item.ident, item.name),
    )


def _unit_hit(item: Item, content: dict[str, Any]) -> UnitHit:
    return UnitHit(
        id=item.ident,
        type=item.kind,
        domain=item.domain or "",
        quality_score=item.quality,
        content=content,
    )


def _most_bytes(args: SearchSkill | SearchKnowledge) -> int:
    """How long the results may be; longer if more of them were asked for."""
    usual = MOST_BYTES_FOUND * max(args.limit, _USUAL_LIMIT) // _USUAL_LIMIT
    return args.max_size or usual


def _skills_within(hits: list[SkillHit], most: int) -> list[SkillHit]:
    """*hits*, their contents cut as far as it takes to say them in *most* bytes."""
    shown = hits
    for length, _ in LEVELS:
        if size(shown) <= most:
            break
        shown = [
            msgspec.structs.replace(
                hit,
                content=shortened_text(hit.content, length),
                truncated=len(hit.content) > length,
            )
            for hit in hits
        ]
    return shown


def _units_within(hits: list[UnitHit], most: int) -> list[UnitHit]:
    shown = hits
    for length, entries in LEVELS:
        if size(shown) <= most:
            break
        shown = [_cut(hit, length, entries) for hit in hits]
    return shown


def _cut(hit: UnitHit, length: int, entries: int) -> UnitHit:
    content = shortened_unit(hit.content, length, entries)
    return msgspec.structs.replace(
        hit, content=content, truncated=content != hit.content
    )

"""Skills as clients attach them: as resources, and by the Skills extension of MCP."""

import hashlib
from collections.abc import Collection, Hashable

import apsw
import msgspec

from ubp.errors import InvalidArguments, ResourceNotFound
from ubp.packs.registry import queries
from ubp.packs.registry.acting import viewer
from ubp.packs.registry.queries import Item, Place, Viewer
from ubp.packs.registry.uris import (
    PREFIX,
    TEMPLATE,
    ident_and_name,
    is_standard_name,
    path_of,
    uri,
)
from ubp.project import Project
from ubp.reading import frontmatter
from ubp.reading.markdown import normalise
from ubp.resources import (
    CompleteVariable,
    Completions,
    Contents,
    ListResources,
    ReadResource,
    Resource,
    ResourceList,
    Template,
)
from ubp.skills import GetSkill, ListSkills, Skill, SkillFile, SkillList
from ubp.toolkit import Context, Effect, Resources, Skills, phase, tool

__all__ = ("RESOURCES", "SKILLS")

_MARKDOWN = "text/markdown"

_MOST_COMPLETIONS = 100
"""As many as MCP allows in one answer."""

_LONGEST_DESCRIPTION = 1_024
"""By the Agent Skills specification."""


@tool("registry.list_resources", Effect.READ)
async def list_resources(ctx: Context, args: ListResources) -> ResourceList:
    with phase("query"):
        items, more = await ctx.db.run(_page, viewer(), args.after, args.limit)
    return ResourceList([_resource(item) for item in items], more)


@tool("registry.read_resource", Effect.READ)
async def read_resource(ctx: Context, args: ReadResource) -> Contents:
    with phase("query"):
        item = await ctx.db.run(_skill, viewer(), args.uri)
    return Contents(item.content, _MARKDOWN)


@tool("registry.complete_variable", Effect.READ)
async def complete_variable(ctx: Context, args: CompleteVariable) -> Completions:
    with phase("query"):
        found, total = await ctx.db.run(
            queries.named, viewer(), args.value, _MOST_COMPLETIONS, skills=True
        )
    return Completions([path_of(each.ident, each.name) for each in found], total)


@tool("registry.list_skills", Effect.READ)
async def list_skills(ctx: Context, args: ListSkills) -> SkillList:
    with phase("query"):
        items, more = await ctx.db.run(_page, viewer(), args.after, args.limit)
    return SkillList([_entry(item) for item in items if _is_standard(item)], more)


@tool("registry.get_skill", Effect.READ)
async def get_skill(ctx: Context, args: GetSkill) -> Skill:
    with phase("query"):
        item = await ctx.db.run(_skill, viewer(), args.uri)
    if not _is_standard(item):
        raise ResourceNotFound(args.uri)
    return _entry(item)


def _page(
    db: apsw.Connection, who: Viewer, after: str | None, limit: int
) -> tuple[list[Item], str | None]:
    """The skills after a place in their order, and the place of the last of them."""
    try:
        place = None if after is None else msgspec.json.decode(after, type=Place)
    except msgspec.DecodeError:
        raise InvalidArguments("Invalid cursor.") from None
    # One more than asked for tells whether there are more.
    items = queries.skills_after(db, who, place, limit + 1)
    shown = items[:limit]
    if len(items) == len(shown):
        return shown, None
    last = Place(shown[-1].name, shown[-1].ident)
    return shown, msgspec.json.encode(last).decode()


def _skill(db: apsw.Connection, who: Viewer, given: str) -> Item:
    """The skill that a URI means.

    Raises:
        ResourceNotFound: None that *who* may see, or it is quarantined.
    """
    ident, name = ident_and_name(given)
    item = queries.item_of(db, who, ident)
    if item is None or item.name != name or item.status == "quarantined":
        raise ResourceNotFound(given)
    return item


def _resource(item: Item) -> Resource:
    return Resource(
        uri=uri(item.ident, item.name),
        name=item.name,
        description=item.details["description"],
        mime_type=_MARKDOWN,
        size=len(item.content.encode()),
        last_modified=item.updated_at,
    )


def _is_standard(item: Item) -> bool:
    """Whether it may be served as a skill: clients refuse lists that hold others."""
    described = len(item.details["description"]) <= _LONGEST_DESCRIPTION
    return described and is_standard_name(item.name)


def _entry(item: Item) -> Skill:
    content = item.content.encode()
    file = uri(item.ident, item.name)
    plain = normalise(item.content.removeprefix("\ufeff"))
    return Skill(
        uri=file,
        frontmatter=frontmatter.split(plain, as_written=False).values,
        resources=[
            SkillFile(
                uri=file,
                digest=f"sha256:{hashlib.sha256(content).hexdigest()}",
                size=len(content),
            )
        ],
    )


def _states(db: apsw.Connection, uris: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    who = viewer()
    for each in uris:
        try:
            found[each] = _skill(db, who, each).updated_at
        except ResourceNotFound:
            continue
    return found


def _token(project: Project, state: str) -> Hashable:
    del project
    return state


def _list_token(db: apsw.Connection) -> Hashable:
    return queries.skill_list_token(db, viewer())


RESOURCES = Resources(
    prefix=PREFIX,
    templates=(
        Template(
            uri=TEMPLATE,
            name="skill",
            title="A skill that an agent shared",
            description="A SKILL.md by the id and name of the skill.",
            mime_type=_MARKDOWN,
        ),
    ),
    listing=list_resources,
    read=read_resource,
    complete=complete_variable,
    states=_states,
    token=_token,
    list_token=_list_token,
)

SKILLS = Skills(listing=list_skills, get=get_skill)

"""``get_section`` and ``build_learning_plan``: read a specification."""

from typing import Annotated

import apsw
from msgspec import UNSET, Meta, Struct, UnsetType

from ubp.amounts import Cursor, NextCursor, part_of_text
from ubp.errors import CallerError
from ubp.packs.specs import queries
from ubp.packs.specs.choosing import LATEST, chosen, policy_now
from ubp.packs.specs.failures import NotIngested, SectionNotFound, UnknownVersion
from ubp.packs.specs.fields import Citation, Doc, LanguageName, Snippet, Version
from ubp.packs.specs.languages import Language, language
from ubp.packs.specs.plans import Week, planned
from ubp.packs.specs.queries import SnapshotRow, StoredSection
from ubp.packs.specs.sections import EXCERPT, SEPARATOR, excerpt
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("build_learning_plan", "get_section")


class GetSection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Read one section of a specification, with its citation.

    The whole text is there where the source's policy allows it, else an excerpt.
    Where an id is used twice, `section_id` is `page#id`. Of a text of more than
    50,000 characters, 25,000 of Japanese, `next_cursor` leads to the rest of
    `fulltext`.
    """

    language: LanguageName
    version: Version
    section_id: Annotated[
        str,
        Meta(
            min_length=1,
            description="From search_spec",
        ),
    ]
    doc: Doc | None = None
    cursor: Cursor = None


class Content(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """As much of a section as may be given."""

    excerpt: str
    is_truncated: bool
    fulltext_available: bool
    fulltext: str | UnsetType = UNSET


class SectionText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A section."""

    citation: Citation
    content: Content
    alternatives: (
        Annotated[
            list[str], Meta(description="Other sections that share the id asked for.")
        ]
        | UnsetType
    ) = UNSET
    next_cursor: NextCursor = UNSET


@tool("get_section", Effect.READ, slow_ms=50)
async def get_section(ctx: Context, args: GetSection) -> SectionText:
    spoken = language(ctx.project.settings, args.language)
    with phase("query"):
        return await ctx.db.run(_section, spoken, args)


def _section(db: apsw.Connection, spoken: Language, args: GetSection) -> SectionText:
    snapshot, found = _named(db, spoken, args)
    others = queries.sharing(db, snapshot.id, args.section_id, found.row.section_id)
    row = found.row
    policy = policy_now(spoken, snapshot.doc, row.policy)
    free = policy == "local_fulltext_ok"
    shown = excerpt(row.fulltext)
    part, rest = part_of_text(row.fulltext, args.cursor)
    return SectionText(
        citation=Citation(
            language=snapshot.language,
            doc=snapshot.doc,
            version=snapshot.version,
            section_id=row.section_id,
            title=row.title,
            section_path=row.path,
            url=row.url,
            snippet=Snippet(text=shown, start_char=0, end_char=len(shown)),
            source_policy=policy,
        ),
        content=Content(
            excerpt=shown,
            is_truncated=len(row.fulltext) > EXCERPT,
            fulltext_available=free,
            fulltext=part if free else UNSET,
        ),
        alternatives=others or UNSET,
        next_cursor=rest if free else UNSET,
    )


def _named(
    db: apsw.Connection, spoken: Language, args: GetSection
) -> tuple[SnapshotRow, StoredSection]:
    """The section that is meant: of the document named, else of the first that has it.

    Raises:
        CallerError: There is none.
    """
    docs = [args.doc] if args.doc else [each.doc for each in spoken.documents]
    failure: CallerError | None = None
    version = args.version
    for doc in docs:
        try:
            snapshot = chosen(db, spoken, doc, args.version)
        except (NotIngested, UnknownVersion) as error:
            failure = failure or error
            continue
        version = snapshot.version if args.version == LATEST else version
        found = queries.named(db, snapshot.id, args.section_id)
        if found is not None:
            return snapshot, found
        failure = SectionNotFound(spoken.language, version, args.section_id)
    raise failure or SectionNotFound(spoken.language, version, args.section_id)


class BuildLearningPlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Plan reading a specification in equal weeks.

    Every section is in the plan once, topics in the order of the document, those of
    `focus_areas` early, after what they rest on.
    """

    language: LanguageName
    version: Version | None = None
    total_weeks: Annotated[int, Meta(ge=1, le=12, description="Most weeks")] = 4
    focus_areas: Annotated[list[str], Meta(description="Topics to read early")] = []


class PlannedSection(Struct, frozen=True, kw_only=True):
    """A section to read."""

    section_id: str
    title: str
    section_path: str
    url: str
    depth: int
    content_length: int


class PlannedWeek(Struct, frozen=True, kw_only=True):
    """What to read in one week."""

    week: int
    theme: str
    sections: list[PlannedSection]
    estimated_minutes: int


class LearningPlan(Struct, frozen=True, kw_only=True):
    """A plan."""

    language: str
    version: str
    total_weeks: int
    total_sections: int
    weeks: list[PlannedWeek]


@tool("build_learning_plan", Effect.READ, slow_ms=200)
async def build_learning_plan(ctx: Context, args: BuildLearningPlan) -> LearningPlan:
    spoken = language(ctx.project.settings, args.language)
    with phase("query"):
        return await ctx.db.run(_plan, spoken, args)


def _plan(
    db: apsw.Connection, spoken: Language, args: BuildLearningPlan
) -> LearningPlan:
    snapshot = chosen(db, spoken, None, args.version)
    sections = queries.placed(db, snapshot.id)
    weeks = planned(sections, args.total_weeks, args.focus_areas, spoken.language)
    return LearningPlan(
        language=snapshot.language,
        version=snapshot.version,
        total_weeks=len(weeks),
        total_sections=len(sections),
        weeks=[_week(number, week) for number, week in enumerate(weeks, start=1)],
    )


def _week(number: int, week: Week) -> PlannedWeek:
    return PlannedWeek(
        week=number,
        theme=week.theme,
        sections=[
            PlannedSection(
                section_id=each.section_id,
                title=each.title,
                section_path=each.path,
                url=each.url,
                depth=each.path.count(SEPARATOR),
                content_length=each.length,
            )
            for each in week.sections
        ],
        estimated_minutes=week.minutes,
    )

"""Further tools, for whoever wants to browse: off unless ``notes.extra_tools``."""

from typing import Annotated

import apsw
from msgspec import Meta, Struct

from ubp import lexicon
from ubp.packs.notes import queries
from ubp.packs.notes.fields import NoteEntries, NoteEntry, entry, some, title
from ubp.packs.notes.queries import DateField, ListedNote, Order
from ubp.toolkit import AnyTool, ArrayResult, Context, Effect, phase, tool

__all__ = ("EXTRA_TOOLS",)

_BEFORE, _AFTER = 50, 100
"""Characters shown around a keyword."""

Limit5 = Annotated[
    int, Meta(ge=1, le=100, description="Return at most this many notes.")
]
Sort = Annotated[Order, Meta(description="Oldest first (asc) or newest first (desc).")]
Day = Annotated[
    str,
    Meta(
        pattern=r"^\d{4}-?\d{2}-?\d{2}$", description="A day, YYYYMMDD; not included."
    ),
]
Moment = Annotated[
    str, Meta(description="Compared as text with the field; not included.")
]


class ListNotesByTag(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List personal notes that carry a tag, by path or a few by chance."""

    tag: Annotated[str, Meta(description="The tag, without #.")]
    limit: Limit5 = 5
    random: Annotated[bool, Meta(description="A random choice, not the first.")] = False


@tool("list_docs_by_tag", Effect.READ, slow_ms=50)
async def list_notes_by_tag(ctx: Context, args: ListNotesByTag) -> NoteEntries:
    some("tag", args.tag)
    with phase("query"):
        found = await ctx.db.run(
            queries.tagged, args.tag, args.limit, shuffled=args.random
        )
    return NoteEntries(result=[entry(note) for note in found])


class ListAllNotes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List all personal notes by path, a page at a time."""

    offset: Annotated[
        int, Meta(ge=0, le=2**63 - 1, description="Leave out so many.")
    ] = 0
    limit: Limit5 = 20


class Pagination(Struct, frozen=True, kw_only=True):
    """Where in the list this page is."""

    offset: int
    limit: int
    total_count: int
    has_more: bool


class AllNotes(Struct, frozen=True, kw_only=True):
    """A page of the list."""

    docs: list[NoteEntry]
    pagination: Pagination


@tool("list_all_docs", Effect.READ, slow_ms=50)
async def list_all_notes(ctx: Context, args: ListAllNotes) -> AllNotes:
    with phase("query"):
        docs, total = await ctx.db.run(_page, args.limit, args.offset)
    return AllNotes(
        docs=[entry(note) for note in docs],
        pagination=Pagination(
            offset=args.offset,
            limit=args.limit,
            total_count=total,
            has_more=args.offset + len(docs) < total,
        ),
    )


def _page(db: apsw.Connection, limit: int, offset: int) -> tuple[list[ListedNote], int]:
    return queries.listed(db, limit, offset), queries.count_notes(db)


class SearchByKeyword(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find personal notes whose title or text contains one of some keywords.

    Parts of words count, capitals do not.
    """

    keywords: Annotated[
        list[str], Meta(description="Any of these; each may be part of a word.")
    ]
    limit: Limit5 = 10


class KeywordHit(Struct, frozen=True, kw_only=True):
    """A note that contains a keyword."""

    title: str
    file_path: str
    tags: list[str]
    snippet: str


class KeywordHits(ArrayResult, frozen=True, kw_only=True):
    """The notes, by path."""

    result: list[KeywordHit]


@tool("search_by_keyword", Effect.READ, slow_ms=500)
async def search_by_keyword(ctx: Context, args: SearchByKeyword) -> KeywordHits:
    words = some("keywords", *args.keywords)
    with phase("query"):
        found = await ctx.db.run(queries.containing, words, args.limit)
    return KeywordHits(
        result=[
            KeywordHit(
                title=title(note.title),
                file_path=note.path,
                tags=note.tags,
                snippet=_around(content, [lexicon.fold(word) for word in words]),
            )
            for note, content in found
        ]
    )


def _around(content: str, words: list[str]) -> str:
    """What stands around the first of *words* that is there; else how it begins."""
    folded = lexicon.fold(content)
    if len(folded) != len(content):  # places would differ; case alone keeps them
        folded = content.lower() if len(content.lower()) == len(content) else content
    places = ((folded.find(word), word) for word in words)
    at, word = next(((at, word) for at, word in places if at >= 0), (0, ""))
    start = max(0, at - _BEFORE)
    end = min(len(content), at + len(word) + _AFTER)
    before = "..." if start else ""
    after = "..." if end < len(content) else ""
    return f"{before}{content[start:end]}{after}"


class SearchByTitle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find personal notes by a part of their title."""

    query: Annotated[str, Meta(description="A part of the title; capitals are equal.")]
    limit: Limit5 = 10


@tool("search_by_title", Effect.READ, slow_ms=100)
async def search_by_title(ctx: Context, args: SearchByTitle) -> NoteEntries:
    [part] = some("query", args.query)
    with phase("query"):
        found = await ctx.db.run(queries.titled, part.strip(), args.limit)
    return NoteEntries(result=[entry(note) for note in found])


class DatedNote(Struct, frozen=True, kw_only=True):
    """A note and its date."""

    title: str
    file_path: str
    tags: list[str]
    date: str


class DatedNotes(ArrayResult, frozen=True, kw_only=True):
    """The notes, by date."""

    result: list[DatedNote]


class ListNotesByDate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List personal notes by the date in their path, such as 20251230_plan.md."""

    sort: Sort = "desc"
    after: Day | None = None
    before: Day | None = None
    limit: Limit5 = 5


@tool("list_docs_by_date", Effect.READ, slow_ms=50)
async def list_notes_by_date(ctx: Context, args: ListNotesByDate) -> DatedNotes:
    after = args.after.replace("-", "") if args.after else None
    before = args.before.replace("-", "") if args.before else None
    with phase("query"):
        found = await ctx.db.run(
            queries.by_path_date, args.sort, after, before, args.limit
        )
    return _dated(found)


class ListNotesByFrontMatterDate(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """List personal notes by a date in their front matter, compared as text."""

    date_field: Annotated[DateField, Meta(description="Which date.")] = "created"
    sort: Sort = "desc"
    after: Moment | None = None
    before: Moment | None = None
    limit: Limit5 = 10


@tool("list_docs_by_frontmatter_date", Effect.READ, slow_ms=50)
async def list_notes_by_front_matter_date(
    ctx: Context, args: ListNotesByFrontMatterDate
) -> DatedNotes:
    with phase("query"):
        found = await ctx.db.run(
            queries.by_front_matter_date,
            args.date_field,
            args.sort,
            args.after,
            args.before,
            args.limit,
        )
    return _dated(found)


def _dated(found: list[tuple[ListedNote, str]]) -> DatedNotes:
    return DatedNotes(
        result=[
            DatedNote(
                title=title(note.title), file_path=note.path, tags=note.tags, date=date
            )
            for note, date in found
        ]
    )


EXTRA_TOOLS: tuple[AnyTool, ...] = (
    list_notes_by_tag,
    list_all_notes,
    search_by_keyword,
    search_by_title,
    list_notes_by_date,
    list_notes_by_front_matter_date,
)

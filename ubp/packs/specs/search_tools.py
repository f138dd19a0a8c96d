"""``search_spec``: find sections of a specification, to cite them."""

from typing import Annotated, Any

import apsw
from msgspec import UNSET, Meta, Struct, field

from ubp.amounts import MOST_BYTES_FOUND, size
from ubp.messages import QueryVector
from ubp.packs.specs import queries
from ubp.packs.specs.choosing import chosen, policy_now
from ubp.packs.specs.fields import Citation, Doc, LanguageName, Snippet, Version
from ubp.packs.specs.languages import Language, language
from ubp.packs.specs.queries import SnapshotRow
from ubp.packs.specs.query_syntax import understood
from ubp.packs.specs.search import LITTLE, Found, Hit, by_meaning, by_words, together
from ubp.packs.specs.windows import Marks, marks_of, window
from ubp.toolkit import ArrayResult, Context, Effect, phase, tool

__all__ = ("search_spec",)

_USUAL_LIMIT = 10
_WIDTHS = (300, 200, 120, 60)
"""Characters of a section that are shown; fewer where there is much to show."""


class Filters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What narrows a search."""

    doc: Doc | None = None
    section_path_prefix: Annotated[
        str | None,
        Meta(description="Headings: Types > Slice types"),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=50, description="Most sections")] = 10


class SearchSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find sections of a language specification, to cite.

    Every result is a citation: title, path, link and the words around the match.
    The best come first; a smaller score is better. All words must occur, in any
    form; `AND OR NOT`, "phrases" and a trailing `*` work. Where no section has all
    of them, some are enough (`match: any`), and sections close in meaning follow
    (`match: meaning`). `section_path_prefix` is headings, such as `Types > Slice
    types`.
    """

    query: Annotated[str, Meta(min_length=1, description="Words, symbol, question")]
    language: LanguageName
    version: Version | None = None
    filters: Annotated[Filters, Meta(description="Narrow it")] = field(
        default_factory=Filters
    )


class Citations(ArrayResult, frozen=True, kw_only=True):
    """The sections found, best first."""

    result: list[Citation]

    def meta(self) -> dict[str, Any]:
        partial = any(each.match == "any" for each in self.result)
        return {"match": "any"} if partial else {}


@tool("search_spec", Effect.READ, slow_ms=200)
async def search_spec(ctx: Context, args: SearchSpec) -> Citations:
    spoken = language(ctx.project.settings, args.language)
    with phase("query"):
        snapshot, found = await ctx.db.run(_found, spoken, args)
    hits = found.hits[: args.filters.limit]
    if found.leaves_room(args.filters.limit):
        with phase("embed"):
            vector = await ctx.meaning.vector(args.query)
        if isinstance(vector, QueryVector):
            near = await ctx.db.run(
                by_meaning,
                ctx.meaning.blocks,
                snapshot.id,
                vector,
                args.filters.section_path_prefix,
                # Some of them may have been found by words already.
                args.filters.limit + LITTLE,
                alone=not found.hits,
            )
            hits = together(found.hits, near, args.filters.limit)
    with phase("cite"):
        return await ctx.db.run(_cited, spoken, snapshot, hits, args)


def _found(
    db: apsw.Connection, spoken: Language, args: SearchSpec
) -> tuple[SnapshotRow, Found]:
    snapshot = chosen(db, spoken, args.filters.doc, args.version)
    asked = understood(args.query)
    found = by_words(db, snapshot.id, asked, args.filters.section_path_prefix)
    return snapshot, found


def _cited(
    db: apsw.Connection,
    spoken: Language,
    snapshot: SnapshotRow,
    hits: list[Hit],
    args: SearchSpec,
) -> Citations:
    marks = marks_of(db, args.query)
    most = MOST_BYTES_FOUND * max(args.filters.limit, _USUAL_LIMIT) // _USUAL_LIMIT
    result: list[Citation] = []
    for width in _WIDTHS:
        result = _citations(db, spoken, snapshot, hits, marks, width)
        if size(result, indented=True) <= most:
            break
    return Citations(result=result)


def _citations(
    db: apsw.Connection,
    spoken: Language,
    snapshot: SnapshotRow,
    hits: list[Hit],
    marks: Marks,
    width: int,
) -> list[Citation]:
    sections = queries.sections(db, [hit.row for hit in hits])
    result: list[Citation] = []
    for hit in hits:
        if hit.row not in sections:
            continue  # another snapshot has taken its place since it was found
        row = sections[hit.row].row
        shown = window(db, row.fulltext, marks, width)
        result.append(
            Citation(
                language=snapshot.language,
                doc=snapshot.doc,
                version=snapshot.version,
                section_id=row.section_id,
                title=row.title,
                section_path=row.path,
                url=row.url,
                snippet=Snippet(
                    text=shown.text, start_char=shown.start, end_char=shown.end
                ),
                source_policy=policy_now(spoken, snapshot.doc, row.policy),
                score=round(hit.score, 6),
                match=hit.match or UNSET,
            )
        )
    return result

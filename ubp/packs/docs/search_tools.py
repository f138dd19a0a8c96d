"""``ubp_search`` and ``ubp_fulltext_search``: find pages and sections."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypeVar

import apsw
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ubp import lexicon
from ubp.amounts import MOST_BYTES_FOUND, size
from ubp.messages import NoVector, QueryVector
from ubp.packs.docs import graph, queries, search
from ubp.packs.docs.fields import Query, Score, Took
from ubp.packs.docs.hybrid import Question, Ranked, SectionHit, find, reason
from ubp.packs.docs.kinds import DocType, LinkType, Staleness
from ubp.packs.docs.reports import verdicts
from ubp.packs.docs.uris import page_uri
from ubp.project import Project
from ubp.questions import words_to_mark
from ubp.snippets import snippet
from ubp.store import vectors
from ubp.store.foreign_words import names_abroad
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("fulltext_search", "search_pages")

_MOST_LINKED = 20
"""Linked pages shown with one search result."""

_SHOWN_SECTIONS = 3
_ALWAYS_EXCERPTED = 3
_LEAST_OF_BEST = 0.5

_EXCERPTS = (240, 160, 80, 40, 20)
"""Characters of a section shown around its match; fewer where there is much to show."""

_WINDOWS = (64, 32, 16)
"""The same, of ``ubp_fulltext_search``."""

_LINKED_SUMMARY = 200
_MOST_LINKED_IN_ALL = 100
_USUAL_LIMIT = 10
_ENVELOPE = 200
"""Bytes of an answer beside its results."""

_MOST_COUNTED = 1_000
"""Waiting sections are counted no further: it would take longer than the search."""

_NOTHING_EMBEDDED = "Nothing that fits is embedded yet."

T = TypeVar("T")


class SearchPages(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find project pages that answer a question. Start here.

    Best first, with their matching sections. Each result says why it was found and
    whether the page may be stale. `include_linked` adds the pages around each
    result, `depth` links away, over links of `link_types`.
    """

    query: Query
    limit: (
        Annotated[int, Meta(ge=1, le=20, description="Most pages (10)")] | UnsetType
    ) = UNSET
    include_linked: Annotated[bool, Meta(description="Add linked pages")] = False
    depth: (
        Annotated[int, Meta(ge=1, le=3, description="Links to follow (2)")] | UnsetType
    ) = UNSET
    link_types: Annotated[
        list[LinkType] | None, Meta(description="Only these links")
    ] = None
    doc_type: DocType | None = None


class MatchedSection(Struct, frozen=True, kw_only=True):
    """A section that matches; the first is the best."""

    section_id: int
    heading: str | None
    content: str
    score: Score


class ScoreBreakdown(Struct, frozen=True, kw_only=True):
    """The signals behind a score."""

    vector_similarity: Score
    graph_proximity: Score
    fulltext: Score


class LinkedPage(Struct, frozen=True, kw_only=True):
    """A page in the neighbourhood of a result."""

    doc_id: str
    filepath: str
    title: str
    link_type: LinkType
    summary: str


class SearchResult(Struct, frozen=True, kw_only=True):
    """One page."""

    doc_id: str
    filepath: str
    uri: str
    title: str
    sections: list[MatchedSection]
    score: Score
    score_breakdown: ScoreBreakdown
    relevance_reason: str
    staleness: Staleness
    linked_pages: list[LinkedPage] | UnsetType = UNSET


class SearchResults(Struct, frozen=True, kw_only=True):
    """The pages found, best first."""

    results: list[SearchResult]
    total_found: int
    search_type: Literal["hybrid", "fulltext_fallback"]
    waiting: (
        Annotated[
            int,
            Meta(
                description="Sections that cannot be found by meaning yet; 1000: more."
            ),
        ]
        | UnsetType
    ) = UNSET
    notice: (
        Annotated[str, Meta(description="Why the search was by words only.")]
        | UnsetType
    ) = UNSET
    query_time_ms: Took


@tool("ubp_search", Effect.READ, slow_ms=200)
async def search_pages(ctx: Context, args: SearchPages) -> SearchResults:
    vector: QueryVector | NoVector = NoVector("The query is empty.")
    if args.query.strip():
        with phase("embed"):
            vector = await ctx.meaning.vector(args.query)
    with phase("query"):
        found = await ctx.db.run(_search, args, ctx.project, vector, ctx.meaning.blocks)
    return msgspec.structs.replace(found, query_time_ms=ctx.elapsed_ms())


def _search(
    db: apsw.Connection,
    args: SearchPages,
    project: Project,
    vector: QueryVector | NoVector,
    blocks: Blocks,
) -> SearchResults:
    defaults = project.settings.search
    depth = defaults.max_depth if args.depth is UNSET else args.depth
    question = Question(
        text=args.query,
        vector=vector if isinstance(vector, QueryVector) else None,
        limit=defaults.default_limit if args.limit is UNSET else args.limit,
        depth=depth,
        link_types=args.link_types,
        doc_type=args.doc_type,
        alpha=defaults.alpha,
    )
    found = find(db, blocks, question)
    shown = _Shown(db, args.query, found.pages)
    most_linked = min(_MOST_LINKED, _MOST_LINKED_IN_ALL // max(1, len(found.pages)))
    with phase("staleness"):
        trust = verdicts(db, [ranked.page.id for ranked in found.pages], project)
    waiting = vectors.count_waiting(db, _MOST_COUNTED)
    notice = vector.reason if isinstance(vector, NoVector) else _NOTHING_EMBEDDED
    results = [
        SearchResult(
            doc_id=ranked.page.doc_id,
            filepath=ranked.page.path,
            uri=page_uri(ranked.page.path),
            title=ranked.page.title,
            sections=[],
            score=round(ranked.score, 4),
            score_breakdown=ScoreBreakdown(
                vector_similarity=round(ranked.signals.similarity, 4),
                graph_proximity=round(ranked.signals.proximity, 4),
                fulltext=round(ranked.signals.words, 4),
            ),
            relevance_reason=reason(ranked.signals, args.query),
            staleness=trust[ranked.page.id].staleness,
        )
        for ranked in found.pages
    ]
    most = _bytes_for(question.limit)
    sections = shown.within(most - size(results))
    results = [
        msgspec.structs.replace(result, sections=matched)
        for result, matched in zip(results, sections, strict=True)
    ]
    if args.limit is UNSET:
        results = _within(results, most)
    linked = [
        _linked_pages(db, ranked.page.id, depth, args.link_types)[:most_linked]
        if args.include_linked
        else UNSET
        for ranked in found.pages[: len(results)]
    ]
    return SearchResults(
        results=[
            msgspec.structs.replace(result, linked_pages=others)
            for result, others in zip(results, linked, strict=True)
        ],
        total_found=found.total,
        search_type="hybrid" if found.by_meaning else "fulltext_fallback",
        waiting=waiting or UNSET,
        notice=UNSET if found.by_meaning or not args.query.strip() else notice,
        query_time_ms=0,
    )


class _Shown:
    """What of the sections of results is shown."""

    def __init__(
        self, db: apsw.Connection, query: str, pages: Sequence[Ranked]
    ) -> None:
        # Reached by links alone: there is no match to show, so how it begins.
        without = [ranked.page.id for ranked in pages if not ranked.sections]
        self._first = queries.first_sections(db, without, None)
        rows = [hit.row for ranked in pages for hit in _worth_showing(ranked.sections)]
        self._texts = queries.section_texts(db, [*rows, *self._first.values()])
        self._words = words_to_mark(query)
        self._translated: list[str] = []
        if any(ranked.signals.translated for ranked in pages):
            self._translated = [*self._words, *names_abroad(query)]
        self._pages = pages

    def within(self, most: int) -> list[list[MatchedSection]]:
        """The sections of each page, in *most* bytes if that can be.

        The best page keeps all of its own for longest; the best few keep an excerpt.
        """
        shown: list[list[MatchedSection]] = []
        over = 0
        for excerpt in _EXCERPTS:
            shown = [self._sections(ranked, excerpt) for ranked in self._pages]
            over = size(shown) - most
            for kept in range(_SHOWN_SECTIONS - 1, 0, -1):
                for sections in reversed(shown):
                    if over > 0 and len(sections) > kept:
                        over -= size(sections[kept:])
                        del sections[kept:]
            if over <= 0:
                return shown
        for sections in reversed(shown[_ALWAYS_EXCERPTED:]):
            if over > 0 and sections:
                over -= size(sections[0].content)
                sections[0] = msgspec.structs.replace(sections[0], content="")
        return shown

    def _sections(self, ranked: Ranked, excerpt: int) -> list[MatchedSection]:
        first = self._first.get(ranked.page.id)
        hits = _worth_showing(ranked.sections)
        if first is not None:
            hits = [SectionHit(first, 0.0)]
        words = self._translated if ranked.signals.translated else self._words
        return [
            MatchedSection(
                section_id=row,
                heading=self._texts[row].heading,
                content=snippet(self._texts[row].content, words, excerpt),
                score=round(score, 4),
            )
            for row, score in hits
        ]


def _bytes_for(limit: int) -> int:
    """How long the results of a search may be; longer if more were asked for."""
    return (MOST_BYTES_FOUND * max(limit, _USUAL_LIMIT)) // _USUAL_LIMIT - _ENVELOPE


def _within(results: list[T], most: int) -> list[T]:
    """The best of *results* that fit in *most* bytes, and one in any case.

    All of them do, unless it is their paths and titles that are long.
    """
    kept = len(results)
    while kept > 1 and size(results[:kept]) > most:
        kept -= 1
    return results[:kept]


def _worth_showing(hits: Sequence[SectionHit]) -> list[SectionHit]:
    """The best ones, and of the others those that are at least half as good."""
    shown = hits[:_SHOWN_SECTIONS]
    return [hit for hit in shown if hit.score >= _LEAST_OF_BEST * hits[0].score]


def _linked_pages(
    db: apsw.Connection, page: int, depth: int, link_types: list[LinkType] | None
) -> list[LinkedPage]:
    reached = graph.around(db, page, depth, link_types)
    # Nearest first, and at one distance what the page links to before what links to it.
    nearest = sorted(
        reached, key=lambda each: (each.depth, each.direction != "outlink")
    )[:_MOST_LINKED]
    texts = queries.summaries(db, [each.page.id for each in nearest], _LINKED_SUMMARY)
    return [
        LinkedPage(
            doc_id=each.page.doc_id,
            filepath=each.page.path,
            title=each.page.title,
            link_type=each.link_type,  # type: ignore[arg-type]
            summary=texts.get(each.page.id, ""),
        )
        for each in nearest
    ]


class FulltextSearch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find sections with every word, or part of one, as typed.

    No operators: quotes, * and OR are looked for literally. Whole words rank first.
    """

    query: Query
    limit: Annotated[int, Meta(ge=1, le=50, description="Most sections")] = 10
    doc_type: DocType | None = None


class FulltextHit(Struct, frozen=True, kw_only=True):
    """A section that contains every token."""

    doc_id: str
    filepath: str
    uri: str
    title: str
    section_heading: str | None
    snippet: Annotated[str, Meta(description="The match, within <mark> and </mark>.")]
    rank: Annotated[float, Meta(description="Lower is better.")]


class FulltextHits(Struct, frozen=True, kw_only=True):
    """The matching sections, best first."""

    results: list[FulltextHit]
    total_found: int
    query_time_ms: Took


@tool("ubp_fulltext_search", Effect.READ, slow_ms=100)
async def fulltext_search(ctx: Context, args: FulltextSearch) -> FulltextHits:
    with phase("query"):
        hits, total = await ctx.db.run(_fulltext, args)
    return FulltextHits(results=hits, total_found=total, query_time_ms=ctx.elapsed_ms())


def _fulltext(
    db: apsw.Connection, args: FulltextSearch
) -> tuple[list[FulltextHit], int]:
    hits, total = search.literally(db, args.query, args.doc_type, args.limit)
    pages = queries.pages(db, {hit.page for hit in hits})
    texts = queries.section_texts(db, [hit.section for hit in hits])
    tokens = lexicon.tokens(args.query)
    most = _bytes_for(args.limit)
    results: list[FulltextHit] = []
    for window in _WINDOWS:
        results = [
            FulltextHit(
                doc_id=pages[hit.page].doc_id,
                filepath=pages[hit.page].path,
                uri=page_uri(pages[hit.page].path),
                title=pages[hit.page].title,
                section_heading=texts[hit.section].heading,
                snippet=snippet(texts[hit.section].content, tokens, window),
                rank=round(hit.rank, 6),
            )
            for hit in hits
        ]
        if size(results) <= most:
            break
    if args.limit == _USUAL_LIMIT:
        results = _within(results, most)
    return results, total

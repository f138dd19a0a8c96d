"""``search_docs``: find notes by meaning, within tags."""

from typing import Annotated, Any

import apsw
from msgspec import UNSET, Meta, Struct, UnsetType

from ubp.errors import ModelUnusable
from ubp.messages import QueryVector
from ubp.packs.notes import queries
from ubp.packs.notes.fields import some, title
from ubp.packs.notes.search import Question, find
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import ArrayResult, Context, Effect, phase, tool

__all__ = ("search_notes",)


class SearchNotes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find passages of the user's personal notes, by meaning.

    Returns whole passages, closest first; several may be of one note.
    """

    query: Annotated[str, Meta(description="Any language")]
    tags: Annotated[list[str], Meta(description="Any of these")] = []
    limit: Annotated[int, Meta(ge=1, le=50, description="Most passages")] = 5


class NotePassage(Struct, frozen=True, kw_only=True):
    """A passage of a note: what stands under one heading."""

    title: str
    heading: str
    parent_heading: str
    content: str
    file_path: str
    similarity: Annotated[float, Meta(ge=0, le=1)]


class NotePassages(ArrayResult, frozen=True, kw_only=True):
    """The passages found, closest first."""

    result: list[NotePassage]
    notice: (
        Annotated[str, Meta(description="Why the search was by words only.")]
        | UnsetType
    ) = UNSET

    def shown(self) -> list[Any]:
        return [
            {
                "title": each.title,
                "heading": each.heading,
                "content": each.content,
                "file_path": each.file_path,
                "similarity": f"{each.similarity:.3f}",
            }
            for each in self.result
        ]


@tool("search_docs", Effect.READ, slow_ms=200)
async def search_notes(ctx: Context, args: SearchNotes) -> NotePassages:
    some("query", args.query)
    with phase("embed"):
        vector = await ctx.meaning.vector(args.query)
    question = Question(
        text=args.query,
        vector=vector if isinstance(vector, QueryVector) else None,
        tags=args.tags,
        limit=args.limit,
        threshold=ctx.project.settings.notes.similarity_threshold,
    )
    with phase("query"):
        found = await ctx.db.run(_search, question, ctx.meaning.blocks)
    if isinstance(vector, QueryVector):
        return NotePassages(result=found)
    if vector.failed and not found:
        # Nobody knows whether there is nothing; an empty list would say that there is.
        raise ModelUnusable(
            vector.reason,
            cause="Without a vector only words could be looked for, and none fit.",
            hint="See embedding.url and embedding.model in ubp.toml, and the key of "
            "the service; or ask with words that stand in the notes.",
        )
    return NotePassages(result=found, notice=vector.reason)


def _search(
    db: apsw.Connection, question: Question, blocks: Blocks
) -> list[NotePassage]:
    hits = find(db, blocks, question)
    texts = queries.chunk_texts(db, [hit.row for hit in hits])
    return [
        NotePassage(
            title=title(texts[row].title),
            heading=texts[row].heading,
            parent_heading=texts[row].parent_heading,
            content=texts[row].content,
            file_path=texts[row].path,
            similarity=round(similarity, 4),
        )
        for row, similarity in hits
    ]

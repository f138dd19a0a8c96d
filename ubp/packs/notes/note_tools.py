"""``get_doc`` and ``list_tags``: one note, and what notes are about."""

import posixpath
from difflib import get_close_matches
from typing import Annotated

import apsw
from msgspec import UNSET, Meta, Struct

from ubp.amounts import Cursor, NextCursor, entries_from, part_of_text
from ubp.errors import CallerError, shortened
from ubp.packs.notes import queries
from ubp.packs.notes.fields import FilePath, title
from ubp.packs.notes.queries import Note
from ubp.packs.notes.records import docs_prefix
from ubp.toolkit import Context, Effect, TextResult, phase, tool

__all__ = ("NoteNotFound", "get_note", "list_tags")

_SUGGESTED = 3


class NoteNotFound(CallerError):
    """No note is at the path that was given."""

    code = "notes.not_found"
    cause = "No indexed note has that path."
    hint = "Use a `file_path` from `ubp notes search`, or run `ubp index` if it is new."

    def __init__(self, path: str, similar: list[str]) -> None:
        told = f"Document not found: {shortened(path)}"
        if similar:
            told += f"\nDid you mean {' or '.join(similar)}?"
        super().__init__(told)


class GetNote(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Read one note.

    Of more than 50,000 characters, 25,000 of Japanese, `next_cursor` leads to the rest.
    """

    file_path: FilePath
    cursor: Cursor = None


class NoteText(TextResult, frozen=True, kw_only=True):
    """A note."""

    file_path: str
    title: str
    tags: list[str]
    content: str
    superseded: Annotated[
        bool, Meta(description="Another note replaces it; it is not searched.")
    ]
    next_cursor: NextCursor = UNSET

    def text(self) -> str:
        tags = ", ".join(self.tags)
        text = f"# {self.title}\n\nTags: {tags}\n\n---\n\n{self.content}"
        if self.next_cursor is UNSET:
            return text
        return f"{text}\n\n---\n\nThere is more: cursor {self.next_cursor}"


@tool("get_doc", Effect.READ, slow_ms=50)
async def get_note(ctx: Context, args: GetNote) -> NoteText:
    with phase("query"):
        found = await ctx.db.run(_note, args.file_path, docs_prefix(ctx.project))
    content, rest = part_of_text(found.content, args.cursor)
    return NoteText(
        file_path=found.path,
        title=title(found.title),
        tags=found.tags,
        content=content,
        superseded=found.superseded,
        next_cursor=rest,
    )


def _note(db: apsw.Connection, path: str, prefix: str) -> Note:
    """The note at *path*, from the project's root or from the docs folder.

    Raises:
        NoteNotFound: There is none.
    """
    found = queries.note_at(db, path) or queries.note_at(db, prefix + path)
    if found is None:
        raise NoteNotFound(path, _similar(path, queries.paths(db)))
    return found


def _similar(path: str, paths: list[str]) -> list[str]:
    """Paths whose file name is nearly that of *path*; of those, the nearest."""
    named: dict[str, list[str]] = {}
    for each in paths:
        named.setdefault(posixpath.basename(each).casefold(), []).append(each)
    wanted = shortened(posixpath.basename(path)).casefold()
    near = get_close_matches(wanted, named, _SUGGESTED, 0.75)
    found = [each for name in near for each in named[name]]
    return get_close_matches(shortened(path), found, _SUGGESTED, 0.0)


class ListTags(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List the tags of the notes, the most used first.

    All of them; of more than 1,000, `next_cursor` leads to the rest.
    """

    cursor: Cursor = None


class TagUse(Struct, frozen=True, kw_only=True):
    """A tag."""

    tag: str
    count: int


class TagUses(TextResult, frozen=True, kw_only=True):
    """Tags, the most used first."""

    tags: list[TagUse]
    next_cursor: NextCursor = UNSET

    def text(self) -> str:
        text = "\n".join(f"{each.tag} ({each.count})" for each in self.tags)
        if self.next_cursor is UNSET:
            return text
        return f"{text}\n\nThere are more: cursor {self.next_cursor}"


@tool("list_tags", Effect.READ, slow_ms=50)
async def list_tags(ctx: Context, args: ListTags) -> TagUses:
    with phase("query"):
        found = await ctx.db.run(queries.tag_counts)
    shown, rest = entries_from(found, args.cursor)
    return TagUses(
        tags=[TagUse(tag=each.tag, count=each.notes) for each in shown],
        next_cursor=rest,
    )

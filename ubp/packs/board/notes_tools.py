"""Tools for the journal of a card."""

from typing import Annotated, Any, Literal

import anyio.to_thread
from msgspec import UNSET, Meta, Struct, field

from ubp.amounts import (
    MOST_CHARACTERS,
    Cursor,
    NextCursor,
    at_once,
    beginning,
    length,
    next_after,
)
from ubp.packs.board import journal, moments
from ubp.packs.board.arguments import BoardName, CardId, checked_id, checked_text
from ubp.packs.board.board_lock import locked
from ubp.packs.board.boards import Board, board_for
from ubp.packs.board.failures import InvalidValue, NotFound
from ubp.toolkit import Context, Effect, tool

__all__ = ("append_note", "list_notes")


class AppendNote(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Write a note into the journal of a card.

    What was done (`worklog`), decided (`decision`), or where to go on next time
    (`resume`). Each call writes one more.
    """

    card_id: CardId
    text: Annotated[str, Meta(min_length=1, description="The note")]
    type: Annotated[
        Literal["worklog", "resume", "decision"],
        Meta(description="Its kind"),
    ] = "worklog"
    tags: Annotated[list[str], Meta(max_length=100, description="Its tags")] = field(
        default_factory=list
    )
    author: Annotated[str | None, Meta(description="Whose")] = None
    board: BoardName = ""


class NoteAppended(Struct, frozen=True, kw_only=True):
    """When it was written, and where."""

    appended: bool
    ts: str
    path: str


@tool(
    "kanban_notes_append",
    Effect.ADD,
    aliases=("kanban/notes_append", "kanban/notes.append"),
    needs_index=False,
)
async def append_note(ctx: Context, args: AppendNote) -> NoteAppended:
    ident = checked_id(args.card_id)
    note: dict[str, Any] = {
        "type": args.type,
        "text": checked_text(args.text, "text"),
    }
    if args.tags:
        note["tags"] = [checked_text(tag, "tags") for tag in args.tags]
    if args.author:
        note["author"] = checked_text(args.author, "author")
    board = await board_for(ctx, args.board)
    stamp = await anyio.to_thread.run_sync(_appended, board, ident, note)
    return NoteAppended(appended=True, ts=stamp, path=journal.path_of(ident))


def _appended(board: Board, ident: str, note: dict[str, Any]) -> str:
    board.view.snapshot().card(ident)
    try:
        with locked(board.kanban):
            return journal.append(board.kanban, ident, note)
    except FileNotFoundError:
        raise NotFound(f"There is no card {ident}.") from None


class ListNotes(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Read the journal of a card, newest first.

    Of notes of more than 50,000 characters together, 25,000 of Japanese, `next_cursor`
    leads to the rest.
    """

    card_id: CardId
    limit: Annotated[int, Meta(ge=1, le=1_000, description="Most notes")] = 3
    all: Annotated[bool, Meta(description="No limit")] = False
    since: Annotated[str | None, Meta(description="RFC 3339")] = None
    board: BoardName = ""
    cursor: Cursor = None


class Notes(Struct, frozen=True, kw_only=True):
    """Notes: ts, type, text, and tags and author where given."""

    items: list[dict[str, Any]]
    next_cursor: NextCursor = UNSET


@tool(
    "kanban_notes_list",
    Effect.READ,
    aliases=("kanban/notes_list", "kanban/notes.list"),
    needs_index=False,
)
async def list_notes(ctx: Context, args: ListNotes) -> Notes:
    ident = checked_id(args.card_id)
    since = None
    if args.since is not None:
        since = moments.parsed_moment(args.since)
        if since is None:
            raise InvalidValue("`since` is no moment; write 2026-05-31T09:00:00Z.")
    board = await board_for(ctx, args.board)

    def notes() -> list[dict[str, Any]]:
        board.view.snapshot().card(ident)
        limit = None if args.all else args.limit
        return journal.latest(board.kanban, ident, limit=limit, since=since)

    return _part(await anyio.to_thread.run_sync(notes), beginning(args.cursor))


def _part(notes: list[dict[str, Any]], begin: int) -> Notes:
    """The notes from *begin* on that are not too much at once, one at least."""
    end, left = begin, at_once(MOST_CHARACTERS)
    if left is None:
        return Notes(items=notes[begin:], next_cursor=UNSET)
    for note in notes[begin:]:
        left -= length(str(note.get("text", "")))
        if left < 0 and end > begin:
            break
        end += 1
    return Notes(items=notes[begin:end], next_cursor=next_after(end, len(notes)))

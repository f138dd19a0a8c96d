"""Tools that make, move, finish and change cards."""

from functools import partial
from typing import Annotated, Any

import anyio.to_thread
from msgspec import Meta, Struct, field

from ubp.packs.board import operations
from ubp.packs.board.arguments import (
    BoardName,
    CardId,
    Priority,
    checked_id,
    checked_text,
    checked_title,
    checked_values,
)
from ubp.packs.board.boards import board_for
from ubp.packs.board.contents import Body
from ubp.toolkit import Context, Effect, tool

__all__ = ("done_card", "move_card", "new_card", "update_card")

_Texts = list[Annotated[str, Meta(max_length=1_000)]]


class NewCard(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Add a card to the board.

    It is a Markdown file in a column, `backlog` unless given. Each call makes
    another card.
    """

    title: Annotated[
        str,
        Meta(min_length=1, max_length=200, description="One line"),
    ]
    board: BoardName = ""
    column: Annotated[str | None, Meta(description="Default backlog")] = None
    lane: Annotated[str | None, Meta(description="Its lane")] = None
    priority: Annotated[Priority | None, Meta(description="P0: urgent")] = None
    size: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="Work")] = None
    labels: Annotated[_Texts, Meta(description="Its labels")] = field(
        default_factory=list
    )
    assignees: Annotated[_Texts, Meta(description="People")] = field(
        default_factory=list
    )
    body: Annotated[str, Meta(description="Markdown")] = ""


class CardMade(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A new card."""

    card_id: str
    path: str
    warnings: list[str] = field(default_factory=list)


@tool("kanban_new", Effect.ADD, aliases=("kanban/new",), needs_index=False)
async def new_card(ctx: Context, args: NewCard) -> CardMade:
    title = checked_title(args.title)
    given = {
        "lane": args.lane,
        "priority": args.priority,
        "size": args.size,
        "labels": args.labels,
        "assignees": args.assignees,
    }
    values = {key: value for key, value in given.items() if value is not None}
    values = {
        key: value for key, value in checked_values(values).items() if value is not None
    }
    body = checked_text(args.body, "body")
    board = await board_for(ctx, args.board)
    made, warnings = await anyio.to_thread.run_sync(
        operations.new, board.desk, title, args.column, values, body
    )
    return CardMade(card_id=made.id, path=made.path, warnings=warnings)


class MoveCard(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Move a card to another column; `done` finishes it.

    Out of `done` it is open again. Moving it to where it is changes nothing.
    """

    card_id: CardId
    to_column: Annotated[str, Meta(description="Its name")]
    board: BoardName = ""


class CardMoved(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a card was, and where it is now."""

    from_: str = field(name="from")
    to: str
    path: str
    warnings: list[str] = field(default_factory=list)


@tool("kanban_move", Effect.CHANGE, aliases=("kanban/move",), needs_index=False)
async def move_card(ctx: Context, args: MoveCard) -> CardMoved:
    ident = checked_id(args.card_id)
    board = await board_for(ctx, args.board)
    moved, warnings = await anyio.to_thread.run_sync(
        operations.move, board.desk, ident, args.to_column
    )
    return CardMoved(
        from_=moved.before, to=moved.column, path=moved.path, warnings=warnings
    )


class DoneCard(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Finish a card.

    Notes when, and files it under its month in `done`. A card that is done stays as it
    is.
    """

    card_id: CardId
    board: BoardName = ""


class CardDone(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When a card was finished, and where it is."""

    completed_at: str
    path: str
    warnings: list[str] = field(default_factory=list)


@tool("kanban_done", Effect.CHANGE, aliases=("kanban/done",), needs_index=False)
async def done_card(ctx: Context, args: DoneCard) -> CardDone:
    ident = checked_id(args.card_id)
    board = await board_for(ctx, args.board)
    finished, warnings = await anyio.to_thread.run_sync(
        operations.done, board.desk, ident
    )
    return CardDone(
        completed_at=finished.completed_at or "", path=finished.path, warnings=warnings
    )


class BodyPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text for the body."""

    text: str
    replace: bool = False


class Patch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be different."""

    fm: Annotated[
        dict[str, Any] | None,
        Meta(description="Fields; null removes one"),
    ] = None
    body: Annotated[BodyPatch | None, Meta(description="To append, or replace")] = None


class UpdateCard(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Change fields or body of a card.

    Only what is given changes: title, description, lane, priority, size, labels,
    assignees, parent, depends_on, relates, resume_hint, next_steps, blockers, or
    any field of your own; null takes one out. With `ifMatch`, the `hash` of the
    card as you know it, a card that is another by now is a conflict.
    """

    card_id: CardId
    patch: Annotated[Patch, Meta(description="What changes")]
    board: BoardName = ""
    if_match: Annotated[
        str | None,
        Meta(description="Its `hash`"),
    ] = None


class CardUpdated(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the card is now."""

    updated: bool
    column: str
    path: str
    warnings: list[str] = field(default_factory=list)


@tool("kanban_update", Effect.CHANGE, aliases=("kanban/update",), needs_index=False)
async def update_card(ctx: Context, args: UpdateCard) -> CardUpdated:
    ident = checked_id(args.card_id)
    values = checked_values(args.patch.fm or {})
    given = args.patch.body
    body = None
    if given is not None:
        body = Body(checked_text(given.text, "body"), given.replace)
    board = await board_for(ctx, args.board)
    updated, warnings = await anyio.to_thread.run_sync(
        partial(operations.update, board.desk, ident, values, body, args.if_match)
    )
    return CardUpdated(
        updated=True, column=updated.column, path=updated.path, warnings=warnings
    )

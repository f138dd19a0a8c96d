"""Tools that list cards and show one."""

from collections.abc import Iterable
from typing import Annotated, Any

import anyio.to_thread
from msgspec import UNSET, Meta, Struct, field

from ubp.amounts import Cursor, NextCursor, part_of_text
from ubp.packs.board.arguments import BoardName, CardId, Priority, checked_id
from ubp.packs.board.boards import Board, board_for
from ubp.packs.board.cards import Card, trait
from ubp.packs.board.columns import columns_called
from ubp.packs.board.failures import NotFound, refused
from ubp.packs.board.queries import Words
from ubp.packs.board.searching import cards_with, words_of
from ubp.packs.board.states import state_of
from ubp.packs.board.uris import card_uri
from ubp.packs.board.view import Snapshot
from ubp.toolkit import Context, Effect, phase, tool

__all__ = ("get_card", "list_cards", "markdown_of")


class ListCards(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """List cards, by column, person, label or words.

    Ordered by id. Done cards only with `includeDone`. `columns` and the other
    filters narrow; `query` finds cards with all its words, or parts of words, in
    title, body or id, in any language. Where there are more, `nextOffset` is the
    `offset` of the next list. `column` is the older way to name one column.
    """

    board: BoardName = ""
    columns: Annotated[list[str], Meta(max_length=100, description="Only these")] = (
        field(default_factory=list)
    )
    column: Annotated[
        str | None,
        Meta(description="Use columns.", extra_json_schema={"deprecated": True}),
    ] = None
    lane: Annotated[str | None, Meta(description="Only this")] = None
    assignee: Annotated[str | None, Meta(description="Only theirs")] = None
    label: Annotated[str | None, Meta(description="Only with it")] = None
    priority: Annotated[Priority | None, Meta(description="Only this")] = None
    query: Annotated[
        Annotated[str, Meta(max_length=1_000)] | None,
        Meta(
            description="In title, body or id",
        ),
    ] = None
    include_done: Annotated[bool, Meta(description="Done ones too")] = False
    offset: Annotated[int, Meta(ge=0, description="`nextOffset`")] = 0
    limit: Annotated[int, Meta(ge=1, le=200, description="Most cards")] = 100


class Uris(Struct, frozen=True, kw_only=True):
    """Where a card can be read."""

    state: str
    markdown: str
    body: str


class Item(Struct, frozen=True, kw_only=True, rename={"card_id": "cardId"}):
    """A card in a list."""

    card_id: str
    title: str
    column: str
    lane: str | None
    priority: str | None
    size: int | None
    labels: list[str]
    assignees: list[str]
    completed_at: str | None
    path: str
    hash: str
    uris: Uris


class CardList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Cards, how many there are in all, and where the next list begins."""

    items: list[Item]
    next_offset: int | None = field(name="nextOffset")
    total: int
    warnings: list[str] = field(default_factory=list)


@tool(
    "kanban_list", Effect.READ, slow_ms=50, aliases=("kanban/list",), needs_index=False
)
async def list_cards(ctx: Context, args: ListCards) -> CardList:
    board = await board_for(ctx, args.board)
    words = None
    if args.query is not None and args.query.strip():
        with phase("words"):
            words = await words_of(ctx, args.query)
    with phase("files"):
        return await anyio.to_thread.run_sync(_listed, board, args, words)


def _listed(board: Board, args: ListCards, words: Words | None) -> CardList:
    snapshot = board.view.snapshot()
    cards: Iterable[Card] = _chosen(snapshot, args)
    if words is not None:
        cards = cards_with(board.root, cards, args.query or "", words)
    found = list(cards)
    end = args.offset + args.limit
    return CardList(
        items=[_item(board, card) for card in found[args.offset : end]],
        next_offset=end if end < len(found) else None,
        total=len(found),
        warnings=[*snapshot.rules.warnings],
    )


def _chosen(snapshot: Snapshot, args: ListCards) -> list[Card]:
    wanted = {
        trait(kind, value)
        for kind, value in (
            ("lane", args.lane),
            ("assignee", args.assignee),
            ("label", args.label),
            ("priority", args.priority),
        )
        if value is not None
    }
    names = [*args.columns, *([args.column] if args.column is not None else [])]
    columns = columns_called(snapshot, names)
    found = [card for card in snapshot.cards.values() if wanted <= card.traits]
    if columns:
        if args.include_done:
            columns.add("done")
        return [card for card in found if card.column_key in columns]
    return [card for card in found if args.include_done or not card.is_done]


def _item(board: Board, card: Card) -> Item:
    return Item(
        card_id=card.id,
        title=card.title,
        column=card.column,
        lane=card.text("lane"),
        priority=card.text("priority"),
        size=card.size,
        labels=card.texts("labels"),
        assignees=card.texts("assignees"),
        completed_at=card.completed_at,
        path=card.path,
        hash=card.hash,
        uris=Uris(
            state=card_uri(board.id, card.id, "state"),
            markdown=card_uri(board.id, card.id, "markdown"),
            body=card_uri(board.id, card.id, "body"),
        ),
    )


class GetCard(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Read a card: fields, latest notes, Markdown, and `hash` for ifMatch.

    Of Markdown of more than 50,000 characters, 25,000 of Japanese, `next_cursor` leads
    to the rest.
    """

    card_id: CardId
    board: BoardName = ""
    cursor: Cursor = None


class ShownCard(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card, as data and as text."""

    card: dict[str, Any]
    markdown: str
    path: str
    column: str
    hash: str
    warnings: list[str] = field(default_factory=list)
    next_cursor: NextCursor = UNSET


@tool("kanban_get", Effect.READ, aliases=("kanban/get",), needs_index=False)
async def get_card(ctx: Context, args: GetCard) -> ShownCard:
    ident = checked_id(args.card_id)
    board = await board_for(ctx, args.board)
    return await anyio.to_thread.run_sync(_shown, board, ident, args.cursor)


def _shown(board: Board, ident: str, cursor: str | None) -> ShownCard:
    snapshot = board.view.snapshot()
    card = snapshot.card(ident)
    text, rest = part_of_text(markdown_of(board, card), cursor)
    warnings = [*snapshot.rules.warnings]
    if card.problem:
        warnings.append(f"{card.path}: {card.problem}")
    return ShownCard(
        card=state_of(board.kanban, card),
        markdown=text,
        path=card.path,
        column=card.column,
        hash=card.hash,
        warnings=warnings,
        next_cursor=rest,
    )


def markdown_of(board: Board, card: Card) -> str:
    """The file of *card* as it is.

    Raises:
        NotFound: It is gone.
        Denied, BoardUnavailable: It cannot be read.
    """
    try:
        return (board.root / card.path).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        raise NotFound(f"There is no card {card.id} any more.") from None
    except OSError as error:
        raise refused(f"{card.path} cannot be read.", error) from None

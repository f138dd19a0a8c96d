"""A board and its cards as resources, as they are at the moment they are read."""

from collections.abc import Collection, Hashable
from pathlib import Path
from urllib.parse import parse_qs

import anyio.to_thread
import apsw
import msgspec

from ubp import lexicon
from ubp.errors import ResourceNotFound, UbpError
from ubp.packs.board.boards import (
    LOCAL,
    MAIN,
    Board,
    board_for,
    boards_for,
    default_board,
    known_board,
)
from ubp.packs.board.cards import body_of
from ubp.packs.board.failures import Denied, NotFound
from ubp.packs.board.listing_tools import markdown_of
from ubp.packs.board.relation_tools import tree_of
from ubp.packs.board.rendering import current_page
from ubp.packs.board.rules import DEFAULT_COLUMNS
from ubp.packs.board.states import LATEST_NOTES, state_of
from ubp.packs.board.uris import PREFIX, Address, board_uri, card_uri, parsed_uri
from ubp.packs.board.view import Snapshot
from ubp.project import Project
from ubp.prompts import CompleteArgument
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
from ubp.toolkit import Context, Effect, Resources, phase, tool

__all__ = ("RESOURCES", "complete_argument")

_MARKDOWN = "text/markdown"
_TOML = "application/toml"
_JSON = "application/json"

_MANUAL = Path(__file__).parent / "manual.md"

_MOST_COMPLETIONS = 100
_MOST_LISTED = 200
_TREE_DEPTH = 3
_DEEPEST_TREE = 10


@tool("board.list_resources", Effect.READ)
async def list_resources(ctx: Context, args: ListResources) -> ResourceList:
    try:
        board = await board_for(ctx, None)
    except Denied:
        return ResourceList([])
    with phase("files"):
        return await anyio.to_thread.run_sync(_listed, board, args)


def _listed(board: Board, args: ListResources) -> ResourceList:
    found = [] if args.after is not None else _fixed(board)
    snapshot = board.view.snapshot()
    limit = max(1, min(args.limit, _MOST_LISTED))
    found += [
        Resource(
            uri=card_uri(board.id, card.id),
            name=card.name,
            title=card.title,
            description=f"A card in {card.column}.",
            mime_type=_MARKDOWN,
        )
        for card in snapshot.cards.values()
        if not card.is_done and card.id > (args.after or "")
    ]
    shown = found[:limit]
    more = len(found) > len(shown)
    return ResourceList(shown, _last_card(shown) if more else None)


def _last_card(shown: list[Resource]) -> str:
    address = parsed_uri(shown[-1].uri)
    return (address.card if address is not None else None) or ""


def _fixed(board: Board) -> list[Resource]:
    return [
        Resource(
            uri=board_uri(board.id),
            name="board",
            title=f"The board {board.name}",
            description="How many cards are in which column.",
            mime_type=_MARKDOWN,
        ),
        Resource(
            uri=board_uri(board.id, "columns"),
            name="columns",
            title="The board's columns and rules",
            description="columns.toml, as it is.",
            mime_type=_TOML,
        ),
        Resource(
            uri=board_uri(board.id, "manual"),
            name="manual",
            title="How to use the board",
            description="A short guide to the tools, for models.",
            mime_type=_MARKDOWN,
        ),
    ]


@tool("board.read_resource", Effect.READ)
async def read_resource(ctx: Context, args: ReadResource) -> Contents:
    address = parsed_uri(args.uri)
    if address is None or "/" in address.board:  # a path is no part of a URI
        raise ResourceNotFound(args.uri)
    try:
        board = await board_for(ctx, address.board)
        with phase("files"):
            return await anyio.to_thread.run_sync(_contents, board, address)
    except (NotFound, Denied):
        raise ResourceNotFound(args.uri) from None


def _contents(board: Board, address: Address) -> Contents:
    snapshot = board.view.snapshot()
    if address.card is None:
        return _of_board(board, snapshot, address.kind)
    card = snapshot.card(address.card)
    options = parse_qs(address.options)
    match address.kind:
        case "state":
            state = state_of(board.kanban, card, limit=_notes(options))
            return Contents(msgspec.json.encode(state).decode(), _JSON)
        case "tree":
            depth = _number(options, "depth", _TREE_DEPTH, _DEEPEST_TREE)
            tree = tree_of(snapshot, card.id, depth)
            return Contents(msgspec.json.encode({"tree": tree}).decode(), _JSON)
        case "body":
            return Contents(body_of(markdown_of(board, card)), _MARKDOWN)
        case _:
            return Contents(markdown_of(board, card), _MARKDOWN)


def _of_board(board: Board, snapshot: Snapshot, kind: str) -> Contents:
    if kind == "board":
        return Contents(current_page(board.kanban, snapshot), _MARKDOWN)
    if kind == "manual":
        return Contents(_MANUAL.read_text(encoding="utf-8"), _MARKDOWN)
    if snapshot.rules_text is not None:
        return Contents(snapshot.rules_text, _TOML)
    names = ", ".join(f'"{name}"' for name in DEFAULT_COLUMNS)
    return Contents(f"columns = [{names}]\n", _TOML)


def _notes(options: dict[str, list[str]]) -> int | None:
    if options.get("mode") == ["full"]:
        return None
    return _number(options, "limit", LATEST_NOTES, 1_000)


def _number(options: dict[str, list[str]], key: str, default: int, most: int) -> int:
    given = options.get(key, [""])[-1]
    number = int(given) if given.isascii() and given.isdigit() else default
    return max(1, min(number, most))


# -- completion ------------------------------------------------------------------------


@tool("board.complete_variable", Effect.READ)
async def complete_variable(ctx: Context, args: CompleteVariable) -> Completions:
    if args.variable == "boardId":
        return await _boards(ctx, args.value)
    return await _cards(ctx, args.others.get("boardId"), args.value)


@tool("board.complete_argument", Effect.READ)
async def complete_argument(ctx: Context, args: CompleteArgument) -> Completions:
    if args.argument == "board":
        return await _boards(ctx, args.value)
    if args.argument == "cardId":
        return await _cards(ctx, args.others.get("board"), args.value)
    return Completions([], 0)


async def _boards(ctx: Context, typed: str) -> Completions:
    boards = await boards_for(ctx)
    wanted = lexicon.fold(typed)
    found = [
        board.id
        for board in boards
        if board.id.startswith(wanted) or wanted in lexicon.fold(board.name)
    ]
    return Completions(found[:_MOST_COMPLETIONS], len(found))


async def _cards(ctx: Context, given: str | None, typed: str) -> Completions:
    try:
        board = await board_for(ctx, given)
    except UbpError:
        return Completions([], 0)
    return await anyio.to_thread.run_sync(_completed, board, typed)


def _completed(board: Board, typed: str) -> Completions:
    """Ids that begin so, then those whose title contains it."""
    cards = board.view.snapshot().cards.values()
    upper, wanted = typed.strip().upper(), lexicon.fold(typed.strip())
    begin = [card.id for card in cards if card.id.startswith(upper)]
    known = set(begin)
    contain = [
        card.id
        for card in cards
        if card.id not in known and wanted in lexicon.fold(card.title)
    ]
    found = begin + contain
    return Completions(found[:_MOST_COMPLETIONS], len(found))


# -- changes ---------------------------------------------------------------------------


def _states(db: apsw.Connection, uris: Collection[str]) -> dict[str, Address]:
    """All that could be ours; whether they exist is for the files to say."""
    del db
    found = {uri: parsed_uri(uri) for uri in uris}
    return {uri: address for uri, address in found.items() if address is not None}


def _token(project: Project, address: Address) -> Hashable:
    board = _board(project, address.board)
    if board is None:
        return None
    try:
        snapshot = board.view.snapshot()
    except UbpError:
        return None
    if address.kind == "manual":
        return True
    if address.kind == "columns":
        return ("columns", snapshot.rules_text)
    if address.card is None:
        return ("board", snapshot.rules_text, snapshot.identity)
    card = snapshot.cards.get(address.card)
    if card is None:
        return None
    if address.kind == "tree":
        return tuple(_tree_token(snapshot, card.id))
    if address.kind == "state":
        return card.path, card.hash, _notes_token(board, card.id)
    return card.path, card.hash


def _board(project: Project, name: str) -> Board | None:
    """The board a followed URI is about: one that was asked for, and so allowed."""
    own = default_board(project)
    if name in (LOCAL, MAIN, own.id, own.name):
        return own
    return known_board(name)


def _tree_token(snapshot: Snapshot, root: str) -> list[Hashable]:
    found: list[Hashable] = []
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        ident = waiting.pop()
        if ident not in seen and ident in snapshot.cards:
            seen.add(ident)
            card = snapshot.cards[ident]
            found.append((ident, card.title, card.column))
            waiting += snapshot.children.get(ident, ())
    return found


def _notes_token(board: Board, ident: str) -> Hashable:
    try:
        info = (board.kanban / "notes" / f"{ident}.ndjson").stat()
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns


def _list_token(project: Project) -> Hashable:
    try:
        snapshot = default_board(project).view.snapshot()
    except UbpError:
        return None
    return hash(
        tuple(ident for ident, card in snapshot.cards.items() if not card.is_done)
    )


def _template(tail: str, name: str, description: str, mime_type: str) -> Template:
    return Template(
        uri=f"{PREFIX}{{boardId}}/{tail}",
        name=name,
        description=description,
        mime_type=mime_type,
    )


RESOURCES = Resources(
    prefix=PREFIX,
    templates=(
        _template("cards/{cardId}", "card", "A card's file, as it is.", _MARKDOWN),
        _template(
            "cards/{cardId}/state",
            "card-state",
            "A card's fields and latest notes as JSON.",
            _JSON,
        ),
        _template(
            "cards/{cardId}/markdown", "card-markdown", "A card's file.", _MARKDOWN
        ),
        _template(
            "cards/{cardId}/body",
            "card-body",
            "What follows a card's front matter.",
            _MARKDOWN,
        ),
        _template(
            "tree/{cardId}", "card-tree", "A card with its children as JSON.", _JSON
        ),
        _template("board", "board-of", "How full the columns are.", _MARKDOWN),
        _template("columns", "columns-of", "A board's columns.toml.", _TOML),
        _template("manual", "manual-of", "How to use a board.", _MARKDOWN),
    ),
    listing=list_resources,
    read=read_resource,
    complete=complete_variable,
    states=_states,
    token=_token,
    list_token=lambda _: None,
    list_token_of_files=_list_token,
)

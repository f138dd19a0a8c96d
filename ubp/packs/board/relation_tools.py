"""Tools about how cards hang together."""

from typing import Annotated, Any

import anyio.to_thread
from msgspec import UNSET, Meta, Struct, UnsetType, field

from ubp.packs.board import operations
from ubp.packs.board.arguments import BoardName, checked_id
from ubp.packs.board.boards import board_for
from ubp.packs.board.failures import InvalidValue
from ubp.packs.board.relations import ANY, Edge, Kind
from ubp.packs.board.view import Snapshot
from ubp.toolkit import Context, Effect, tool

__all__ = ("card_tree", "set_relations", "tree_of")


_MOST_SHOWN = 200
"""Cards of a tree."""


class Relation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One relation."""

    type: Kind
    from_: str = field(name="from")
    to: str


class SetRelations(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Remove and add relations between cards, all or none.

    Removals come first. A new parent takes the place of the old one. `depends`:
    from needs to; `parent`: from is the child, and `*` removes any; `relates` is
    mutual.
    """

    add: Annotated[list[Relation], Meta(max_length=1_000, description="To add")] = (
        field(default_factory=list)
    )
    remove: Annotated[
        list[Relation], Meta(max_length=1_000, description="To remove")
    ] = field(default_factory=list)
    board: BoardName = ""


class RelationsSet(Struct, frozen=True, kw_only=True):
    """That it was done."""

    updated: bool
    warnings: list[str]


@tool(
    "kanban_relations_set",
    Effect.CHANGE,
    aliases=("kanban/relations.set", "kanban_relations.set", "kanban/relations_set"),
    needs_index=False,
)
async def set_relations(ctx: Context, args: SetRelations) -> RelationsSet:
    remove = [_edge(each, removes=True) for each in args.remove]
    add = [_edge(each, removes=False) for each in args.add]
    board = await board_for(ctx, args.board)
    _, warnings = await anyio.to_thread.run_sync(
        operations.set_relations, board.desk, remove, add
    )
    return RelationsSet(updated=True, warnings=warnings)


def _edge(given: Relation, *, removes: bool) -> Edge:
    source = checked_id(given.from_)
    if given.to == ANY:
        if not removes or given.type != "parent":
            raise InvalidValue("`*` can only stand for a parent that is to be removed.")
        return Edge(given.type, source, ANY)
    target = checked_id(given.to)
    if source == target and not removes:
        raise InvalidValue(f"A card cannot be related to itself: {source}.")
    return Edge(given.type, source, target)


class CardTree(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Show a card and what is below it.

    At most 200 cards, the nearest first. Where `more` stands, that many children of a
    card were left out: ask again with it as `root`, and a smaller `depth` if they are
    many.
    """

    root: Annotated[str, Meta(description="ULID")]
    depth: Annotated[int, Meta(ge=1, le=10, description="Levels")] = 3
    board: BoardName = ""


class Branch(Struct, frozen=True, kw_only=True):
    """A card and those below it."""

    id: str
    title: str
    column: str
    children: "list[Branch]"
    more: int | UnsetType = UNSET


class Tree(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tree."""

    tree: Branch
    warnings: list[str] = field(default_factory=list)


@tool("kanban_tree", Effect.READ, aliases=("kanban/tree",), needs_index=False)
async def card_tree(ctx: Context, args: CardTree) -> Tree:
    root = checked_id(args.root)
    board = await board_for(ctx, args.board)
    snapshot: Any = await anyio.to_thread.run_sync(board.view.snapshot)
    return Tree(
        tree=tree_of(snapshot, root, args.depth), warnings=[*snapshot.rules.warnings]
    )


def tree_of(snapshot: Snapshot, root: str, depth: int) -> Branch:
    """The tree below *root*; a card that is its own ancestor is shown once.

    Raises:
        NotFound: There is no such card.
    """
    top = snapshot.card(root).id
    return _branch(snapshot, top, depth, _nearest(snapshot, top, depth), {top})


def _nearest(snapshot: Snapshot, root: str, depth: int) -> set[str]:
    """The cards that are shown: those with the fewest levels above them."""
    shown = {root}
    level = [root]
    for _ in range(depth):
        below = (each for card in level for each in snapshot.children.get(card, ()))
        new = [each for each in dict.fromkeys(below) if each not in shown]
        level = new[: _MOST_SHOWN - len(shown)]
        shown |= set(level)
    return shown


def _branch(
    snapshot: Snapshot, ident: str, depth: int, shown: set[str], above: set[str]
) -> Branch:
    card = snapshot.cards[ident]
    below = snapshot.children.get(ident, ()) if depth else ()
    there = [child for child in below if child not in above]
    children = [
        _branch(snapshot, child, depth - 1, shown, above | {child})
        for child in there
        if child in shown
    ]
    return Branch(
        id=card.id,
        title=card.title,
        column=card.column,
        children=children,
        more=len(there) - len(children) or UNSET,
    )

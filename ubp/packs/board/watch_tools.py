"""The tool that has a client told of every change of a board."""

from typing import Annotated

from msgspec import Meta, Struct

from ubp.packs.board.arguments import BoardName
from ubp.packs.board.boards import board_for
from ubp.toolkit import Context, Effect, tool

__all__ = ("watch_board",)


class WatchBoard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Be told of changes to the board.

    `notifications/publish` for the board, then for each card.
    """

    board: BoardName = ""
    stop: Annotated[bool, Meta(description="End it")] = False


class Watching(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Whether it began now."""

    started: bool
    already_watching: bool = False
    stopped: bool = False


@tool("kanban_watch", Effect.CHANGE, aliases=("kanban/watch",), needs_index=False)
async def watch_board(ctx: Context, args: WatchBoard) -> Watching:
    board = await board_for(ctx, args.board)
    follower = board.follower
    if args.stop:
        return Watching(started=False, stopped=follower.unwatch())
    await ctx.jobs.start(board.job, board.work(ctx.jobs, ctx.client))
    if await follower.watch(args.board or board.id):
        return Watching(started=True)
    return Watching(started=False, already_watching=True)

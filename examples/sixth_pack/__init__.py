"""A complete tiny pack to copy from: a list of bookmarks. Its truth is the database.

Copy this folder to ``ubp/packs/bookmarks`` and it works: the server lists its tools,
``ubp call`` runs them, ``ubp tools`` documents them. No other file changes.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ubp.toolkit import Context, Effect, ErrorStyle, Pack, tool

from . import queries

__all__ = ("PACK",)


class AddBookmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keep an address worth coming back to."""

    address: Annotated[str, Meta(min_length=1, description="What to keep.")]
    about: Annotated[str, Meta(description="Why it is worth keeping.")] = ""


class Added(Struct, frozen=True, kw_only=True):
    """The new bookmark."""

    number: int


@tool("bookmarks_add", Effect.ADD)
async def add_bookmark(ctx: Context, args: AddBookmark) -> Added:
    number = await ctx.db.run(queries.add, args.address, args.about)
    return Added(number=number)


class ListBookmarks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List every bookmark, oldest first."""


class Bookmark(Struct, frozen=True, kw_only=True):
    """An address, and why it was kept."""

    address: str
    about: str


class Bookmarks(Struct, frozen=True, kw_only=True):
    """All bookmarks."""

    bookmarks: list[Bookmark]


@tool("bookmarks_list", Effect.READ)
async def list_bookmarks(ctx: Context, args: ListBookmarks) -> Bookmarks:
    del args
    found = await ctx.db.run(queries.everything)
    return Bookmarks(
        bookmarks=[Bookmark(address=address, about=about) for address, about in found]
    )


PACK = Pack(
    name="bookmarks",
    summary="addresses worth coming back to",
    tools=(add_bookmark, list_bookmarks),
    errors=ErrorStyle.RESULTS,
    migrations=Path(__file__).parent / "migrations",
)

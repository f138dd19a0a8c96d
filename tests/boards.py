"""A pack that is nothing like the docs: boards of cards, each card a file of its own.

It shows what another pack may do with resources without a change elsewhere: a scheme
of its own, several templates, completion that depends on what was chosen before, and
its own notion of a change, which no commit announces. And it offers a prompt.
"""

import re
from collections.abc import Collection, Hashable
from pathlib import Path
from typing import Annotated

import apsw
from msgspec import Meta, Struct

from ubp.errors import CallerError, ResourceNotFound
from ubp.project import Project
from ubp.prompts import CompleteArgument, Message, Messages
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
from ubp.toolkit import Context, Effect, ErrorStyle, Pack, Prompts, Resources, tool

__all__ = ("BOARDS",)

CARD = "kanban://{boardId}/cards/{cardId}"
_CARD = re.compile(r"kanban://(\w+)/cards/(\w+)")


class Nothing(Struct, frozen=True):
    """Takes nothing."""


@tool("board_nothing", Effect.READ)
async def nothing(ctx: Context, args: Nothing) -> Nothing:
    del ctx
    return args


def _file(project: Project, uri: str) -> Path | None:
    match = _CARD.fullmatch(uri)
    return project.root / "boards" / match[1] / f"{match[2]}.bin" if match else None


def _all(project: Project) -> list[Path]:
    return sorted((project.root / "boards").glob("*/*.bin"))


@tool("board.list_resources", Effect.READ)
async def list_resources(ctx: Context, args: ListResources) -> ResourceList:
    uris = [f"kanban://{f.parent.name}/cards/{f.stem}" for f in _all(ctx.project)]
    rest = [uri for uri in uris if uri > (args.after or "")]
    shown = rest[: args.limit]
    more = shown[-1] if len(rest) > len(shown) else None
    return ResourceList([Resource(uri=uri, name=uri) for uri in shown], more)


@tool("board.read_resource", Effect.READ)
async def read_resource(ctx: Context, args: ReadResource) -> Contents:
    file = _file(ctx.project, args.uri)
    if file is None or not file.exists():
        raise ResourceNotFound(args.uri)
    return Contents(file.read_bytes(), "application/octet-stream")


@tool("board.complete_variable", Effect.READ)
async def complete_variable(ctx: Context, args: CompleteVariable) -> Completions:
    board = args.others.get("boardId")
    if args.variable == "boardId":
        found = {file.parent.name for file in _all(ctx.project)}
    else:
        found = {file.stem for file in _all(ctx.project) if file.parent.name == board}
    return Completions(sorted(found), len(found))


def _states(db: apsw.Connection, uris: Collection[str]) -> dict[str, str]:
    del db
    return {uri: uri for uri in uris if _CARD.fullmatch(uri)}


def _token(project: Project, uri: str) -> Hashable:
    file = _file(project, uri)
    return file.read_bytes() if file is not None and file.exists() else None


class NoSuchCard(CallerError):
    code = "board.no_such_card"
    cause = "Nothing has that name."
    hint = "List the cards."


class SplitCard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Split a card.

    Into several.
    """

    card: Annotated[str, Meta(description="The card.")]
    count: Annotated[int, Meta(ge=2, le=9, description="How many.")] = 3


@tool("board_split", Effect.READ)
async def split(ctx: Context, args: SplitCard) -> Messages:
    if not any(file.stem == args.card for file in _all(ctx.project)):
        raise NoSuchCard("There is no such card.")
    asked = Message(f"Split {args.card} into {args.count}.")
    return Messages([asked, Message("Gladly.", "assistant")])


@tool("board.complete_argument", Effect.READ)
async def complete_argument(ctx: Context, args: CompleteArgument) -> Completions:
    if args.argument != "card":
        return Completions([], 0)
    found = sorted(file.stem for file in _all(ctx.project))
    return Completions([stem for stem in found if stem.startswith(args.value)], 2)


BOARDS = Pack(
    name="board",
    summary="boards",
    tools=(nothing,),
    errors=ErrorStyle.RESULTS,
    migrations=Path("/nowhere"),
    resources=Resources(
        prefix="kanban://",
        templates=(
            Template(uri="kanban://{boardId}", name="board"),
            Template(uri=CARD, name="card"),
        ),
        listing=list_resources,
        read=read_resource,
        complete=complete_variable,
        states=_states,
        token=_token,
        list_token=lambda _: 0,
    ),
    prompts=Prompts((split,), complete_argument),
)

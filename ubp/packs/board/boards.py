"""Which boards there are for a client, and which one it means.

Without roots it is the server's own board and no other. With roots it is every folder
with ``.kanban/`` that is one of them or lies below, and the server's own only if it is
inside one.
"""

import hashlib
import os
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import anyio.to_thread

from ubp.errors import shortened
from ubp.packs.board.desk import Desk
from ubp.packs.board.failures import Denied, InvalidValue, NotFound
from ubp.packs.board.following import Follower
from ubp.packs.board.view import KANBAN, View
from ubp.project import Project
from ubp.toolkit import Client, Context, Jobs, Work

__all__ = (
    "LOCAL",
    "MAIN",
    "Board",
    "board_for",
    "boards_for",
    "default_board",
    "follow_default",
    "known_board",
    "open_board",
)

MAIN = "main"
LOCAL = "local"
"""The default board, as URIs of others name it."""

_LEVELS = 3
"""Below a root that are looked through for boards."""

_MOST_FOLDERS = 5_000
_MOST_OPEN = 32

_NEVER = frozenset({"node_modules", "__pycache__"})


@dataclass(eq=False)
class Board:
    """A board that this process knows: one object for each."""

    root: Path
    view: View = field(init=False)
    desk: Desk = field(init=False)
    follower: Follower = field(init=False)

    def __post_init__(self) -> None:
        self.view = View(self.root)
        self.desk = Desk(self.view)
        self.follower = Follower(self.desk)

    @cached_property
    def id(self) -> str:
        """Stable for as long as the board stays where it is."""
        return hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def kanban(self) -> Path:
        return self.view.kanban

    @property
    def job(self) -> Hashable:
        """What following it is known by."""
        return ("board", self.root)

    def work(self, jobs: Jobs, client: Client) -> Work:
        return partial(self.follower.run, jobs, client)


_open: dict[Path, Board] = {}
_turn = threading.Lock()


def open_board(root: Path) -> Board:
    """The board at *root*, a real path: read once, however often it is asked for."""
    with _turn:
        board = _open.pop(root, None) or Board(root)
        _open[root] = board  # the last one used is the last one to be let go
        # One that is followed stays: another object of it would not be told anything.
        idle = [path for path, each in _open.items() if not each.follower.is_following]
        for path in idle[: max(0, len(_open) - _MOST_OPEN)]:
            if path != root:
                del _open[path]
        return board


def _opened(ident: str) -> Board | None:
    """The board of this id, if it was opened before; None if not."""
    with _turn:
        return next((board for board in _open.values() if board.id == ident), None)


def known_board(name: str) -> Board | None:
    """The board of this id or name, if it was opened before; None if not."""
    with _turn:
        return next((b for b in _open.values() if name in (b.id, b.name)), None)


def default_board(project: Project) -> Board:
    return open_board(project.board_dir)


def follow_default(project: Project, jobs: Jobs, client: Client) -> None:
    """Follow the project's own board, if there is one, before anybody asks for it."""
    board = default_board(project)
    if board.view.exists():
        jobs.start_soon(board.job, board.work(jobs, client))


async def board_for(ctx: Context, given: str | None) -> Board:
    """The board a caller means.

    Raises:
        Denied: It is outside of what the client may use.
        NotFound: There is none.
    """
    roots = await ctx.client.roots()
    board = await anyio.to_thread.run_sync(_found, ctx.project, roots, given)
    if board.view.exists():
        ctx.jobs.start_soon(board.job, board.work(ctx.jobs, ctx.client))
    return board


async def boards_for(ctx: Context) -> list[Board]:
    """Every board the client may use, the default one first."""
    roots = await ctx.client.roots()
    return await anyio.to_thread.run_sync(_allowed, ctx.project, roots)


def _allowed(project: Project, roots: Sequence[Path] | None) -> list[Board]:
    own = default_board(project)
    if not roots:
        return [own]
    real = _real(roots)
    found = [own.root] if _is_inside(own.root, real) else []
    for root in real:
        found += _below(root)
    return [open_board(path) for path in dict.fromkeys(found)]


def _found(project: Project, roots: Sequence[Path] | None, given: str | None) -> Board:
    own = default_board(project)
    real = _real(roots or ())
    if given in (None, "", ".", MAIN, LOCAL):
        if not _may_be_used(own, own, real):
            raise Denied("The server's own board is outside the client's roots.")
        return own
    # Roots may be large: they are not looked through for an id that is known, nor for
    # a path.
    opened = _opened(given)
    if opened and _may_be_used(opened, own, real) and opened.view.exists():
        return open_board(opened.root)
    if "/" in given or os.sep in given:
        allowed = [own] if _may_be_used(own, own, real) else []
        return _at(project, given, allowed, real)
    allowed = _allowed(project, roots)
    called = [board for board in allowed if given in (board.id, board.name)]
    if len(called) > 1:
        ids = ", ".join(f"{board.id}" for board in called)
        raise InvalidValue(
            f"Several boards are called {shortened(given)!r}; use one of {ids}."
        )
    if called:
        return called[0]
    return _at(project, given, allowed, real)


def _may_be_used(board: Board, own: Board, roots: Sequence[Path]) -> bool:
    return _is_inside(board.root, roots) if roots else board is own


def _at(
    project: Project, given: str, allowed: Sequence[Board], roots: Sequence[Path]
) -> Board:
    """The board at the path *given*."""
    try:
        path = Path(os.path.realpath(project.root / given))
        is_folder = path.is_dir()
    except (OSError, ValueError):
        raise NotFound(f"There is no board {shortened(given)!r}.") from None
    for board in allowed:
        if board.root == path:
            return board
    is_path = is_folder or "/" in given or os.sep in given
    if not is_path:
        raise NotFound(f"There is no board {shortened(given)!r}.")
    if not _is_inside(path, roots):
        raise Denied(f"The board {shortened(given)!r} is outside what may be used.")
    if not _has_board(path):
        raise NotFound(f"There is no board in {shortened(given)!r}.")
    return open_board(path)


def _real(roots: Sequence[Path]) -> list[Path]:
    return [Path(os.path.realpath(root)) for root in roots]


def _is_inside(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _below(root: Path) -> list[Path]:
    found: list[Path] = []
    waiting = [(root, 0)]
    looked = 0
    while waiting and looked < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        looked += 1
        if _has_board(folder):
            found.append(folder)
        if depth >= _LEVELS:
            continue
        try:
            with os.scandir(folder) as listing:
                names = sorted(
                    entry.name
                    for entry in listing
                    if entry.is_dir(follow_symlinks=False)
                    and not entry.name.startswith(".")
                    and entry.name not in _NEVER
                )
        except OSError:
            continue  # not ours to look into
        waiting += [(folder / name, depth + 1) for name in names]
    return found


def _has_board(folder: Path) -> bool:
    kanban = folder / KANBAN
    return kanban.is_dir() and not kanban.is_symlink()

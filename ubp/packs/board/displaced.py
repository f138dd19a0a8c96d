"""Versions of a card that somebody saved while it was replaced: none gets lost.

Whoever replaces a card finds out afterwards what it replaced. Until then that version
has a temporary name in ``.kanban``, which says of which card it is and which contents
are nobody else's. Whatever else has such a name somebody has saved: it goes back to
its place, or is kept beside the card if that is taken by now.

The caller holds the lock.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ubp import atomic_files
from ubp.packs.board import steps
from ubp.packs.board.cards import digest_of
from ubp.packs.board.inside import is_place_of_a_card
from ubp.packs.board.ulids import new_ulid
from ubp.telemetry import get_logger

__all__ = ("Replacement", "files_kept", "is_unsettled", "put_back", "settled_later")

log = get_logger("board")

_NAME = re.compile(
    r"\.(?P<made>\w{26})\.(?P<card>\w{26})\.(?P<before>[0-9a-f]{64})"
    r"\.(?P<after>[0-9a-f]{64})\.tmp\Z",
    re.ASCII,
)

_KEPT = "__saved-meanwhile-"


class Replacement(NamedTuple):
    """That a card with one content gets another."""

    card: str
    """Its id, as its file has it."""
    before: str
    after: str
    """Digests of what was read, and of what we made of it."""

    @property
    def temporary_name(self) -> str:
        """One that says all this to whoever comes later."""
        return f".{new_ulid()}.{self.card}.{self.before}.{self.after}.tmp"


def put_back(temporary: Path, path: Path, what: Replacement) -> None:
    """Let what somebody saved at *path*, and is at *temporary*, be there again.

    What somebody saved there after that is kept beside it. Our own version goes.

    Raises:
        OSError: The disk refuses. It is then settled later.
    """
    try:
        is_back = atomic_files.exchange(temporary, path)
    except FileNotFoundError:  # moved or deleted by somebody
        _settle(temporary, what)
        return
    steps.step("look at what was there")
    if is_back and _digest(temporary) == what.after:
        temporary.unlink()
    else:
        _keep(temporary, path.parent, what.card)


def is_unsettled(name: str) -> bool:
    """Whether a file of that name may be a version that somebody saved."""
    return _NAME.match(name) is not None


def settled_later(kanban: Path, name: str) -> bool:
    """Settle what a killed process left at *name*; whether that is such a file.

    Raises:
        OSError: The disk refuses.
    """
    found = _NAME.match(name)
    if found is None:
        return False
    what = Replacement(found["card"], found["before"], found["after"])
    _settle(kanban / name, what)
    return True


def _settle(temporary: Path, what: Replacement) -> None:
    if _digest(temporary) in (what.before, what.after):
        temporary.unlink()
        return
    kanban = temporary.parent
    places = _places(kanban, what.card)
    if len(places) == 1 and _digest(places[0]) == what.after:
        put_back(temporary, places[0], what)
    else:
        _keep(temporary, places[0].parent if places else kanban, what.card)


def files_kept(kanban: Path) -> list[str]:
    """Versions that are kept beside their cards, as paths from the board's root."""
    found = kanban.rglob(f"*{_KEPT}*")
    return sorted(_from_root(kanban, file) for file in found)


def _keep(temporary: Path, folder: Path, card: str) -> None:
    """Give it a name under which people find it, and which is not that of a card."""
    steps.step("keep")
    kept = folder / f"{card}{_KEPT}{new_ulid()}.txt"
    try:
        temporary.rename(kept)
    except (FileNotFoundError, NotADirectoryError):  # the folder has gone
        kept = temporary.parent / kept.name
        temporary.rename(kept)
    log.warning("board.kept_beside", path=_from_root(temporary.parent, kept))


def _from_root(kanban: Path, file: Path) -> str:
    return file.relative_to(kanban.parent).as_posix()


def _places(kanban: Path, card: str) -> list[Path]:
    """Where the files of *card* are."""
    places = (file.relative_to(kanban) for file in kanban.rglob(f"{card}__*.md"))
    return sorted(
        kanban / place
        for place in places
        if is_place_of_a_card(kanban, place.as_posix())
    )


def _digest(path: Path) -> str | None:
    with suppress(FileNotFoundError):
        return digest_of(path.read_bytes())
    return None

"""Where changes of a board are made: one at a time, from what is there right now."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ubp.errors import UbpError
from ubp.packs.board.board_lock import locked
from ubp.packs.board.cards import Card, digest_of
from ubp.packs.board.committing import (
    Change,
    ChangedMeanwhile,
    commit,
    finish_what_was_begun,
    refuse_links,
)
from ubp.packs.board.contents import Body, changed_content
from ubp.packs.board.failures import Conflict, no_board, refused
from ubp.packs.board.indexes import CARDS, Indexes
from ubp.packs.board.view import KANBAN, LARGEST_CARD, Snapshot, View
from ubp.telemetry import get_logger

__all__ = ("Desk", "Planned")

log = get_logger("board")

T = TypeVar("T")

_ATTEMPTS = 20
"""How often a change is planned anew because somebody saved at the same moment."""


class Planned(NamedTuple):
    """What is to change, and what the caller is told when it has."""

    changes: Sequence[Change]
    result: Any
    warnings: Sequence[str] = ()


class Desk:
    """The one of a board."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._kanban = view.kanban
        self._indexes = Indexes(view.kanban)

    def change(
        self, plan: Callable[["Sheet"], Planned], *, create: bool = False
    ) -> tuple[Any, list[str]]:
        """Carry out what *plan* makes of the board; its result, and warnings.

        With *create* a board that is not there is made first.

        Raises:
            UbpError: What the plan raises, or the board cannot be changed.
        """
        if create:
            self._make()
        for _ in range(_ATTEMPTS):
            try:
                with locked(self._kanban):
                    return self._changed(plan)
            except ChangedMeanwhile:
                log.debug("board.changed_meanwhile")
                self.view.look_again()
            except FileNotFoundError:
                raise no_board() from None
        raise Conflict(
            "The card is being changed by somebody else all the time.",
            hint="Try again in a moment.",
        )

    def _changed(self, plan: Callable[["Sheet"], Planned]) -> tuple[Any, list[str]]:
        finish_what_was_begun(self._kanban)
        snapshot = self.view.as_found()
        planned = plan(Sheet(self._kanban, snapshot))
        commit(self._kanban, planned.changes)
        warnings = [*snapshot.rules.warnings, *planned.warnings]
        if planned.changes:
            warnings += self._bring_in_line(self.view.after(planned.changes))
        return planned.result, warnings

    def _bring_in_line(self, snapshot: Snapshot) -> list[str]:
        """Let the indexes say what the cards say; the caller holds the lock."""
        try:
            return self._indexes.bring_in_line(snapshot)
        except OSError as error:
            # The cards are what counts, and they are as they should be.
            reason = error.strerror or "input/output error"
            return [f"The indexes could not be written: {reason}."]

    def heal_indexes(self) -> None:
        """Bring them in line after somebody has changed cards by hand.

        A board that has none keeps having none.
        """
        try:
            if not (self._kanban / CARDS).exists():
                return
            if self._indexes.are_in_line(self.view.snapshot()):
                return
            with locked(self._kanban):
                self._bring_in_line(self.view.as_found())
        except (OSError, UbpError) as error:
            log.debug("board.not_healed", reason=type(error).__name__)

    def rebuild_indexes(self, *, cards: bool, relations: bool) -> None:
        """Write the indexes anew.

        Raises:
            Denied, BoardUnavailable: The disk refuses.
        """
        try:
            with locked(self._kanban):
                finish_what_was_begun(self._kanban)
                snapshot = self.view.as_found(every_file=True)
                self._indexes.rebuild(snapshot, cards=cards, relations=relations)
        except OSError as error:
            raise refused("The indexes cannot be written.", error) from None

    def _make(self) -> None:
        try:
            self._kanban.mkdir(exist_ok=True)
        except OSError as error:
            raise refused("The board cannot be made.", error) from None


class Sheet:
    """The board as a plan sees it: what is there, and what its files hold."""

    def __init__(self, kanban: Path, snapshot: Snapshot) -> None:
        self.kanban = kanban
        self.snapshot = snapshot

    def card(self, ident: str) -> Card:
        """The card of that id, if there is exactly one.

        Raises:
            NotFound: There is none.
            Conflict: There are several files of it.
        """
        card = self.snapshot.card(ident)
        if copies := self.snapshot.duplicates.get(ident):
            paths = ", ".join(copy.path for copy in copies)
            raise Conflict(
                f"There are {len(copies)} files of the card {ident}: {paths}.",
                cause="An id belongs to one file.",
                hint="Decide which one counts, and delete the other.",
            )
        return card

    def content(self, card: Card) -> bytes:
        """What its file holds right now.

        Raises:
            ChangedMeanwhile: Not what we took it for.
            Denied, BoardUnavailable: It cannot be read.
            Conflict: It is too large.
        """
        path = self.kanban.parent / card.path
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise ChangedMeanwhile from None
        except OSError as error:
            raise refused(f"{card.path} cannot be read.", error) from None
        if len(content) > LARGEST_CARD:
            raise Conflict(
                f"{card.path} is too large to be changed as a card.",
                cause=f"A card has {LARGEST_CARD // 2**20} MiB at most.",
                hint="Move what it holds to a file of its own.",
            )
        if digest_of(content) != card.hash:
            raise ChangedMeanwhile
        return content

    def changed(
        self,
        card: Card,
        values: Mapping[str, Any],
        *,
        body: Body | None = None,
        place: str | None = None,
    ) -> Change:
        """A card with other values, another body, or at another place in ``.kanban``.

        Raises:
            Conflict: It cannot be changed as it is written.
        """
        content = self.content(card)
        here = within(card.path)
        after = content
        if values or body is not None:
            after = changed_content(content, card.id, values, body)
        return Change(source=here, target=place or here, before=content, after=after)

    def is_free(self, place: str) -> bool:
        """Whether there is nothing at *place*."""
        return not (self.kanban / place).exists()

    def folder(self, place: str) -> str:
        """The folder *place*, which is made when something goes there.

        Raises:
            Denied: It leads elsewhere.
        """
        refuse_links(self.kanban, place)
        return place


def within(path: str) -> str:
    """A path from the board's root as one in ``.kanban``."""
    return path.removeprefix(f"{KANBAN}/")

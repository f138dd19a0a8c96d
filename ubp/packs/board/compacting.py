"""Put done cards where they belong: under the month they were done in."""

import os
from datetime import UTC, datetime
from pathlib import Path

from ubp.packs.board import moments
from ubp.packs.board.board_lock import locked
from ubp.packs.board.cards import Card
from ubp.packs.board.desk import Desk, Planned, Sheet, within
from ubp.packs.board.names import DONE
from ubp.packs.board.view import KANBAN, Snapshot

__all__ = ("compact", "moves_of", "remove_empty_folders")

_MONTH_DEPTH = 2
"""Folders of a year and a month."""


def moves_of(kanban: Path, snapshot: Snapshot) -> list[tuple[str, str]]:
    """From where to where cards are to go, as paths from the board's root."""
    return [
        (card.path, f"{KANBAN}/{place}")
        for card in snapshot.cards.values()
        if (place := _place(kanban, card)) is not None
        and card.id not in snapshot.duplicates
    ]


def _place(kanban: Path, card: Card) -> str | None:
    folders = within(card.path).split("/")[1:-1]
    if not card.is_done or len(folders) >= _MONTH_DEPTH:
        return None
    moment = moments.parsed_moment(card.completed_at or "")
    if moment is None:
        try:
            seconds = (kanban / within(card.path)).stat().st_mtime
            moment = datetime.fromtimestamp(seconds, UTC)
        except (OSError, OverflowError, ValueError):
            return None
    return f"{DONE}/{moments.month_of(moment)}/{card.name}"


def compact(desk: Desk) -> tuple[int, list[str]]:
    """Move them; how many were, and what there is to say.

    Raises:
        UbpError: The board cannot be changed.
    """

    def plan(sheet: Sheet) -> Planned:
        changes = []
        skipped: list[str] = []
        by_path = {card.path: card for card in sheet.snapshot.cards.values()}
        for source, target in moves_of(sheet.kanban, sheet.snapshot):
            place = within(target)
            sheet.folder(place.rpartition("/")[0])
            if not sheet.is_free(place):
                skipped.append(f"{source}: there is something else at {target}.")
                continue
            changes.append(sheet.changed(by_path[source], {}, place=place))
        return Planned(changes, len(changes), skipped)

    moved, warnings = desk.change(plan)
    return int(moved), warnings


def remove_empty_folders(kanban: Path, snapshot: Snapshot) -> int:
    """Remove folders within columns that hold nothing; columns themselves stay."""
    removed = 0
    with locked(kanban):  # or one goes that somebody has just made for a card
        for column in snapshot.folders:
            for folder, _, _ in os.walk(kanban / column, topdown=False):
                if Path(folder) == kanban / column:
                    continue
                try:
                    Path(folder).rmdir()
                    removed += 1
                except OSError:
                    continue  # not empty, or not ours to remove
    return removed

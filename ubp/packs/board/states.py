"""A card as data: what a program wants to know of it."""

from pathlib import Path
from typing import Any

from ubp.packs.board import journal
from ubp.packs.board.cards import Card

__all__ = ("LATEST_NOTES", "state_of")

LATEST_NOTES = 3
"""Notes that are shown unless more are asked for."""


def state_of(
    kanban: Path, card: Card, *, limit: int | None = LATEST_NOTES
) -> dict[str, Any]:
    """All fields of *card*, with its latest notes; None is all of them."""
    known = {
        "id": card.id,
        "title": card.title,
        "column": card.column,
        "path": card.path,
        "hash": card.hash,
        "description": card.text("description"),
        "lane": card.text("lane"),
        "priority": card.text("priority"),
        "size": card.size,
        "labels": card.texts("labels"),
        "assignees": card.texts("assignees"),
        "parent": card.parent,
        "depends_on": card.depends_on,
        "relates": card.relates,
        "created_at": card.text("created_at"),
        "completed_at": card.completed_at,
        "resume_hint": card.text("resume_hint"),
        "next_steps": card.texts("next_steps"),
        "blockers": card.texts("blockers"),
    }
    hidden = {"relates_to", "id", "title"}
    own = {
        key: value
        for key, value in card.values.items()
        if key not in known and key not in hidden
    }
    notes = journal.latest(kanban, card.id, limit=limit)
    return {**known, **own, "notes": notes}

"""What of the registry people are shown: one item, lists, an export and a report."""

from collections import Counter
from typing import Any

import apsw
from msgspec import Struct

from ubp.packs.registry import queries
from ubp.packs.registry.problems import NotFound
from ubp.packs.registry.queries import Item, Viewer
from ubp.packs.registry.search_tools import shown_unit
from ubp.packs.registry.trust_tools import Reputation, reputation_of
from ubp.store.ids import now

__all__ = (
    "EXPORT_CONTEXT",
    "Entry",
    "Export",
    "Feedback",
    "Report",
    "Shown",
    "entries",
    "export",
    "report",
    "show",
)

EXPORT_CONTEXT = "https://openknowledgepulse.org/export/v1"


class Feedback(Struct, frozen=True, kw_only=True):
    """What an agent said of an item."""

    validator: str
    valid: bool
    feedback: str | None
    timestamp: str


class Shown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item with all that may be known of it."""

    id: str
    kind: str
    agent_id: str
    visibility: str
    quality_score: float
    computed_quality: float
    reported_quality: float | None
    status: str
    positive: int
    negative: int
    feedback: list[Feedback]
    asked_visibility: str = ""
    """Whom it was contributed for; only if not all of these see it yet."""
    content: Any
    """The text of a skill; a unit is an object."""


class Entry(Struct, frozen=True, kw_only=True):
    """An item in a list."""

    id: str
    kind: str
    name: str
    domain: str | None
    visibility: str
    quality_score: float
    status: str
    agent_id: str
    created_at: str


class ExportedSkill(Struct, frozen=True, kw_only=True):
    """A skill in an export."""

    id: str
    name: str
    visibility: str
    content: str


class Export(Struct, frozen=True, kw_only=True, rename={"context": "@context"}):
    """Everything an agent contributed."""

    context: str = EXPORT_CONTEXT
    agent_id: str
    exported_at: str
    total_contributions: int
    knowledge_units: list[dict[str, Any]]
    skills: list[ExportedSkill]
    reputation: Reputation


class Report(Struct, frozen=True, kw_only=True):
    """How much there is of what, and what nobody has judged yet."""

    total: int
    by_kind: dict[str, int]
    by_status: dict[str, int]
    by_domain: dict[str, int]
    waiting_for_validation: list[str]


def show(db: apsw.Connection, who: Viewer, ident: str) -> Shown:
    """The item of that id.

    Raises:
        NotFound: There is none that *who* may see.
    """
    item = queries.item_of(db, who, ident)
    if item is None:
        raise NotFound("There is nothing of that id.")
    return Shown(
        id=item.ident,
        kind=item.kind,
        agent_id=item.agent,
        visibility=item.visibility,
        quality_score=item.quality,
        computed_quality=item.computed,
        reported_quality=item.reported,
        status=item.status,
        positive=item.positive,
        negative=item.negative,
        feedback=[
            Feedback(validator=by, valid=valid, feedback=said, timestamp=at)
            for by, valid, said, at in queries.feedback(db, item.row)
        ],
        asked_visibility="" if item.asked == item.visibility else item.asked,
        content=item.content if item.kind == "skill" else _unit(db, item),
    )


def entries(db: apsw.Connection, who: Viewer, *, mine: bool) -> list[Entry]:
    """Everything *who* may see, or contributed; the newest first."""
    return [
        Entry(
            id=item.ident,
            kind=item.kind,
            name=item.name,
            domain=item.domain,
            visibility=item.visibility,
            quality_score=item.quality,
            status=item.status,
            agent_id=item.agent,
            created_at=item.created_at,
        )
        for item in queries.listed(db, who, mine=mine)
    ]


def export(db: apsw.Connection, who: Viewer) -> Export:
    """Everything *who* contributed."""
    mine = queries.listed(db, who, mine=True)
    items = [item for item in mine if item.source is None]
    return Export(
        agent_id=who.agent,
        exported_at=now(),
        total_contributions=len(items),
        knowledge_units=[_unit(db, item) for item in items if item.kind != "skill"],
        skills=[
            ExportedSkill(
                id=item.ident,
                name=item.name,
                visibility=item.asked,
                content=item.content,
            )
            for item in items
            if item.kind == "skill"
        ],
        reputation=reputation_of(db, who, who.agent),
    )


def report(db: apsw.Connection, who: Viewer) -> Report:
    """A summary of what *who* may see."""
    items = queries.listed(db, who, mine=False)
    return Report(
        total=len(items),
        by_kind=_counted(item.kind for item in items),
        by_status=_counted(item.status for item in items),
        by_domain=_counted(item.domain or "" for item in items),
        waiting_for_validation=[
            item.ident
            for item in items
            if item.agent != who.agent and item.positive + item.negative == 0
        ],
    )


def _unit(db: apsw.Connection, item: Item) -> dict[str, Any]:
    return shown_unit(item, queries.validators(db, [item.row]).get(item.row, []))


def _counted(words: Any) -> dict[str, int]:
    return dict(Counter(words).most_common())

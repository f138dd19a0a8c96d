"""Who acts, and by which rules: what the tools take from settings and environment."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import apsw

from ubp.config import Settings, acting_agent
from ubp.packs.registry import queries, writes
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.queries import Viewer
from ubp.packs.registry.writes import Retention
from ubp.project import Project
from ubp.store.ids import iso
from ubp.toolkit import Rules

__all__ = (
    "RULES",
    "retention_of",
    "thresholds_of",
    "unseen_rows",
    "viewer",
    "visible_counts",
)


def viewer() -> Viewer:
    """The agent in whose name this process acts."""
    agent = acting_agent()
    return Viewer(agent.id, agent.org)


def visible_counts(db: apsw.Connection) -> Mapping[str, int]:
    """How much there is, for the agent in whose name this process acts."""
    return queries.counts(db, viewer())


def unseen_rows(db: apsw.Connection) -> list[int]:
    """What the agent in whose name this process acts may not know of."""
    return queries.closed_rows(db, viewer(), seen=False)


def retention_of(project: Project) -> Retention:
    """What is old enough by now to be deleted."""
    settings = project.settings.registry
    return Retention(
        _ago(settings.org_days),
        _ago(settings.private_days),
    )


def _ago(days: float) -> str:
    return iso(datetime.now(UTC) - timedelta(days=days))


def thresholds_of(project: Project) -> Thresholds:
    settings = project.settings.registry
    return Thresholds(settings.reject_at, settings.suspicious_at)


def _hold(db: apsw.Connection, settings: Settings) -> bool:
    return queries.confirmations(db) == settings.registry.confirmations


def _follow(db: apsw.Connection, settings: Settings) -> None:
    if not db.readonly("main"):
        writes.require_confirmations(db, settings.registry.confirmations)


RULES = Rules(hold=_hold, follow=_follow)

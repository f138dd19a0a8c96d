"""How far pages can be trusted: some of them, or all."""

import apsw
from msgspec import Struct

from ubp.packs.docs import queries
from ubp.packs.docs.kinds import Staleness, StaleReason
from ubp.packs.docs.staleness import Verdict, judge
from ubp.project import Project

__all__ = ("StaleDocument", "StaleReport", "StaleSource", "stale_documents", "verdicts")

_NOT_TO_BE_TRUSTED: tuple[Staleness, ...] = ("stale", "possibly_stale")


class StaleSource(Struct, frozen=True):
    """A source file that is not as it was."""

    source_path: str
    reason: StaleReason


class StaleDocument(Struct, frozen=True):
    """A page whose sources changed."""

    doc_id: str
    filepath: str
    title: str
    staleness: Staleness
    stale_refs: list[StaleSource]


class StaleReport(Struct, frozen=True):
    """The pages that may be out of date."""

    stale_documents: list[StaleDocument]
    total: int


def verdicts(
    db: apsw.Connection, pages: list[int], project: Project
) -> dict[int, Verdict]:
    """How far each of these pages can be trusted, as its sources are now."""
    refs = queries.source_refs(db, pages)
    days = project.settings.staleness.threshold_days
    return {page: judge(refs.get(page, []), project.root, days) for page in pages}


def stale_documents(
    db: apsw.Connection, project: Project, days: float | None = None
) -> StaleReport:
    """The pages that are stale, or possibly, by path; *days* replaces the threshold."""
    pages = queries.tracked_pages(db)
    refs = queries.source_refs(db, [page.id for page in pages])
    threshold = project.settings.staleness.threshold_days if days is None else days
    found: list[StaleDocument] = []
    for page in pages:
        verdict = judge(refs.get(page.id, []), project.root, threshold)
        if verdict.staleness in _NOT_TO_BE_TRUSTED:
            sources = [StaleSource(ref.path, ref.reason) for ref in verdict.refs]
            found.append(
                StaleDocument(
                    page.doc_id, page.path, page.title, verdict.staleness, sources
                )
            )
    return StaleReport(found, len(found))

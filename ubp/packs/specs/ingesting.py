"""Fetch a document, cut it, store it: a complete snapshot or none.

A page that has not changed comes from the cache, and one that cannot be had is as the
snapshot before has it. Nothing is visible until all of it is stored.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread
import apsw
from msgspec import Struct
from msgspec.structs import replace

from ubp.config import FetchPatience
from ubp.errors import UbpError
from ubp.packs.specs import queries
from ubp.packs.specs.addresses import page_address, without_secrets
from ubp.packs.specs.failures import SourceFailed
from ubp.packs.specs.fetching import Fetcher, FetchFailed, next_delay, open_client
from ubp.packs.specs.languages import Document
from ubp.packs.specs.page_cache import Cached, PageCache
from ubp.packs.specs.page_text import cut_page, is_markdown, looks_like_html
from ubp.packs.specs.sections import Cut
from ubp.packs.specs.snapshots import CutPage, Outcome, Snapshot, assembled
from ubp.packs.specs.sources import DiskSource, PageAt, WebSource, source_of
from ubp.packs.specs.writes import store
from ubp.project import Project
from ubp.store.session import Session
from ubp.telemetry import get_logger

__all__ = ("DocumentReport", "FailedPage", "Ingested", "Run", "ingest")

log = get_logger("specs")

_UNCHANGED = 304
_NICENESS = 10

_GIVE_UP_AFTER = 3
"""Pages in a row, each tried four times: it is the server that fails, not a page, and
to ask it for a hundred more would take hours."""

T = TypeVar("T")

Moved = Callable[[int, int], None]
"""Told how many pages of how many are done."""


class FailedPage(Struct, frozen=True, kw_only=True):
    """A page that could not be had, and why."""

    url: str
    message: str


class DocumentReport(Struct, frozen=True, kw_only=True):
    """What a run did with one document."""

    language: str
    doc: str
    version: str | None = None
    """The newest there is after the run."""
    previous_version: str | None = None
    """The newest there was before."""
    source_url: str = ""
    total: int = 0
    fetched: int = 0
    cached: int = 0
    failed: int = 0
    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    carried_over: int = 0
    failed_pages: tuple[FailedPage, ...] = ()
    error: str | None = None


class Ingested(NamedTuple):
    """What a run did with one document, and what kept it from doing so."""

    report: DocumentReport
    error: UbpError | None = None


class Run(Struct, frozen=True, kw_only=True):
    """What one run is told."""

    when: datetime
    """The date of the snapshot, and the time it is stored with."""
    patience: FetchPatience
    here: Path
    """What a path given as *place* is relative to."""
    place: str | None = None
    """Where to read instead."""
    base_url: str | None = None
    """What to cite with instead."""


class _Got(NamedTuple):
    """What came of asking for a page: the page, or why it could not be had."""

    page: PageAt
    cut: CutPage | None = None
    fresh: bool = False
    failure: FetchFailed | None = None


class _Known(Struct, frozen=True, kw_only=True):
    """What the newest snapshot has of a page."""

    page: queries.StoredPage
    sections: list[Cut]


async def ingest(
    project: Project, session: Session, document: Document, run: Run, moved: Moved
) -> Ingested:
    """Bring *document* up to date; what went wrong is returned, not raised."""
    language, doc = document.language, document.doc
    base = document.base_url if run.base_url is None else run.base_url
    document = replace(document, base_url=base)
    newest = await session.run(queries.newest, language, doc)
    report = DocumentReport(
        language=language,
        doc=doc,
        version=newest.version if newest else None,
        previous_version=newest.version if newest else None,
    )
    known = await session.run(_known, newest.id) if newest else {}
    try:
        source = source_of(document, run.place, project.root, run.here)
        report = replace(report, source_url=source.told)
        got = await _fetch(project, source, known, run, moved)
    except UbpError as error:
        return _failed(report, error)
    failures = [each.failure for each in got if each.failure is not None]
    report = replace(
        report,
        total=len(got),
        fetched=sum(each.fresh for each in got),
        cached=sum(not each.fresh and each.failure is None for each in got),
        failed=len(failures),
        failed_pages=tuple(
            FailedPage(url=without_secrets(each.url), message=str(each))
            for each in failures
        ),
    )
    if len(failures) == len(got):
        of = f"of {language} ({doc})"
        return _failed(
            report,
            SourceFailed(
                f"The only page {of} could not be had."
                if len(got) == 1
                else f"None of the {len(got)} pages {of} could be had.",
                cause=f"{without_secrets(failures[0].url)}: {failures[0]}.",
            ),
        )
    snapshot = _assembled(source, got, known, run.when)
    if not snapshot.sections:
        return _failed(
            report,
            SourceFailed(
                f"No section was found in {language} ({doc}).",
                cause="The pages have no headings: they are not what they should be.",
                hint="Look at the source; what was stored is still served.",
            ),
        )
    try:
        outcome: Outcome = await session.write(_store, snapshot)
    except UbpError as error:
        return _failed(report, error)
    log.info("specs.ingested", language=language, doc=doc, **outcome._asdict())
    return Ingested(replace(report, **outcome._asdict()))


def _store(db: apsw.Connection, snapshot: Snapshot) -> Outcome:
    _give_way()
    return store(db, snapshot)


async def _in_a_thread(function: Callable[..., T], *args: Any) -> T:
    def work() -> T:
        _give_way()
        return function(*args)

    return await anyio.to_thread.run_sync(work)


def _give_way() -> None:
    """Let whoever searches meanwhile go first; nobody waits for a specification."""
    if sys.platform == "linux":  # there, a thread has its own priority
        thread = threading.get_native_id()
        now = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, max(now, _NICENESS))


def _failed(report: DocumentReport, error: UbpError) -> Ingested:
    log.warning(
        "specs.not_ingested",
        language=report.language,
        doc=report.doc,
        error=error.message,
    )
    return Ingested(replace(report, error=error.message), error)


# -- getting the pages -----------------------------------------------------------------


async def _fetch(
    project: Project,
    source: WebSource | DiskSource,
    known: dict[str, _Known],
    run: Run,
    moved: Moved,
) -> list[_Got]:
    """What came of asking for each page, in the order of the document."""
    if isinstance(source, DiskSource):
        return await _in_a_thread(_from_disk, source, moved)
    document = source.document
    folder = project.derived / "cache" / "specs" / document.language / document.doc
    async with open_client() as client:
        fetcher = Fetcher(client, run.patience)
        return await _from_web(source, fetcher, PageCache(folder), known, run, moved)


def _from_disk(source: DiskSource, moved: Moved) -> list[_Got]:
    got: list[_Got] = []
    pages = source.pages()
    for page in pages:
        moved(len(got), len(pages))
        try:
            found = Cached(body=source.contents(page), etag=None, charset="")
        except FetchFailed as failure:
            got.append(_Got(page, failure=failure))
        else:
            got.append(_Got(page, _cut(source, page, found), fresh=True))
    moved(len(got), len(pages))
    return got


async def _from_web(
    source: WebSource,
    fetcher: Fetcher,
    cache: PageCache,
    known: dict[str, _Known],
    run: Run,
    moved: Moved,
) -> list[_Got]:
    async def listed(url: str) -> bytes:
        return (await fetcher.get(url)).body

    pages = await source.pages(listed)
    delay = source.delay if run.patience.page_delay is None else run.patience.page_delay
    got: list[_Got] = []
    in_vain = 0
    """Pages in a row that the server kept from us, whatever was tried."""
    for page in pages:
        moved(len(got), len(pages))
        if got:
            await anyio.sleep(delay)
        try:
            got.append(await _page(source, page, fetcher, cache, known))
        except FetchFailed as failure:
            url = without_secrets(page.url)
            log.warning("specs.page_failed", url=url, reason=str(failure))
            got.append(_Got(page, failure=failure))
            delay = next_delay(delay, failure)
            in_vain = in_vain + 1 if failure.passing else 0
        else:
            in_vain = 0
        if in_vain == _GIVE_UP_AFTER:
            break
    left = pages[len(got) :]
    if left:
        document = source.document
        log.warning(
            "specs.gave_up",
            language=document.language,
            doc=document.doc,
            left=len(left),
        )
    reason = f"not asked for, after {_GIVE_UP_AFTER} pages in a row failed"
    got += [_Got(page, failure=FetchFailed(page.url, reason)) for page in left]
    moved(len(got), len(pages))
    return got


async def _page(
    source: WebSource,
    page: PageAt,
    fetcher: Fetcher,
    cache: PageCache,
    known: dict[str, _Known],
) -> _Got:
    """One page; from the cache if its server says that it is the same.

    The server is asked that only where its text is in the cache, and where the
    database has the document: else it would answer that there is nothing to store.

    Raises:
        FetchFailed: It cannot be had, or what was had cannot be the page.
    """
    kept = await anyio.to_thread.run_sync(cache.get, page.url) if known else None
    answer = await fetcher.get(page.url, kept.etag if kept else None)
    if answer.status == _UNCHANGED:
        if kept is None:
            raise FetchFailed(page.url, "the server has it unchanged, since when?")
        return _Got(page, await _in_a_thread(_cut, source, page, kept))
    found = Cached(body=answer.body, etag=answer.etag, charset=answer.charset)
    if is_markdown(page.path) and looks_like_html(found.body):
        raise FetchFailed(page.url, "the server sent HTML in place of Markdown")
    cut = await _in_a_thread(_cut, source, page, found)
    if not cut.sections and page.path in known and known[page.path].sections:
        # A server that is being set up, or is overloaded, answers so, too.
        raise FetchFailed(page.url, "the server sent a page with nothing on it")
    await anyio.to_thread.run_sync(cache.put, page.url, found)
    return _Got(page, cut, fresh=True)


# -- making the snapshot ---------------------------------------------------------------


def _known(db: apsw.Connection, snapshot: int) -> dict[str, _Known]:
    """The pages of a snapshot with their sections, by path."""
    pages = queries.stored_pages(db, snapshot)
    cuts: list[list[Cut]] = [[] for _ in pages]
    for each in queries.stored_sections(db, snapshot):
        row = each.row
        cuts[row.page].append(
            Cut(
                title=row.title,
                path=row.path,
                name=row.bare_id,
                anchor=row.anchor,
                content=row.fulltext,
            )
        )
    return {
        page.path: _Known(page=page, sections=found)
        for page, found in zip(pages, cuts, strict=True)
    }


def _assembled(
    source: WebSource | DiskSource,
    got: Sequence[_Got],
    known: dict[str, _Known],
    when: datetime,
) -> Snapshot:
    """The whole document; pages that could not be had are as they were."""
    document = source.document
    pages: list[CutPage] = []
    for each in got:
        if each.cut is not None:
            pages.append(each.cut)
        elif each.page.path in known:
            pages.append(_carried(known[each.page.path]))
    return assembled(
        pages,
        language=document.language,
        doc=document.doc,
        policy=document.policy,
        version=f"snapshot-{when:%Y%m%d}",
        fetched_at=f"{when:%Y-%m-%dT%H:%M:%S.%f}Z",
        source_url=source.told,
    )


def _cut(source: WebSource | DiskSource, page: PageAt, found: Cached) -> CutPage:
    document = source.document
    name, _, _ = page.path.rpartition(".")
    own = source.published(page)
    place = partial(
        page_address,
        document.base_url,
        name=name or page.path,
        suffix=document.page_suffix,
        own=own,
        single=source.single,
    )
    # Names that are made up must be the same wherever a copy happens to lie.
    origin = page.path if own.startswith("file:") else place()
    text = cut_page(page.path, origin, found.body, found.charset, document.headings)
    return CutPage(
        path=page.path,
        address=place(permalink=text.permalink),
        digest=hashlib.sha256(found.body).hexdigest(),
        etag=found.etag,
        sections=text.sections,
    )


def _carried(before: _Known) -> CutPage:
    return CutPage(
        path=before.page.path,
        address=before.page.address,
        digest=before.page.digest,
        etag=before.page.etag,
        sections=before.sections,
        carried=True,
    )

"""Pages as resources: each can be listed, read as it is on disk, and followed."""

from collections.abc import Collection, Hashable
from datetime import UTC, datetime
from typing import NamedTuple

import anyio.to_thread
import apsw

from ubp.errors import PageNotFound, ResourceNotFound
from ubp.packs.docs import page_files, queries
from ubp.packs.docs.completing import completed_path
from ubp.packs.docs.queries import Page, StoredPage
from ubp.packs.docs.records import SourceRef
from ubp.packs.docs.staleness import judge
from ubp.packs.docs.uris import PREFIX, TEMPLATE, page_uri, path_of
from ubp.project import Project
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
from ubp.toolkit import Context, Effect, Resources, phase, tool

__all__ = ("RESOURCES",)

_MARKDOWN = "text/markdown"


@tool("docs.list_resources", Effect.READ)
async def list_resources(ctx: Context, args: ListResources) -> ResourceList:
    with phase("query"):
        return await ctx.db.run(_listed, args, ctx.project)


def _listed(db: apsw.Connection, args: ListResources, project: Project) -> ResourceList:
    # One more than asked for tells whether there are more.
    pages = queries.pages_after(db, args.after or "", args.limit + 1)
    shown = pages[: args.limit]
    there_is_more = len(pages) > len(shown)
    return ResourceList(
        [_resource(page, project) for page in shown],
        shown[-1].path if shown and there_is_more else None,
    )


def _resource(page: Page, project: Project) -> Resource:
    stamp = page_files.stamp_at(project, page.path)
    return Resource(
        uri=page_uri(page.path),
        name=page.path,
        title=page.title,
        mime_type=_MARKDOWN,
        size=stamp.size if stamp else None,
        last_modified=_time(stamp.mtime_ns) if stamp else None,
    )


def _time(nanoseconds: int) -> str | None:
    try:
        moment = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    except (OverflowError, ValueError, OSError):  # a file may claim any time
        return None
    return moment.isoformat().replace("+00:00", "Z")


@tool("docs.read_resource", Effect.READ)
async def read_resource(ctx: Context, args: ReadResource) -> Contents:
    path = path_of(args.uri)
    with phase("query"):
        try:
            await ctx.db.run(queries.page_at, path)
        except PageNotFound:
            raise ResourceNotFound(args.uri) from None
    with phase("file"):
        text = await anyio.to_thread.run_sync(page_files.text_at, ctx.project, path)
    if text is None:
        raise ResourceNotFound(args.uri)
    return Contents(text, _MARKDOWN)


@tool("docs.complete_variable", Effect.READ)
async def complete_variable(ctx: Context, args: CompleteVariable) -> Completions:
    with phase("query"):
        return await ctx.db.run(completed_path, args.value)


class _PageState(NamedTuple):
    """What the database says of a page that is followed."""

    stored: StoredPage
    refs: tuple[SourceRef, ...]


def _states(db: apsw.Connection, uris: Collection[str]) -> dict[str, _PageState]:
    paths = {uri: path for uri in uris if (path := _path_or_none(uri)) is not None}
    pages = queries.stored(db, set(paths.values()))
    refs = queries.source_refs(db, [page.id for page in pages.values()])
    return {
        uri: _PageState(page, tuple(refs.get(page.id, ())))
        for uri, path in paths.items()
        if (page := pages.get(path)) is not None
    }


def _path_or_none(uri: str) -> str | None:
    try:
        return path_of(uri)
    except ResourceNotFound:
        return None


def _token(project: Project, state: _PageState) -> Hashable:
    """Another one when the page is, and when it is to be trusted more or less."""
    days = project.settings.staleness.threshold_days
    return state.stored, judge(state.refs, project.root, days)


RESOURCES = Resources(
    prefix=PREFIX,
    templates=(
        Template(
            uri=TEMPLATE,
            name="page",
            title="A page of the project's documentation",
            description="A Markdown file by its path in the docs folder, as it is now.",
            mime_type=_MARKDOWN,
        ),
    ),
    listing=list_resources,
    read=read_resource,
    complete=complete_variable,
    states=_states,
    token=_token,
    list_token=queries.list_token,
)

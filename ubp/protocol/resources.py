"""Answers what clients ask of resources: list, read, complete."""

import base64
from collections.abc import Sequence
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext

from ubp.errors import InvalidArguments, ResourceNotFound, shortened
from ubp.protocol.completions import answer, known_values
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.paging import bad_cursor, collect
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
from ubp.toolkit import AnyTool, Pack, Resources

__all__ = ("ResourceRequests",)

AT_ONCE = 500
"""Resources in one answer to resources/list."""

_Request = ServerRequestContext[Any, Any]


class ResourceRequests:
    """The handlers of requests that are answered once, from what there is now."""

    def __init__(self, dispatcher: Dispatcher, packs: Sequence[Pack]) -> None:
        self._dispatcher = dispatcher
        self._resources = {
            pack.name: pack.resources for pack in packs if pack.resources is not None
        }

    async def listing(
        self, ctx: _Request, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        """The next resources, of one pack after the other."""

        async def part(
            pack: str, after: str | None, limit: int
        ) -> tuple[list[Resource], str | None]:
            args = ListResources(after=after, limit=limit)
            tool = self._resources[pack].listing
            found: ResourceList = await self._run(ctx, tool, args)
            return found.resources, found.next

        packs = list(self._resources)
        found, cursor = await collect(packs, params.cursor, AT_ONCE, part)
        return types.ListResourcesResult(
            resources=[_resource(each) for each in found], next_cursor=cursor
        )

    async def templates(
        self, _: _Request, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        if params.cursor is not None:
            raise bad_cursor()  # there are few, so nobody was ever given one
        return types.ListResourceTemplatesResult(
            resource_templates=[
                _template(template)
                for resources in self._resources.values()
                for template in resources.templates
            ]
        )

    async def read(
        self, ctx: _Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        args = ReadResource(params.uri)
        tool = self._owner(params.uri).read
        contents: Contents = await self._run(ctx, tool, args)
        return types.ReadResourceResult(contents=[_contents(params.uri, contents)])

    async def complete(
        self, ctx: _Request, params: types.CompleteRequestParams, uri: str
    ) -> types.CompleteResult:
        """How the value of a variable of the template *uri* may go on."""
        resources, template = self._template(uri)
        if params.argument.name not in template.variables:
            name = shortened(params.argument.name)
            raise InvalidArguments(f"The template has no variable {name!r}.")
        found = Completions([], 0)
        if resources.complete is not None:
            args = CompleteVariable(
                template=template.uri,
                variable=params.argument.name,
                value=params.argument.value,
                others=known_values(params),
            )
            found = await self._run(ctx, resources.complete, args)
        return answer(found)

    async def _run(self, ctx: _Request, tool: AnyTool, args: msgspec.Struct) -> Any:
        return await self._dispatcher.run(tool, args, str(ctx.request_id))

    def _owner(self, uri: str) -> Resources[Any]:
        for resources in self._resources.values():
            if uri.startswith(resources.prefix):
                return resources
        raise ResourceNotFound(uri)

    def _template(self, uri: str) -> tuple[Resources[Any], Template]:
        for resources in self._resources.values():
            for template in resources.templates:
                if template.uri == uri:
                    return resources, template
        raise InvalidArguments(f"There is no template {shortened(uri)!r}.")


def _resource(resource: Resource) -> types.Resource:
    modified = resource.last_modified
    return types.Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime_type,
        size=resource.size,
        annotations=types.Annotations(last_modified=modified) if modified else None,
    )


def _template(template: Template) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=template.uri,
        name=template.name,
        title=template.title,
        description=template.description,
        mime_type=template.mime_type,
    )


def _contents(
    uri: str, contents: Contents
) -> types.TextResourceContents | types.BlobResourceContents:
    """Under the URI that was asked for, however it was written."""
    mime_type = contents.mime_type
    if isinstance(contents.data, str):
        return types.TextResourceContents(
            uri=uri, mime_type=mime_type, text=contents.data
        )
    blob = base64.b64encode(contents.data).decode()
    return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)

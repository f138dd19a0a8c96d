"""Answers what clients ask of skills: the extension ``io.modelcontextprotocol/skills``.

The SDK knows nothing of it, so answers are plain data. Skills are read as resources.
"""

from collections.abc import Sequence
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext

from ubp.errors import InvalidArguments, ResourceNotFound, shortened
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.paging import collect
from ubp.skills import GetSkill, ListSkills, Skill, SkillList
from ubp.toolkit import Pack

__all__ = ("EXTENSION", "GetSkillParams", "SkillRequests")

EXTENSION = "io.modelcontextprotocol/skills"

AT_ONCE = 100
"""Skills in one answer to skills/list: each has all of its front matter."""

_FRESHNESS = {"ttlMs": 0, "cacheScope": "private"}
"""Who asks decides what there is, and it may change at any time."""

_Request = ServerRequestContext[Any, Any]


class GetSkillParams(types.RequestParams):
    """What ``skills/get`` takes."""

    uri: str


class SkillRequests:
    """The handlers of requests about the skills of all packs."""

    def __init__(self, dispatcher: Dispatcher, packs: Sequence[Pack]) -> None:
        self._dispatcher = dispatcher
        self._skills = {
            pack.name: pack.skills for pack in packs if pack.skills is not None
        }

    async def listing(
        self, ctx: _Request, params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        """The next skills, of one pack after the other."""

        async def part(
            pack: str, after: str | None, limit: int
        ) -> tuple[list[Skill], str | None]:
            tool = self._skills[pack].listing
            args = ListSkills(after=after, limit=limit)
            found: SkillList = await self._dispatcher.run(
                tool, args, str(ctx.request_id)
            )
            return found.skills, found.next

        found, cursor = await collect(list(self._skills), params.cursor, AT_ONCE, part)
        reply: dict[str, Any] = {"skills": msgspec.to_builtins(found), **_FRESHNESS}
        if cursor is not None:
            reply["nextCursor"] = cursor
        return reply

    async def get(self, ctx: _Request, params: GetSkillParams) -> dict[str, Any]:
        args = GetSkill(params.uri)
        for skills in self._skills.values():
            try:
                found: Skill = await self._dispatcher.run(
                    skills.get, args, str(ctx.request_id)
                )
            except ResourceNotFound:
                continue
            return {"skill": msgspec.to_builtins(found), **_FRESHNESS}
        raise InvalidArguments(f"There is no skill {shortened(params.uri)!r}.")

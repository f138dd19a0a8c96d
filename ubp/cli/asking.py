"""Run one tool from the command line, against the database as it is."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread

from ubp.actors.meaning import direct_meaning
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.wiring import readable, writable
from ubp.amounts import whole_answers
from ubp.cli.options import App
from ubp.errors import IndexNotReady, UbpError, UnknownTool
from ubp.messages import NoVector, QueryVector, RunTool
from ubp.packs import tools_of
from ubp.project import Project
from ubp.protocol.dispatch import checked
from ubp.store import texts_waiting
from ubp.store.vector_blocks import Blocks
from ubp.toolkit import Effect, Pack

__all__ = ("NoIndex", "answer", "ask_tool")


class NoIndex:
    """Stands for the index where there is none, for tools that can do without."""

    @property
    def blocks(self) -> Blocks:
        raise IndexNotReady

    async def vector(self, text: str) -> QueryVector | NoVector:
        del text
        return NoVector("There is no index.")

    async def run(self, function: Callable[..., Any], /, *_: Any, **__: Any) -> Any:
        del function
        raise IndexNotReady

    write = run


def ask_tool(app: App, name: str, arguments: dict[str, Any]) -> Any:
    """The result of a tool, whole, for a command that shows it."""
    project = app.project()
    with whole_answers():
        return answer(project, app.packs(project), name, arguments)


def answer(project: Project, packs: Sequence[Pack], name: str, arguments: Any) -> Any:
    """The tool's result, checked and run exactly as for a client.

    Raises:
        UbpError: Whatever a client would have been told.
    """
    tools = tools_of(packs)
    if name not in tools:
        raise UnknownTool(name)
    pack, tool = tools[name]
    args = checked(tool, arguments)
    for each in packs:
        if each.reading is not None:
            # Settings no server starts with: an empty answer would be taken for one.
            each.reading.source(project)

    async def run() -> Any:
        reads = tool.effect is Effect.READ or not tool.needs_index
        request = RunTool(tool.name, args, "cli")
        try:
            async with (
                readable(project) if reads else writable(project) as session,
                direct_meaning(project, session) as meaning,
            ):
                runner = ToolRunner(project, [pack], meaning)
                done = await runner.run(request, session)
                if not reads:
                    await anyio.to_thread.run_sync(texts_waiting.tell, project.database)
                return done
        except IndexNotReady:
            if tool.needs_index:
                raise
        nothing = NoIndex()
        return await ToolRunner(project, [pack], nothing).run(request, nothing)

    result = anyio.run(run)
    if isinstance(result, UbpError):
        raise result
    return result

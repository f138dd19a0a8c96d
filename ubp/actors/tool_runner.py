"""Run one tool for one caller: the boundary where a tool's bug stops being a crash."""

from collections.abc import Sequence
from typing import Any

import structlog

from ubp.actors.ports import Call
from ubp.errors import InternalError, ServiceError, UbpError
from ubp.messages import RunTool
from ubp.packs import operations_of
from ubp.project import Project
from ubp.telemetry import get_logger
from ubp.toolkit import (
    NOBODY,
    Client,
    Context,
    Database,
    Jobs,
    Meaning,
    Pack,
    timing,
)

__all__ = ("ToolRunner",)

log = get_logger("tools")


class ToolRunner:
    """Runs the tools of the enabled packs."""

    def __init__(
        self,
        project: Project,
        packs: Sequence[Pack],
        meaning: Meaning,
        *,
        client: Client = NOBODY,
        jobs: Jobs = NOBODY,
    ) -> None:
        self._project = project
        self._meaning = meaning
        self._client = client
        self._jobs = jobs
        self._tools = operations_of(packs)

    async def serve(self, call: Call[RunTool, Any], db: Database) -> None:
        """Answer *call*, or stop working on it when its caller has gone."""
        with call, call.abandoned.stops():
            call.answer(await self.run(call.request, db))

    async def run(self, request: RunTool, db: Database) -> Any:
        """The tool's result, or the error it raised."""
        _, tool = self._tools[request.tool]
        context = Context(
            db,
            self._project,
            self._meaning,
            request.request_id,
            client=self._client,
            jobs=self._jobs,
        )
        with (
            structlog.contextvars.bound_contextvars(
                request_id=request.request_id, tool=tool.name
            ),
            timing() as spent,
        ):
            if request.asked:
                spent["queued"] = (context.started - request.asked) * 1000
            try:
                result = await tool.handler(context, request.arguments)
            except UbpError as error:
                if isinstance(error, ServiceError):
                    # The cause says it all; where it was raised says nothing more.
                    log.error("tool.failed", error=error.message, cause=error.cause)  # noqa: TRY400
                else:
                    log.debug("tool.refused", code=error.code)
                return error
            except Exception:
                log.exception("tool.crashed")
                return InternalError()
            took = context.elapsed_ms()
            phases = {f"{name}_ms": round(ms, 1) for name, ms in spent.items()}
            if took > tool.slow_ms:
                log.warning("tool.slow", ms=took, expected_ms=tool.slow_ms, **phases)
            log.debug("tool.done", ms=took, arguments=request.arguments, **phases)
            return result

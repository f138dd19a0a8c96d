"""A call -> the actor that may serve it -> its answer."""

import re
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import msgspec
import structlog

from ubp.actors.ports import ask, ask_current
from ubp.actors.wiring import Service
from ubp.errors import InvalidArguments, UnknownTool, shortened
from ubp.messages import RunTool
from ubp.packs import tools_of
from ubp.telemetry import get_logger
from ubp.toolkit import AnyTool, Effect, Pack

__all__ = ("Dispatcher", "checked")

log = get_logger("dispatch")

ANSWER_WITHIN = 30.0
"""Seconds after which a caller is told that we are busy, and the work is stopped."""

_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class Dispatcher:
    """Checks arguments, then asks the query pool or the writer."""

    def __init__(self, service: Service, packs: Sequence[Pack]) -> None:
        self.service = service
        self._tools = tools_of(packs)

    def find(self, name: str) -> tuple[Pack, AnyTool]:
        """The tool of this name, and its pack.

        Raises:
            UnknownTool: There is none.
        """
        try:
            return self._tools[name]
        except KeyError:
            raise UnknownTool(name) from None

    async def call(self, tool: AnyTool, arguments: Any, request_id: str) -> Any:
        """The tool's result; *request_id* follows the call through the log.

        Raises:
            UbpError: Whatever the tool, or the way to it, had to say.
        """
        return await self.run(tool, checked(tool, arguments), request_id)

    async def run(self, tool: AnyTool, args: Any, request_id: str) -> Any:
        """The same, with arguments that are of the tool's own type."""
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            log.debug("tool.asked", tool=tool.name)
            message = RunTool(tool.name, args, request_id, perf_counter())
            if tool.effect is Effect.READ:
                return await ask_current(
                    lambda: self.service.reads, message, within=ANSWER_WITHIN
                )
            return await ask(self.service.writes, message, within=ANSWER_WITHIN)


def checked(tool: AnyTool, arguments: Any, *, all_text: bool = False) -> Any:
    """*arguments* as the tool's own type; as *all_text* a number is one in quotes.

    Raises:
        InvalidArguments: They do not fit; the message names the argument.
    """
    args = _converted(tool, {} if arguments is None else arguments, all_text)
    for name, values in tool.choices.items():
        value = getattr(args, name)
        if value not in values:
            raise InvalidArguments(
                f"Invalid arguments `{name}`: there is no {shortened(value)!r}; "
                f"use one of {', '.join(values)}."
            )
    return args


def _converted(tool: AnyTool, given: Any, all_text: bool) -> Any:
    strict = not all_text
    try:
        return msgspec.convert(given, tool.args, strict=strict)
    except (msgspec.ValidationError, RecursionError) as error:
        reason = str(error) or "nested too deeply"
    try:
        return msgspec.convert(_forgiven(given), tool.args, strict=strict)
    except (msgspec.ValidationError, RecursionError):
        place = _PLACE.search(reason)
        where = f" `{shortened(place[1])}`" if place and place[1] else ""
        what = shortened(_PLACE.sub("", reason))
        raise InvalidArguments(f"Invalid arguments{where}: {what}.") from None


def _forgiven(arguments: Any) -> Any:
    """*arguments* as some clients mean them: null is absent, and 3.0 is 3."""
    if not isinstance(arguments, dict):
        return arguments
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in arguments.items()
        if value is not None
    }

"""Does with a server what a client does first, and says in words what goes wrong."""

import errno
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec import Struct

from ubp import __version__
from ubp.checks import Check
from ubp.clients.launching import Launch
from ubp.clients.talking import (
    Conversation,
    Ended,
    Fault,
    Noise,
    Refused,
    Silent,
    talking,
)

__all__ = ("Patience", "tried")

_PROTOCOL = "2025-06-18"
_SEARCHES = ("ubp_search", "search_docs")
_QUERY = "overview"


class Patience(Struct, frozen=True):
    """Seconds for each step: what clients give, or a little more."""

    handshake: float = 60
    tools: float = 20
    search: float = 45


async def tried(
    launch: Launch, folder: Path, again: str, patience: Patience | None = None
) -> list[Check]:
    """Start, greet, list the tools, search; *again* is how to install anew."""
    patience = patience or Patience()
    steps = _Steps(again)
    found = []
    try:
        async with talking(launch, folder) as conversation:
            found.append(await steps.greet(conversation, patience.handshake))
            found.append(await steps.list_tools(conversation, patience.tools))
            if found[-1].verdict == "ok":
                found.append(await steps.search(conversation, patience.search))
    except Fault as fault:
        found.append(steps.failed(fault))
    except OSError as error:
        found.append(steps.not_started(launch, folder, error))
    return found


class _Steps:
    """What is asked in turn; knows where it stopped."""

    def __init__(self, again: str) -> None:
        self._again = again
        self._step = "start"
        self._tools: list[str] = []

    async def greet(self, conversation: Conversation, within: float) -> Check:
        self._step = "handshake"
        begin = monotonic()
        client = {"name": "ubp doctor", "version": __version__}
        hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
        result = await conversation.ask("initialize", hello, within=within)
        await conversation.tell("notifications/initialized")
        server = result.get("serverInfo")
        name, version = (
            (str(server.get("name")), str(server.get("version")))
            if isinstance(server, dict)
            else ("a server without a name", "")
        )
        took = monotonic() - begin
        finding = f"{name} {version} answers after {took:.1f} s"
        if name != "ubp":
            hint = f"The command starts another program; run `{self._again}`."
            return Check(self._step, "warn", finding, hint)
        if version != __version__:
            hint = f"This is ubp {__version__}; run `{self._again}` to use it."
            return Check(self._step, "warn", finding, hint)
        return Check(self._step, "ok", finding)

    async def list_tools(self, conversation: Conversation, within: float) -> Check:
        self._step = "tools"
        result = await conversation.ask("tools/list", {}, within=within)
        tools: Any = result.get("tools")
        self._tools = [
            str(tool.get("name")) for tool in tools or () if isinstance(tool, dict)
        ]
        if not self._tools:
            hint = "See `packs` in ubp.toml, and --packs in the client's settings."
            return Check(self._step, "fail", "the server has none", hint)
        return Check(self._step, "ok", f"{len(self._tools)} of them")

    async def search(self, conversation: Conversation, within: float) -> Check:
        self._step = "search"
        known = [name for name in _SEARCHES if name in self._tools]
        if not known:
            return Check(self._step, "ok", "no pack that is on searches documents")
        call = {"name": known[0], "arguments": {"query": _QUERY}}
        begin = monotonic()
        result = await conversation.ask("tools/call", call, within=within)
        if result.get("isError"):
            raise Refused(_text(result))
        took = monotonic() - begin
        return Check(self._step, "ok", f"{known[0]} answers after {took:.1f} s")

    def failed(self, fault: Fault) -> Check:
        """What a person reads of *fault*."""
        finding, hint = self._words(fault)
        return Check(self._step, "fail", finding, hint)

    def _words(self, fault: Fault) -> tuple[str, str]:
        match fault:
            case Silent():
                hint = "Try again when the machine is less busy; then run `ubp doctor`."
                return f"no answer within {fault.seconds:g} s", hint
            case Noise():
                finding = f"it prints what is no message: {fault.line!r}"
                hint = "Only messages may go to standard output; does a script or a"
                return finding, f"{hint} shell around ubp print? Run `{self._again}`."
            case Refused():
                return f"refused: {fault.message}", "Run `ubp doctor` for the project."
            case Ended():
                return self._ending(fault)
            case _:
                raise fault

    def _ending(self, fault: Ended) -> tuple[str, str]:
        told = [line.strip() for line in fault.log]
        said = next((each for each in told if each.startswith("Error: ")), "")
        cause = next((each for each in told if each.startswith("Cause: ")), "")
        advice = next((each for each in told if each.startswith("Hint: ")), "")
        last = said.removeprefix("Error: ") or (told[-1] if told else "it said nothing")
        finding = f"the server ended with code {fault.code}: {last}"
        if cause:
            finding += f" {cause.removeprefix('Cause: ')}"
        if any("No module named" in line for line in told):
            return (
                finding,
                f"Its environment is not whole, or has moved: run `{self._again}`.",
            )
        return finding, advice.removeprefix("Hint: ") or f"Run `{self._again}`."

    def not_started(self, launch: Launch, folder: Path, error: OSError) -> Check:
        command = Path(launch.command)
        reason = f"{command} cannot be started: {error.strerror}"
        hint = f"Run `{self._again}` with the ubp you want to use."
        if not folder.is_dir():
            reason = f"the folder to start it in is gone: {folder}"
        elif error.errno == errno.ENOENT and command.exists():
            reason = f"the Python that {command} was made for is gone"
            hint = f"The environment was moved or rebuilt. {hint}"
        elif error.errno == errno.ENOENT:
            reason = f"there is no {command}"
            hint = f"It was moved or removed. {hint}"
        return Check("start", "fail", reason, hint)


def _text(result: dict[str, Any]) -> str:
    content: Any = result.get("content")
    texts = [
        str(block.get("text")) for block in content or () if isinstance(block, dict)
    ]
    return " ".join(texts)

"""Reads what a client has in its settings about us, and what is wrong with it."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ubp.checks import Check
from ubp.clients.catalogue import Place
from ubp.clients.jsonc import NotJson
from ubp.clients.launching import Launch, root_of
from ubp.clients.launching import launch as this_launch
from ubp.clients.settings_file import read
from ubp.clients.trying import Patience, tried
from ubp.errors import ClientSettingsError

__all__ = ("inspected",)

_VARIABLE = re.compile(r"\$\{(?:env:)?([^}:]+)(?::-([^}]*))?\}")


class _Entry(Struct, frozen=True):
    place: Place
    value: Any


async def inspected(
    places: Sequence[Place],
    name: str,
    root: Path,
    again: str,
    *,
    trust: bool = False,
    patience: Patience | None = None,
) -> list[Check]:
    """Everything between a client and its server, in the order it could go wrong.

    The first of *places* that has the entry wins; *again* is how to install anew. What
    a project's own settings start is started only if it is us, or with *trust*.
    """
    checks: list[Check] = []
    entry = _found(places, name, again, checks)
    launch = _launch(entry.value, root) if entry is not None else None
    if entry is None:
        return checks
    if launch is None:
        finding = "the entry has no command that starts a server here"
        hint = f"Remove it, and run `{again}`."
        return [*checks, Check("entry", "fail", finding, hint)]
    for look in (_switch, _command, _project):
        checks.append(look(entry, launch, root, again))
        if checks[-1].verdict == "fail":
            return checks
    if not trust and _is_somebody_elses(entry, launch, root):
        finding = f"the project's own settings start {launch.command} in their way"
        hint = "It was not started. If you trust the project, add --trust."
        return [*checks, Check("start", "fail", finding, hint)]
    return checks + await tried(launch, _folder(entry, root), again, patience)


def _found(
    places: Sequence[Place], name: str, again: str, checks: list[Check]
) -> _Entry | None:
    """The entry that the client uses; what is to be said of files goes to *checks*."""
    found = []
    for place in places:
        try:
            value = _value(place, name)
        except ClientSettingsError as error:
            hint = "Correct the file: the client cannot read it either."
            finding = f"{place.file} cannot be read. {error.cause}"
            checks.append(Check("settings", "fail", finding, hint))
            continue
        if value is not None:
            found.append(_Entry(place, value))
    if not found:
        if not checks:
            checks.append(_absent(places, name, again))
        return None
    used, *others = found
    checks.append(Check("settings", "ok", f"{name} in {used.place.file}"))
    for other in others:
        hint = "Remove one with `ubp install --remove`; --scope says which."
        finding = f"{name} is also in {other.place.file}; the first one counts"
        checks.append(Check("settings", "warn", finding, hint))
    return used


def _value(place: Place, name: str) -> Any:
    file = read(place.file, comments=place.client.comments)
    try:
        return file.document.get((*place.keys, name))
    except NotJson as error:
        raise ClientSettingsError(f"{place.file}", cause=f"{error}.") from error


def _absent(places: Sequence[Place], name: str, again: str) -> Check:
    client = places[0].client
    files = ", ".join(str(place.file) for place in places)
    if any(place.file.exists() for place in places):
        finding = f"{name} is not in {files}"
        return Check("settings", "fail", finding, f"Run `{again}`.")
    finding = f"{client.title} has no settings: there is no {files}"
    hint = f"Run `{again}`. If {client.title} keeps them elsewhere, name the file with"
    return Check("settings", "fail", finding, f"{hint} --settings.")


def _switch(entry: _Entry, launch: Launch, root: Path, again: str) -> Check:
    del launch, root, again
    title = entry.place.client.title
    if entry.value.get("disabled") is True or entry.value.get("enabled") is False:
        hint = "Switch it on there, or correct the entry."
        return Check("entry", "fail", f"it is switched off in {title}", hint)
    return Check("entry", "ok", f"{title} starts it")


def _launch(value: Any, root: Path) -> Launch | None:
    """How the client starts it, its variables replaced by what they stand for."""
    if not isinstance(value, dict) or not isinstance(value.get("command"), str):
        return None
    args, env = value.get("args", []), value.get("env", {})
    if not isinstance(args, list) or not isinstance(env, dict):
        return None
    known = {"workspaceFolder": str(root), "userHome": str(Path.home())}

    def replaced(text: object) -> str:
        def meant(variable: re.Match[str]) -> str:
            name = variable[1]
            return known.get(name) or os.environ.get(name) or (variable[2] or "")

        return _VARIABLE.sub(meant, str(text))

    return Launch(
        replaced(value["command"]),
        tuple(replaced(each) for each in args),
        {str(key): replaced(each) for key, each in env.items()},
    )


def _command(entry: _Entry, launch: Launch, root: Path, again: str) -> Check:
    del root
    client, command = entry.place.client, launch.command
    if Path(command).is_absolute():
        if not os.path.lexists(command):
            finding = f"there is no {command}: it was moved or removed"
            return Check("command", "fail", finding, f"Run `{again}`.")
        if shutil.which(command) is None:
            finding = f"{command} cannot be run, or what it leads to is gone"
            return Check("command", "fail", finding, f"Run `{again}`.")
        return Check("command", "ok", command)
    found = shutil.which(command)
    if found is None:
        finding = f"{command} is not found in PATH"
        return Check("command", "fail", finding, f"Run `{again}`: it uses a full path.")
    finding = f"{command} is {found} here; {client.title} may have another PATH"
    return Check("command", "warn", finding, f"Run `{again}`: it uses a full path.")


def _project(entry: _Entry, launch: Launch, root: Path, again: str) -> Check:
    del entry
    served = root_of(launch.args)
    if served is None:
        finding = "the entry does not say which: it depends on where the client starts"
        return Check("project", "warn", finding, f"Run `{again}`, or add --root.")
    where = Path(served)
    if not where.is_dir():
        hint = f"Was it moved? Remove the entry, then run `{again}` in the project."
        return Check("project", "fail", f"there is no folder {where}", hint)
    if os.path.realpath(where) != os.path.realpath(root):
        finding = f"it serves {where}, not {root}"
        hint = f"Run `{again}` with --name for a second project."
        return Check("project", "warn", finding, hint)
    if "--shared" not in launch.args:
        hint = f"Run `{again}`: it adds --shared."
        return Check("project", "warn", "only one client at a time can serve it", hint)
    return Check("project", "ok", str(where))


def _is_somebody_elses(entry: _Entry, launch: Launch, root: Path) -> bool:
    """Whether whoever wrote the project decides what runs, rather than the person."""
    if entry.place.scope != "project":
        return False
    is_plain = not launch.env and "cwd" not in entry.value
    return not (is_plain and launch.starts_the_same(this_launch(root)))


def _folder(entry: _Entry, root: Path) -> Path:
    """The folder the client starts it in."""
    given = entry.value.get("cwd")
    if isinstance(given, str):
        return Path(given.replace("${workspaceFolder}", str(root)))
    return root if entry.place.client.project_file else Path.home()

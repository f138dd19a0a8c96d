"""The clients we know: where each keeps its servers on each system, in what shape."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ubp.clients.launching import Launch

__all__ = ("CLIENTS", "Client", "Place", "Scope", "Surroundings")

Scope = Literal["user", "project"]


class Surroundings(Struct, frozen=True):
    """What of a machine decides where settings are."""

    platform: str
    home: Path
    variables: Mapping[str, str]

    @classmethod
    def here(cls) -> "Surroundings":
        return cls(sys.platform, Path.home(), os.environ)

    def folder(self, variable: str, otherwise: str) -> Path:
        """The folder a variable names, if it names one; relative ones do not count."""
        given = self.variables.get(variable, "")
        return Path(given) if Path(given).is_absolute() else self.home / otherwise

    @property
    def xdg(self) -> Path:
        return self.folder("XDG_CONFIG_HOME", ".config")

    @property
    def applications(self) -> Path:
        """Where applications of this system keep the settings of a person."""
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData/Roaming")
        if self.platform == "darwin":
            return self.home / "Library/Application Support"
        return self.xdg


class Client(Struct, frozen=True):
    """A program that starts servers."""

    name: str
    title: str
    user_file: Callable[[Surroundings], Path]
    keys: tuple[str, ...]
    """Where in its settings the servers are; ``{root}`` is the project."""
    project_file: str | None = None
    """Where a project may have settings for everybody who works on it."""
    project_keys: tuple[str, ...] = ()
    comments: bool = False
    """Whether it reads JSON with comments."""
    extra: Mapping[str, str] = {}
    """What an entry has besides the command and its arguments."""
    own_first: bool = False
    """Whether your own settings win over those in a project."""
    then: str = ""
    """What a person does for it to notice."""

    def place(
        self,
        scope: Scope,
        root: Path,
        surroundings: Surroundings,
        settings: Path | None = None,
    ) -> "Place | None":
        """Where the entry of a project belongs; None if it has no such settings."""
        if scope == "project":
            if self.project_file is None:
                return None
            file, keys = root / self.project_file, self.project_keys or self.keys
        else:
            file, keys = self.user_file(surroundings), self.keys
        named = tuple(root.as_posix() if key == "{root}" else key for key in keys)
        return Place(self, scope, settings or file, named)

    def places(self, root: Path, surroundings: Surroundings) -> "list[Place]":
        """Wherever it may have an entry for a project; the first that has wins."""
        scopes: list[Scope] = ["user", "project"]
        found = [self.place(scope, root, surroundings) for scope in scopes]
        ordered = [place for place in found if place is not None]
        if not self.own_first:
            ordered.reverse()
        if "{root}" in self.keys:  # and what is there for every project
            file = self.user_file(surroundings)
            ordered.append(Place(self, "user", file, self.project_keys))
        return ordered

    def entry(self, launch: Launch) -> dict[str, Any]:
        return {
            **self.extra,
            "command": launch.command,
            "args": list(launch.args),
            **({"env": dict(launch.env)} if launch.env else {}),
        }


class Place(Struct, frozen=True):
    """A settings file of a client, and where in it servers are."""

    client: Client
    scope: Scope
    file: Path
    keys: tuple[str, ...]

    def snippet(self, name: str, launch: Launch) -> dict[str, Any]:
        """The least settings that have the entry."""
        value: dict[str, Any] = {name: self.client.entry(launch)}
        for key in reversed(self.keys):
            value = {key: value}
        return value


def _claude_desktop(where: Surroundings) -> Path:
    name = "claude_desktop_config.json"
    if where.platform == "win32":
        # The installer makes a package, for which Windows redirects APPDATA.
        packages = where.folder("LOCALAPPDATA", "AppData/Local") / "Packages"
        inside = "LocalCache/Roaming/Claude"
        redirected = sorted(packages.glob(f"Claude_*/{inside}"))
        if len(redirected) == 1:
            return redirected[0] / name
    return where.applications / "Claude" / name


def _claude_code(where: Surroundings) -> Path:
    return where.folder("CLAUDE_CONFIG_DIR", ".") / ".claude.json"


def _cursor(where: Surroundings) -> Path:
    return where.home / ".cursor/mcp.json"


def _vscode(where: Surroundings) -> Path:
    return where.applications / "Code/User/mcp.json"


def _windsurf(where: Surroundings) -> Path:
    return where.home / ".codeium/windsurf/mcp_config.json"


def _zed(where: Surroundings) -> Path:
    if where.platform == "win32":
        return where.applications / "Zed/settings.json"
    if where.platform == "darwin":
        return where.home / ".config/zed/settings.json"
    return where.xdg / "zed/settings.json"


_SERVERS = ("mcpServers",)

CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            user_file=_claude_desktop,
            keys=_SERVERS,
            then="Quit Claude Desktop and start it again.",
        ),
        Client(
            name="claude-code",
            title="Claude Code",
            user_file=_claude_code,
            # What `claude mcp add` does: for you, in this project only.
            keys=("projects", "{root}", "mcpServers"),
            project_file=".mcp.json",
            project_keys=_SERVERS,
            own_first=True,
            extra={"type": "stdio"},
            then="Start Claude Code again in the project; /mcp shows its servers.",
        ),
        Client(
            name="cursor",
            title="Cursor",
            user_file=_cursor,
            keys=_SERVERS,
            project_file=".cursor/mcp.json",
            comments=True,
            then="Switch the server on in Cursor's settings, under MCP.",
        ),
        Client(
            name="vscode",
            title="VS Code",
            user_file=_vscode,
            keys=("servers",),
            project_file=".vscode/mcp.json",
            comments=True,
            extra={"type": "stdio"},
            then="Run `MCP: List Servers` in VS Code and start it.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            user_file=_windsurf,
            keys=_SERVERS,
            comments=True,
            then="Refresh the servers in Windsurf's Cascade panel.",
        ),
        Client(
            name="zed",
            title="Zed",
            user_file=_zed,
            keys=("context_servers",),
            comments=True,
            extra={"source": "custom"},
            then="Zed notices by itself; its agent panel shows the server.",
        ),
    )
}
"""Every client by the name it has on the command line."""

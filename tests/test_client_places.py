"""Where clients keep their settings on each system."""

from pathlib import Path, PurePath

import pytest

from ubp.clients.catalogue import CLIENTS, Surroundings

HOME = Path("/home/ada")


def places(platform: str, **variables: str) -> dict[str, str]:
    where = Surroundings(platform, HOME, variables)
    found = {}
    for name, client in CLIENTS.items():
        place = client.place("user", Path("/work/vault"), where)
        assert place is not None
        found[name] = str(PurePath(place.file))
    return found


def test_linux() -> None:
    assert places("linux") == {
        "claude-desktop": "/home/ada/.config/Claude/claude_desktop_config.json",
        "claude-code": "/home/ada/.claude.json",
        "cursor": "/home/ada/.cursor/mcp.json",
        "vscode": "/home/ada/.config/Code/User/mcp.json",
        "windsurf": "/home/ada/.codeium/windsurf/mcp_config.json",
        "zed": "/home/ada/.config/zed/settings.json",
    }


def test_macos_keeps_only_zed_where_linux_does() -> None:
    support = "/home/ada/Library/Application Support"
    found = places("darwin", XDG_CONFIG_HOME="/elsewhere")
    assert found == {
        **places("linux"),
        "claude-desktop": f"{support}/Claude/claude_desktop_config.json",
        "vscode": f"{support}/Code/User/mcp.json",
    }


def test_windows() -> None:
    found = places("win32", APPDATA="/roaming", LOCALAPPDATA="/local")
    assert found == {
        **places("linux"),
        "claude-desktop": "/roaming/Claude/claude_desktop_config.json",
        "vscode": "/roaming/Code/User/mcp.json",
        "zed": "/roaming/Zed/settings.json",
    }
    assert places("win32")["zed"] == "/home/ada/AppData/Roaming/Zed/settings.json"


def test_windows_redirects_the_packaged_claude(tmp_path: Path) -> None:
    folder = tmp_path / "Packages/Claude_x1/LocalCache/Roaming/Claude"
    folder.mkdir(parents=True)

    found = places("win32", APPDATA="/roaming", LOCALAPPDATA=str(tmp_path))

    assert Path(found["claude-desktop"]).parent == folder


@pytest.mark.parametrize(
    ("name", "variable", "wanted"),
    [
        ("claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
    ],
)
def test_a_variable_moves_settings_if_it_is_an_absolute_path(
    name: str, variable: str, wanted: str
) -> None:
    assert places("linux", **{variable: "/moved"})[name] == f"/moved/{wanted}"
    for ignored in ("", "relative"):
        assert places("linux", **{variable: ignored}) == places("linux")

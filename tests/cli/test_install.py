"""``ubp install`` with real settings files in a home of its own."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ubp.cli import main
from ubp.clients import settings_file
from ubp.clients.catalogue import CLIENTS
from ubp.clients.jsonc import Document, parse

FILES = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
}
EVERY = pytest.mark.parametrize("client", FILES)


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "プロジェクト [bold]"
    folder.mkdir()
    return folder


@pytest.fixture
def run(home: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    del home

    def run_command(*arguments: str, at: Path = root) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--root", str(at)])
        captured = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run_command


def everything_in(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


def entry_in(file: Path, client: str, root: Path, name: str = "ubp") -> Any:
    document = parse(file.read_text(encoding="utf-8-sig"), comments=True)
    keys = tuple(str(root) if k == "{root}" else k for k in CLIENTS[client].keys)
    return document.get((*keys, name))


def settings(home: Path, client: str, text: str) -> Path:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


@EVERY
def test_a_client_that_had_no_settings_has_none_afterwards(
    run: Run, home: Path, root: Path, client: str
) -> None:
    done = run("install", client)

    assert done.code == 0, done.err
    entry = entry_in(home / FILES[client], client, root)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-4:] == ["serve", "--shared", "--root", str(root)]
    files = [name for name, held in everything_in(home).items() if held is not None]
    assert files == [FILES[client]]
    assert run("install", client, "--remove").code == 0
    assert everything_in(home) == {}
    assert everything_in(root) == {}


@EVERY
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a":1}',
        '{\n    "mcpServers": {},\n    "servers": {"x": {"command": "y"}}\n}',
        '\ufeff{\r\n\t"context_servers": {\r\n\t\t"x": {}\r\n\t},\r\n\t"b": "い"\r\n}\r\n',
        '{"projects": {"/elsewhere": {"mcpServers": {"ubp": {}}}}}\n',
    ],
)
def test_removing_leaves_the_settings_as_they_were_to_the_byte(
    run: Run, home: Path, root: Path, client: str, text: str
) -> None:
    file = settings(home, client, text)
    file.chmod(0o600)
    before = everything_in(home)

    for _ in range(2):
        assert run("install", client).code == 0
    backup = file.with_name(f"{file.name}.ubp-backup")
    assert backup.read_bytes() == text.encode()
    assert {path.stat().st_mode & 0o777 for path in (file, backup)} == {0o600}
    assert entry_in(file, client, root) is not None
    assert run("install", client, "--remove").code == 0

    assert everything_in(home) == before


def test_comments_and_formatting_stay(run: Run, home: Path) -> None:
    text = (
        '// mine\n{\n   "theme": "One", // dark\n   /* more */\n   "x": [1, 2,],\n}\n'
    )
    file = settings(home, "zed", text)

    run("install", "zed")

    made = file.read_text(encoding="utf-8")
    assert made.startswith(text.removesuffix("}\n"))
    run("install", "zed", "--remove")
    assert file.read_text(encoding="utf-8") == text


@EVERY
def test_what_the_user_changed_in_between_stays(
    run: Run, home: Path, client: str
) -> None:
    file = settings(home, client, '{\n  "a": 1\n}\n')
    run("install", client)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"a": 1', '"a": 2,\n  "b": 3'), encoding="utf-8")

    assert run("install", client, "--remove").code == 0

    assert file.read_bytes() == b'{\n  "a": 2,\n  "b": 3\n}\n'


def test_only_our_entry_goes_when_a_client_has_rewritten_the_file(
    run: Run, home: Path
) -> None:
    file = home / FILES["claude-desktop"]
    run("install", "claude-desktop")
    value = json.loads(file.read_bytes())
    value["mcpServers"]["other"] = {"command": "x"}
    file.write_text(json.dumps(value), encoding="utf-8")

    run("install", "claude-desktop", "--remove")

    assert json.loads(file.read_bytes()) == {"mcpServers": {"other": {"command": "x"}}}


def test_without_a_receipt_the_entry_still_goes(
    run: Run, home: Path, tmp_path: Path
) -> None:
    file = settings(home, "cursor", '{"mcpServers": {"x": {}}}')
    run("install", "cursor")
    for receipt in (tmp_path / "cache/ubp/clients").iterdir():
        receipt.write_bytes(b"{")

    run("install", "cursor", "--remove")

    assert file.read_bytes() == b'{"mcpServers": {"x": {}}}'


def test_a_moved_installation_is_updated_and_still_removed_to_the_byte(
    run: Run, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = settings(home, "vscode", '{ "inputs": [] }')
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/old/venv/bin/python")
        run("install", "vscode")
    assert "/old/venv" in file.read_text(encoding="utf-8")

    done = run("install", "vscode", "--json")

    assert done.value["action"] == "updated"
    assert "/old/venv" not in file.read_text(encoding="utf-8")
    assert entry_in(file, "vscode", root)["type"] == "stdio"
    run("install", "vscode", "--remove")
    assert file.read_bytes() == b'{ "inputs": [] }'


def test_what_a_person_added_to_the_entry_survives_an_update(
    run: Run, home: Path, root: Path
) -> None:
    entry = {"command": "/old/ubp", "env": {"LOG_LEVEL": "debug"}}
    entry |= {"args": ["serve", "--root", str(root)]}
    file = settings(home, "cursor", json.dumps({"mcpServers": {"ubp": entry}}))

    assert run("install", "cursor", "--json").value["action"] == "updated"

    made = entry_in(file, "cursor", root)
    assert made["env"] == {"LOG_LEVEL": "debug"}
    assert made["command"] != "/old/ubp"
    assert "--shared" in made["args"]


def test_options_a_person_added_are_no_reason_to_change_anything(
    run: Run, home: Path
) -> None:
    run("install", "cursor")
    file = home / FILES["cursor"]
    text = file.read_text(encoding="utf-8").replace('"--shared"', '"--shared", "-v"')
    file.write_text(text, encoding="utf-8")

    assert run("install", "cursor", "--json").value["action"] == "unchanged"
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "other", "args": ["serve"]},
        {"url": "https://example.com"},
        "text",
    ],
)
def test_an_entry_that_is_not_ours_is_neither_replaced_nor_removed(
    run: Run, home: Path, entry: Any
) -> None:
    file = settings(home, "cursor", json.dumps({"mcpServers": {"ubp": entry}}))
    before = everything_in(home)

    for more in ([], ["--remove"]):
        done = run("install", "cursor", *more)
        assert done.code == 1
        assert [line.split(":")[0] for line in done.err.splitlines()] == [
            "Error",
            "  Cause",
            "  Hint",
        ]
    assert everything_in(home) == before
    assert run("install", "cursor", "--name", "ubp-mine").code == 0
    assert json.loads(file.read_bytes())["mcpServers"]["ubp"] == entry


def test_two_projects_need_two_names_and_do_not_touch_each_other(
    run: Run, home: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run("install", "windsurf")
    file = home / FILES["windsurf"]
    first = file.read_bytes()

    assert run("install", "windsurf", at=other).code == 1
    assert run("install", "windsurf", "--remove", at=other).code == 1
    assert file.read_bytes() == first
    assert run("install", "windsurf", "--name", "two", at=other).code == 0
    assert run("install", "windsurf", "--name", "two", "--remove", at=other).code == 0
    assert file.read_bytes() == first


@EVERY
@pytest.mark.parametrize(
    "text", [None, "", "{}", '{"mcpServers": {}}', '{\n\t"servers": {\n\t}\n}\n']
)
@pytest.mark.parametrize("order", ["one two three", "two one three", "three one two"])
def test_whichever_project_goes_first_the_settings_are_as_before(
    run: Run, home: Path, tmp_path: Path, client: str, text: str | None, order: str
) -> None:
    if text is not None:
        settings(home, client, text)
    before = everything_in(home)
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        done = run("install", client, "--name", name, at=tmp_path / name)
        assert done.code == 0, done.err

    for name in order.split():
        done = run("install", client, "--remove", "--name", name, at=tmp_path / name)
        assert done.code == 0, done.err

    assert everything_in(home) == before


def test_the_entry_of_a_project_that_is_gone_can_be_removed(
    run: Run, home: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    run("install", "cursor", at=gone)
    gone.rmdir()

    assert run("install", "cursor", "--remove").code == 0
    assert everything_in(home) == {}


@EVERY
@pytest.mark.parametrize(
    "content",
    [b'{"a": ', b"[]", b"\xff\xfe{", b'{"a": 1} trailing', b'{"a": NaN}'],
)
def test_settings_that_are_no_json_are_refused_and_not_touched(
    run: Run, home: Path, tmp_path: Path, client: str, content: bytes
) -> None:
    file = settings(home, client, "")
    file.write_bytes(content)
    before = everything_in(tmp_path)

    for more in ([], ["--remove"], ["--dry-run"]):
        done = run("install", client, *more)
        assert done.code == 1
        assert len(done.err.splitlines()) == 3
        assert str(file) in done.err
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("client", ["claude-desktop", "claude-code"])
def test_comments_are_refused_where_the_client_cannot_read_them(
    run: Run, home: Path, client: str
) -> None:
    file = settings(home, client, "{} // comment")

    assert run("install", client).code == 1
    assert file.read_bytes() == b"{} // comment"


@pytest.mark.parametrize("text", ['{"servers": []}', '{"servers": {}, "servers": {}}'])
def test_a_place_that_is_not_certain_is_refused(
    run: Run, home: Path, text: str
) -> None:
    file = settings(home, "vscode", text)

    assert run("install", "vscode").code == 1
    assert file.read_text(encoding="utf-8") == text


def test_settings_that_are_a_link_stay_one(
    run: Run, home: Path, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    real = dotfiles / "zed.json"
    real.write_text("{}", encoding="utf-8")
    link = home / FILES["zed"]
    link.parent.mkdir(parents=True)
    link.symlink_to(real)

    run("install", "zed")

    assert link.is_symlink()
    assert "context_servers" in real.read_text(encoding="utf-8")
    assert [each.name for each in dotfiles.iterdir()] == ["zed.json"]
    run("install", "zed", "--remove")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "{}"


def test_a_link_that_leads_through_itself_is_refused(run: Run, home: Path) -> None:
    link = home / FILES["cursor"]
    link.parent.mkdir()
    link.symlink_to(link)

    done = run("install", "cursor")

    assert done.code == 1
    assert "Error: " in done.err
    assert link.is_symlink()


def test_a_folder_in_the_place_of_the_settings_is_refused(run: Run, home: Path) -> None:
    (home / FILES["cursor"]).mkdir(parents=True)

    assert "Cause: Is a directory." in run("install", "cursor").err


@pytest.mark.parametrize("more", [(), ("--remove",)])
def test_a_change_at_the_same_time_is_noticed(
    run: Run,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
) -> None:
    file = settings(home, "cursor", "{}")
    if more:
        run("install", "cursor")
    before = everything_in(tmp_path)

    def read_and_be_overtaken(text: str, *, comments: bool) -> Document:
        file.write_bytes(b'{"theirs": 1}')
        return parse(text, comments=comments)

    monkeypatch.setattr(settings_file, "parse", read_and_be_overtaken)
    done = run("install", "cursor", *more)

    assert done.code == 1
    assert file.read_bytes() == b'{"theirs": 1}'
    after = everything_in(tmp_path)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert {name for name in changed if not name.startswith("cache")} == {
        file.relative_to(tmp_path).as_posix()
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_settings_that_cannot_be_written_are_refused(run: Run, home: Path) -> None:
    file = settings(home, "cursor", "{}")
    file.parent.chmod(0o500)

    done = run("install", "cursor")

    file.parent.chmod(0o700)
    assert done.code == 1
    assert file.read_bytes() == b"{}"


def test_a_file_in_the_place_of_a_folder_is_refused(run: Run, home: Path) -> None:
    (home / ".cursor").write_bytes(b"")

    assert run("install", "cursor").code == 1
    assert everything_in(home) == {".cursor": b""}


@pytest.mark.parametrize("text", [None, "{}"])
def test_without_room_for_the_receipt_nothing_happens(
    run: Run, home: Path, tmp_path: Path, text: str | None
) -> None:
    (tmp_path / "cache").write_bytes(b"in the way")
    if text is not None:
        settings(home, "zed", text)
    before = everything_in(home)

    assert "cache" in run("install", "zed").err
    assert everything_in(home) == before


def test_without_a_backup_nothing_happens(run: Run, home: Path, tmp_path: Path) -> None:
    file = settings(home, "zed", "{}")
    file.with_name(f"{file.name}.ubp-backup").mkdir()
    before = everything_in(home)

    assert "No backup" in run("install", "zed").err
    assert everything_in(home) == before
    assert list((tmp_path / "cache/ubp/clients").iterdir()) == []


def test_a_failed_update_leaves_what_removing_needs(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = settings(home, "cursor", "{ }")
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/old/venv/bin/python")
        run("install", "cursor")
    installed = file.read_bytes()

    def read_and_be_overtaken(text: str, *, comments: bool) -> Document:
        file.write_bytes(b"{}")
        return parse(text, comments=comments)

    with monkeypatch.context() as patch:
        patch.setattr(settings_file, "parse", read_and_be_overtaken)
        assert run("install", "cursor").code == 1
    file.write_bytes(installed)

    assert run("install", "cursor", "--remove").code == 0
    assert file.read_bytes() == b"{ }"


@EVERY
def test_a_dry_run_and_print_write_nothing(
    run: Run, home: Path, root: Path, tmp_path: Path, client: str
) -> None:
    settings(home, client, '{\n  "a": 1\n}')
    before = everything_in(tmp_path)

    dry = run("install", client, "--dry-run").out
    shown = run("install", client, "--print", "--json").value
    told = run("install", client, "--print").out

    assert everything_in(tmp_path) == before
    assert any(line.startswith("+") and str(root) in line for line in dry.splitlines())
    assert shown["settings"] == str(home / FILES[client])
    assert str(root) in told
    assert ("claude mcp add" in told) == (client == "claude-code")
    made = json.dumps(shown["snippet"])
    settings(home, client, made)
    assert run("install", client, "--json").value["action"] == "unchanged"


def test_what_is_not_there_is_removed_without_complaint(run: Run, home: Path) -> None:
    done = run("install", "zed", "--remove", "--json")

    assert (done.code, done.value["action"]) == (0, "absent")
    assert everything_in(home) == {}


@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
    ],
)
def test_a_project_may_have_the_settings(
    run: Run, home: Path, root: Path, client: str, file: str
) -> None:
    assert run("install", client, "--scope", "project").code == 0

    key = "servers" if client == "vscode" else "mcpServers"
    assert "ubp" in json.loads((root / file).read_bytes())[key]
    assert everything_in(home) == {}
    run("install", client, "--scope", "project", "--remove")
    assert everything_in(root) == {}


def test_a_client_without_project_settings_says_so(run: Run) -> None:
    assert run("install", "windsurf", "--scope", "project").code == 2
    assert run("install", "emacs").code == 2
    assert run("install", "zed", "--print", "--remove").code == 2


def test_the_settings_may_be_elsewhere(run: Run, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "Code - Insiders/mcp.json"

    run("install", "vscode", "--settings", str(file))

    assert "servers" in json.loads(file.read_bytes())
    assert everything_in(home) == {}
    run("install", "vscode", "--settings", str(file), "--remove")
    assert not file.parent.exists()


def test_init_shows_what_install_writes(run: Run, root: Path) -> None:
    out = run("init", "--skip-embedding").out

    assert "ubp install claude-desktop" in out
    assert run("install", "claude-desktop", "--print").out.rstrip() in out
    assert str(root) in out

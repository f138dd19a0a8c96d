"""``ubp doctor --client``: the very command of a client, and what is wrong with it."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import pytest
from models import without_model

from ubp import __version__
from ubp.checks import Check
from ubp.cli import main
from ubp.clients.catalogue import CLIENTS, Surroundings
from ubp.clients.inspecting import inspected
from ubp.clients.launching import Launch, launch
from ubp.clients.talking import Conversation, Noise
from ubp.clients.trying import Patience, tried

VAULT = Path(__file__).parents[2] / "examples/vault"
AGAIN = "ubp install cursor"

FAKE = """
import json, sys
answers = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    answer = answers.get(message["method"])
    if isinstance(answer, str):
        sys.stdout.write(answer)
    elif isinstance(answer, int):
        sys.stderr.write("going down\\n")
        sys.exit(answer)
    elif answer is not None:
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}))
    sys.stdout.flush()
"""
HELLO = {"result": {"serverInfo": {"name": "ubp", "version": __version__}}}
TOOLS = {"result": {"tools": [{"name": "ubp_search"}]}}
FOUND: dict[str, Any] = {"result": {"content": [], "structuredContent": {}}}


def fake(initialize: Any = HELLO, tools: Any = TOOLS, call: Any = FOUND) -> Launch:
    """A server that answers as it is told: with a result, raw text, or its end."""
    answers = {"initialize": initialize, "tools/list": tools, "tools/call": call}
    return Launch(sys.executable, ("-c", FAKE, json.dumps(answers)))


def summary(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.verdict for check in checks}


async def test_a_server_that_answers_is_fine(tmp_path: Path) -> None:
    assert summary(await tried(fake(), tmp_path, AGAIN)) == {
        "handshake": "ok",
        "tools": "ok",
        "search": "ok",
    }


@pytest.mark.parametrize(
    ("server", "where", "words"),
    [
        (fake(initialize="Welcome!\n"), "handshake", "Welcome!"),
        (fake(initialize='{"no": "message"}\n'), "handshake", "no message"),
        (fake(initialize=3), "handshake", "code 3: going down"),
        (fake(initialize={"error": {"message": "no way"}}), "handshake", "no way"),
        (fake(tools={"result": {"tools": []}}), "tools", "has none"),
        (fake(tools=0), "tools", "code 0"),
        (fake(call={"error": {"message": "broken"}}), "search", "broken"),
        (
            fake(call={"result": {"isError": True, "content": [{"text": "Error: x"}]}}),
            "search",
            "Error: x",
        ),
    ],
)
async def test_what_goes_wrong_is_said_where_it_does(
    tmp_path: Path, server: Launch, where: str, words: str
) -> None:
    last = (await tried(server, tmp_path, AGAIN))[-1]

    assert (last.name, last.verdict) == (where, "fail")
    assert words in last.finding
    assert last.hint


async def test_what_a_program_printed_before_it_ended_is_told() -> None:
    printing = [sys.executable, "-c", "print('Welcome!')"]
    async with await anyio.open_process(printing, stderr=DEVNULL) as process:
        await process.wait()

        with pytest.raises(Noise) as caught:
            await Conversation(process).ask("initialize", {}, within=5)

    assert caught.value.line == "Welcome!"


@pytest.mark.parametrize(
    ("answers", "where", "words"),
    [
        ({"initialize": None}, "handshake", "no answer within"),
        ({"tools": None}, "tools", "no answer within"),
        ({"call": None}, "search", "no answer within"),
        ({"tools": "half a li"}, "tools", "half a li"),
    ],
)
async def test_every_step_has_a_deadline(
    tmp_path: Path, answers: dict[str, Any], where: str, words: str
) -> None:
    patience = Patience(**{where: 0.1})

    last = (await tried(fake(**answers), tmp_path, AGAIN, patience))[-1]

    assert (last.name, last.verdict) == (where, "fail")
    assert words in last.finding


@pytest.mark.parametrize(
    "server", [{"name": "other", "version": "1"}, {"name": "ubp", "version": "0"}, None]
)
async def test_another_program_or_version_is_noticed(
    tmp_path: Path, server: Any
) -> None:
    other = fake(initialize={"result": {"serverInfo": server}})

    first = (await tried(other, tmp_path, AGAIN))[0]

    assert first.verdict == "warn"
    assert AGAIN in first.hint


async def test_a_server_without_a_search_is_fine(tmp_path: Path) -> None:
    other = fake(tools={"result": {"tools": [{"name": "list_languages"}]}})

    assert summary(await tried(other, tmp_path, AGAIN))["search"] == "ok"


async def test_an_environment_that_moved_is_named(tmp_path: Path) -> None:
    script = tmp_path / "ubp"
    script.write_text(f"#!{tmp_path}/gone/bin/python\n", encoding="utf-8")
    script.chmod(0o755)
    broken = Launch(sys.executable, ("-m", "ubp_that_is_not_there"))

    (moved,) = await tried(Launch(str(script), ()), tmp_path, AGAIN)
    (lost,) = await tried(Launch(str(tmp_path / "no"), ()), tmp_path, AGAIN)
    (nowhere,) = await tried(fake(), tmp_path / "no", AGAIN)
    (hollow,) = await tried(broken, tmp_path, AGAIN)

    assert "Python" in moved.finding
    assert "there is no" in lost.finding
    assert "folder" in nowhere.finding
    assert "moved" in hollow.hint
    assert {each.verdict for each in (moved, lost, nowhere, hollow)} == {"fail"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


Inspect = Callable[..., Any]


@pytest.fixture
def inspect(home: Path, root: Path) -> Inspect:
    """The checks of Cursor with an entry, which is written to its settings."""

    async def look(
        entry: Any, client: str = "cursor", *, trust: bool = False
    ) -> list[Check]:
        chosen = CLIENTS[client]
        places = chosen.places(root, Surroundings.here())
        assert all(place.file.is_relative_to(home.parent) for place in places)
        value = {"mcpServers": {"ubp": entry}} if entry is not None else {}
        places[-1].file.parent.mkdir(exist_ok=True)
        places[-1].file.write_text(json.dumps(value), encoding="utf-8")
        return await inspected(places, "ubp", root, AGAIN, trust=trust)

    return look


def entry(start: Launch, *more: str, **other: Any) -> dict[str, Any]:
    return {"command": start.command, "args": [*start.args, *more], **other}


async def test_the_settings_are_followed_to_the_letter(
    inspect: Inspect, root: Path
) -> None:
    """Command, arguments, environment, folder, and what clients replace in them."""
    look = "import os, sys; print(os.getcwd(), os.environ['A'], *sys.argv[1:])"
    args = ["-c", look, "serve", "--shared", "--root", "${workspaceFolder}"]
    (root / "below").mkdir()

    checks = await inspect(
        {
            "command": sys.executable,
            "args": args,
            "env": {"A": "${env:NOT_SET:-x}y"},
            "cwd": "${workspaceFolder}/below",
        }
    )

    told = f"{root}/below xy serve --shared --root {root}"
    assert told in checks[-1].finding
    assert summary(checks)["project"] == "ok"


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (None, "settings"),
        ("text", "entry"),
        ({"url": "https://example.com"}, "entry"),
        ({"command": "x", "args": "y"}, "entry"),
        (entry(fake(), disabled=True), "entry"),
        (entry(fake(), enabled=False), "entry"),
        ({"command": "/no/such/ubp", "args": ["serve"]}, "command"),
        ({"command": __file__, "args": ["serve"]}, "command"),
        ({"command": "no-such-ubp", "args": ["serve"]}, "command"),
        (entry(fake(), "--root=/no/such/project"), "project"),
    ],
)
async def test_what_is_wrong_in_the_settings_is_found_without_starting(
    inspect: Inspect, value: Any, where: str
) -> None:
    last = (await inspect(value))[-1]

    assert (last.name, last.verdict) == (where, "fail")
    assert last.hint


async def test_what_may_go_wrong_is_a_warning(
    inspect: Inspect, root: Path, tmp_path: Path
) -> None:
    python = Path(sys.executable).name

    by_name = await inspect(entry(Launch(python, fake().args), "--root", str(root)))
    nowhere = await inspect(entry(fake()))
    elsewhere = await inspect(entry(fake(), "--root", str(tmp_path)))
    alone = await inspect(entry(fake(), "--root", str(root)))

    assert summary(by_name)["command"] == ("warn" if shutil.which(python) else "fail")
    assert [summary(each)["project"] for each in (nowhere, elsewhere, alone)] == [
        "warn"
    ] * 3


async def test_a_file_that_cannot_be_read_is_told_and_others_are_read(
    inspect: Inspect, root: Path
) -> None:
    (root / ".cursor").mkdir()
    (root / ".cursor/mcp.json").write_text('{"mcpServers": []}', encoding="utf-8")

    checks = await inspect(entry(fake(), "--root", str(root), "--shared"))

    assert [check.verdict for check in checks[:2]] == ["fail", "ok"]
    assert summary(checks)["search"] == "ok"


async def test_two_entries_are_one_too_many(inspect: Inspect, root: Path) -> None:
    (root / ".cursor").mkdir()
    mine = entry(fake(), "--root", str(root), "--shared")
    text = json.dumps({"mcpServers": {"ubp": mine}})
    (root / ".cursor/mcp.json").write_text(text, encoding="utf-8")

    checks = await inspect({"command": "/no/such/ubp"}, trust=True)

    assert str(root / ".cursor/mcp.json") in checks[0].finding
    assert checks[1].verdict == "warn"
    assert summary(checks)["search"] == "ok"


@pytest.mark.parametrize(
    "more", [{"command": "other"}, {"env": {"PYTHONPATH": "."}}, {"cwd": "."}]
)
async def test_what_a_project_wants_started_is_not_unless_it_is_trusted(
    inspect: Inspect, root: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    """A repository that was just cloned must not run its own commands."""
    trace = tmp_path / "trace"
    script = tmp_path / "other"
    script.write_text(f"#!/bin/sh\ntouch '{trace}'\n", encoding="utf-8")
    script.chmod(0o755)
    ours = entry(launch(root), **more)
    if "command" in more:
        ours["command"] = str(script)
    (root / ".cursor").mkdir()
    text = json.dumps({"mcpServers": {"ubp": ours}})
    (root / ".cursor/mcp.json").write_text(text, encoding="utf-8")

    last = (await inspect(None))[-1]

    assert (last.name, last.verdict) == ("start", "fail")
    assert "--trust" in last.hint
    assert not trace.exists()
    if "command" in more:
        await inspect(None, trust=True)
        assert trace.exists()


async def test_claude_code_may_have_it_for_every_project(
    inspect: Inspect, root: Path
) -> None:
    mine = entry(fake(), "--root", str(root), "--shared")

    assert summary(await inspect(mine, "claude-code"))["search"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_installed_works(
    home: Path, tmp_path: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del home
    root = Path(shutil.copytree(VAULT, tmp_path / "vault"))
    without_model(root)

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--root", str(root)])
        code = ended.value.code
        return code if isinstance(code, int) else 0, capsys.readouterr().out

    name = ["--name", "ubp-vault", "--settings", str(tmp_path / "elsewhere.json")]
    code, out = run("doctor", "--client", client, *name, "--json")
    assert code == 1
    hint = json.loads(out)["checks"][0]["hint"]
    assert f"ubp install {client} --name ubp-vault --settings" in hint

    assert run("install", client, *name)[0] == 0
    code, out = run("doctor", "--client", client, *name)
    assert code == 0, out
    assert "ok   search: ubp_search" in out
    assert "warn" not in out
    assert run("install", client, *name, "--remove")[0] == 0
    assert not (tmp_path / "elsewhere.json").exists()


def test_settings_that_stop_every_command_stop_the_client_too(
    home: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del home
    (root / "ubp.toml").write_text("packs = 3", encoding="utf-8")

    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--client", "zed", "--root", str(root)])

    assert ended.value.code == 1
    assert "fail project" in capsys.readouterr().out


def test_a_name_without_a_client_is_wrong_usage(root: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--name", "x", "--root", str(root)])

    assert ended.value.code == 2

"""What a client hears of the log, once it has asked."""

import json
from pathlib import Path

import pytest
from clients import PATIENCE, serving

pytestmark = pytest.mark.slow


def test_a_client_hears_the_log_from_the_level_it_set(tmp_path: Path) -> None:
    (tmp_path / "ubp.toml").write_text('packs = ["docs"]\n', encoding="utf-8")
    with serving(tmp_path, "--log-level", "debug") as client:
        assert "result" in client.ask("logging/setLevel", {"level": "debug"})
        client.send(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": "x",
                    "method": "tools/call",
                    "params": {"name": "ubp_list_pages", "arguments": {}},
                }
            )
        )
        heard = None
        while heard is None:
            line = client.lines.get(timeout=PATIENCE)
            assert line is not None
            message = json.loads(line)
            if message.get("method") == "notifications/message":
                params = message["params"]
                if params["data"]["msg"] == "tool.done":
                    heard = params

        assert heard["level"] == "debug"
        assert heard["logger"] == "tools"
        assert client.ask("logging/setLevel", {"level": "loud"})["error"]
        assert client.end() == 0


def test_nothing_of_the_log_is_told_to_a_client_that_never_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "ubp.toml").write_text('packs = ["docs"]\n', encoding="utf-8")
    with serving(tmp_path, "--log-level", "debug") as client:
        client.call("ubp_list_pages")
        assert client.end() == 0
        told: list[str] = []
        while (line := client.lines.get(timeout=PATIENCE)) is not None:
            told.append(line)

    assert [line for line in told if "notifications/message" in line] == []

"""The board as a client sees it, through a real server."""

import json
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from boards_on_disk import NOBODY, Hands, ulid
from clients import PATIENCE, Client, eventually, serving

from ubp.packs.board import boards

pytestmark = pytest.mark.slow

Pair = tuple[Hands, Client]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Pair]:
    hands = Hands(tmp_path)
    hands.write("columns.toml", '# mine\ncolumns = ["backlog", "doing"]\n')
    hands.card(1, "Readable", body="The **body**.", labels=["x"])
    hands.card(2, "設計メモ", "doing", parent=ulid(1))
    hands.card(3, "Over", "done/2024/05", completed_at="2024-05-06T07:08:09Z")
    with serving(tmp_path, "--packs", "board") as client:
        yield hands, client


def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    answer = client.ask(method, params)
    assert "result" in answer, answer
    result: dict[str, Any] = answer["result"]
    return result


def refused(client: Client, tool: str, **arguments: Any) -> str:
    answer = client.ask("tools/call", {"name": tool, "arguments": arguments})
    assert answer["error"]["code"] == -32000
    assert answer["error"]["data"]["detail"]
    category: str = answer["error"]["message"]
    return category


def read(client: Client, uri: str) -> str:
    (contents,) = ask(client, "resources/read", uri=uri)["contents"]
    text: str = contents["text"]
    return text


def told(client: Client, method: str, uri: str) -> None:
    """Wait until the client was told; whatever else is said is passed over."""
    while True:
        line = client.lines.get(timeout=PATIENCE)
        assert line is not None
        message = json.loads(line)
        if message.get("method") == method and message["params"]["uri"] == uri:
            return


def test_every_resource_can_be_listed_and_read(served: Pair) -> None:
    hands, client = served
    listed = [each["uri"] for each in ask(client, "resources/list")["resources"]]
    base = listed[0].removesuffix("/board")
    assert listed == [
        f"{base}/{tail}"
        for tail in (
            "board",
            "columns",
            "manual",
            f"cards/{ulid(1)}",
            f"cards/{ulid(2)}",
        )
    ]

    card = f"{base}/cards/{ulid(1)}"
    file = hands.file(ulid(1)).read_text(encoding="utf-8")
    assert read(client, card) == read(client, f"{card}/markdown") == file
    assert read(client, f"{card}/body") == "The **body**.\n"
    client.call("kanban_notes_append", cardId=ulid(1), text="one", tags=["t"])
    client.call("kanban_notes_append", cardId=ulid(1), text="two", author="eve")
    state = json.loads(read(client, f"{card}/state?limit=1"))
    assert [note["text"] for note in state["notes"]] == ["two"]
    assert len(json.loads(read(client, f"{card}/state?mode=full"))["notes"]) == 2
    tree = json.loads(read(client, f"{base}/tree/{ulid(1)}?depth=1"))["tree"]
    assert [child["id"] for child in tree["children"]] == [ulid(2)]
    assert "backlog: 1" in read(client, "kanban://local/board")
    assert read(client, f"{base}/columns").startswith("# mine")
    assert "kanban_new" in read(client, f"{base}/manual")
    for wrong in ("cards/" + NOBODY, "nothing", "cards/odd"):
        error = client.ask("resources/read", {"uri": f"{base}/{wrong}"})["error"]
        assert error["code"] == -32002
    templates = ask(client, "resources/templates/list")["resourceTemplates"]
    assert "kanban://{boardId}/cards/{cardId}" in {t["uriTemplate"] for t in templates}


def test_ids_are_completed_in_templates_and_prompts(served: Pair) -> None:
    _, client = served
    template = {"type": "ref/resource", "uri": "kanban://{boardId}/cards/{cardId}"}
    prompt = {"type": "ref/prompt", "name": "kanban_split_card"}

    def complete(ref: dict[str, str], name: str, value: str) -> Any:
        argument = {"name": name, "value": value}
        found = ask(client, "completion/complete", ref=ref, argument=argument)
        return found["completion"]["values"]

    assert complete(template, "cardId", "メモ") == [ulid(2)]
    assert complete(template, "cardId", ulid(1).lower()) == [ulid(1)]
    assert len(complete(template, "boardId", "")) == 1
    assert complete(prompt, "cardId", "eadab") == [ulid(1)]
    assert complete(prompt, "board", "no-such-board") == []
    assert complete(prompt, "count", "") == []


def test_prompts_hold_the_card(served: Pair) -> None:
    _, client = served
    arguments = {"cardId": ulid(1), "count": "4"}
    made = ask(client, "prompts/get", name="kanban_split_card", arguments=arguments)
    text = json.dumps(made, ensure_ascii=False)
    assert "The **body**." in text
    assert "into 4 smaller cards" in text
    arguments = {"cardId": ulid(2)}
    made = ask(
        client, "prompts/get", name="kanban_acceptance_criteria", arguments=arguments
    )
    assert "設計メモ" in json.dumps(made, ensure_ascii=False)


def test_what_cannot_be_has_its_category(served: Pair) -> None:
    hands, client = served
    before = hands.files()

    assert refused(client, "kanban_done", cardId="odd") == "invalid-argument"
    assert refused(client, "kanban_done", cardId=NOBODY) == "not-found"
    assert (
        refused(client, "kanban/new", title="x", column="../x") == "permission-denied"
    )
    patch = {"fm": {"id": "x"}}
    assert (
        refused(client, "kanban_update", cardId=ulid(1), patch=patch)
        == "invalid-argument"
    )
    edge = {"type": "parent", "from": ulid(1), "to": ulid(2)}
    assert refused(client, "kanban/relations.set", add=[edge]) == "conflict"
    assert refused(client, "kanban_list", board="/etc") == "permission-denied"
    assert refused(client, "kanban_list", board="nobody") == "not-found"
    broken = client.ask("tools/call", {"name": "kanban_new", "arguments": '{"title"'})
    assert broken["error"]["message"] == "invalid-argument"
    assert hands.files() == before


def test_who_watches_and_who_subscribes_is_told(served: Pair) -> None:
    hands, client = served
    base = ask(client, "resources/list")["resources"][0]["uri"].removesuffix("/board")
    ask(client, "resources/subscribe", uri=f"{base}/cards/{ulid(2)}")
    assert client.call("kanban_watch", board="main") == {"started": True}
    again = client.call("kanban_watch", board="main")
    assert again == {"started": False, "alreadyWatching": True}

    file = hands.file(ulid(2))
    file.write_text(file.read_text(encoding="utf-8") + "By hand.\n", encoding="utf-8")

    told(client, "notifications/publish", "kanban://main/board")
    told(client, "notifications/publish", f"kanban://main/cards/{ulid(2)}")
    file.write_text(file.read_text(encoding="utf-8") + "Again.\n", encoding="utf-8")
    told(client, "notifications/resources/updated", f"{base}/cards/{ulid(2)}")
    stopped = client.call("kanban_watch", board="main", stop=True)
    assert stopped == {"started": False, "stopped": True}


def test_roots_decide_which_boards_there_are(tmp_path: Path) -> None:
    own, other = Hands(tmp_path / "own"), Hands(tmp_path / "many/other")
    other.card(1, "Allowed")
    client = Client(own.root, "--packs", "board")
    try:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"roots": {"listChanged": True}},
            "clientInfo": {"name": "test", "version": "1"},
        }
        client.ask("initialize", hello)
        client.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        line = client.lines.get(timeout=PATIENCE)
        assert line is not None
        asked = json.loads(line)
        assert asked["method"] == "roots/list"
        roots = [{"uri": (tmp_path / "many").as_uri()}]
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}}
        client.send(json.dumps(answer))

        found = client.call("kanban_list", board="other")["items"]
        assert [item["cardId"] for item in found] == [ulid(1)]
        ident = found[0]["uris"]["state"].split("/")[2]
        for name in (ident, str(other.root), "../many/other"):
            assert client.call("kanban_list", board=name)["items"] == found
        assert refused(client, "kanban_new", title="x") == "permission-denied"
        away = str(own.root)
        assert refused(client, "kanban_list", board=away) == "permission-denied"
        away = boards.Board(own.root).id
        assert refused(client, "kanban_list", board=away) == "not-found"
        (tmp_path / "many/empty").mkdir()
        empty = str(tmp_path / "many/empty")
        assert refused(client, "kanban_list", board=empty) == "not-found"
        assert ask(client, "resources/list")["resources"] == []
    finally:
        client.end()


def test_a_board_made_while_we_serve_is_followed(tmp_path: Path) -> None:
    with serving(tmp_path, "--packs", "board") as client:
        assert client.call("kanban_list")["items"] == []
        card = client.call("kanban_new", title="First", column="done")["cardId"]

        hands = Hands(tmp_path)
        moved = client.call("kanban_move", cardId=card, toColumn="backlog")

        assert moved["from"] == "done"
        assert "completed_at" not in hands.values(card)
        hands.card(1, "By hand")
        eventually(lambda: client.call("kanban_list")["total"], lambda n: n == 2)
        with pytest.raises(queue.Empty):
            client.lines.get_nowait()

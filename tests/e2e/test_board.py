"""A board with several hands on it at once: nothing is lost, nothing is doubled."""

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from boards_on_disk import Hands, ulid
from clients import Client, eventually, serving

from ubp import atomic_files

MINUTE = "UBP_BOARD_MINUTE"
"""Set: everybody works for a minute. Otherwise each does a few dozen things."""

COLUMNS = ("backlog", "doing", "review")
TURNS = 40


def turns() -> Iterator[int]:
    """The numbers of what somebody does."""
    if MINUTE not in os.environ:
        yield from range(TURNS)
        return
    end = time.monotonic() + 60
    number = 0
    while time.monotonic() < end:
        yield number
        number += 1


class Agent(threading.Thread):
    """Changes cards through a server of its own."""

    def __init__(self, name: str, client: Client, cards: list[str]) -> None:
        super().__init__()
        self.who = name
        self.client = client
        self.cards = cards
        self.chance = random.Random(name)
        self.marks: list[str] = []
        """What was written, and acknowledged."""
        self.made: list[str] = []
        self.refused: list[Any] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for number in turns():
                self.turn(f"{self.who}{number}z")
        except BaseException as error:  # noqa: BLE001 - raised by whoever joins
            self.error = error

    def turn(self, mark: str) -> None:
        one, other = self.chance.sample(self.cards, 2)
        match self.chance.randrange(7):
            case 0:
                made = self.call("kanban_new", title=f"Card {mark}", body="New.")
                if made:
                    self.made.append(made["cardId"])
                    self.marks.append(mark)
            case 1 | 2:
                patch = {"body": {"text": f"line {mark}"}}
                if self.call("kanban_update", cardId=one, patch=patch):
                    self.marks.append(mark)
            case 3:
                patch = {"fm": {f"field_{mark}": "x"}}
                if self.call("kanban_update", cardId=one, patch=patch):
                    self.marks.append(mark)
            case 4:
                column = self.chance.choice(COLUMNS)
                self.call("kanban_move", cardId=one, toColumn=column)
            case 5:
                self.call("kanban_done", cardId=one)
            case _:
                edge = {"type": "relates", "from": one, "to": other}
                self.call("kanban_relations_set", add=[edge])

    def call(self, tool: str, **arguments: Any) -> Any:
        answer = self.client.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            # Others may keep changing a card; anything else is a fault.
            assert answer["error"]["message"] == "conflict", answer
            self.refused.append(answer)
            return None
        return answer["result"]["structuredContent"]


class Editor:
    """A person who opens files, writes into them and saves, with care."""

    def __init__(self, hands: Hands, cards: list[str]) -> None:
        self.hands = hands
        self.cards = cards
        self.chance = random.Random("editor")
        self.marks: list[str] = []
        self.made: list[str] = []

    def work(self) -> None:
        for number in turns():
            mark = f"e{number}z"
            if self.chance.random() < 0.2:
                title = f"Card {mark}"
                self.made.append(self.hands.card(5_000 + number, title))
            else:
                self.save(self.chance.choice(self.cards), f"line {mark}\n")
            self.marks.append(mark)

    def save(self, ident: str, line: str) -> None:
        """Add a line, as an editor does that notices when a file has changed."""
        while True:
            found = list(self.hands.kanban.rglob(f"{ident}__*.md"))
            if len(found) != 1:
                continue  # on its way from one column to another
            path = found[0]
            own = self.hands.root / "editor.swp"
            try:
                before = path.read_bytes()
                own.write_bytes(before + line.encode())
                assert atomic_files.exchange(own, path)
            except FileNotFoundError:
                continue  # it was moved meanwhile: look where it is now
            if own.read_bytes() == before:
                return
            # Not what was opened: put it back, and open it anew.
            try:
                atomic_files.exchange(own, path)
            except FileNotFoundError:
                self.put_back(ident, own)

    def put_back(self, ident: str, own: Path) -> None:
        while True:
            for path in self.hands.kanban.rglob(f"{ident}__*.md"):
                try:
                    atomic_files.exchange(own, path)
                except FileNotFoundError:
                    continue
                return


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_servers_and_an_editor_lose_and_double_nothing(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    cards = [hands.card(n, f"Start {n}", COLUMNS[n % 3]) for n in range(12)]
    with ExitStack() as stack:
        agents = []
        for name in ("a", "b"):
            client = stack.enter_context(
                serving(tmp_path, "--shared", "--packs", "board")
            )
            agents.append(Agent(name, client, cards))
        editor = Editor(hands, cards)
        for agent in agents:
            agent.start()
        editor.work()
        for agent in agents:
            agent.join()
            if agent.error is not None:
                raise agent.error
        listed = agents[0].call("kanban_list", includeDone=True, limit=200)
        agents[1].call("kanban_new", title="The last one")

    texts = hands.files()
    everything = "\n".join(texts.values())
    marks = [*editor.marks, *agents[0].marks, *agents[1].marks]
    wrong = {m: n for m in marks if (n := everything.count(m)) != 1}
    assert wrong == {}, "every change is there exactly once"
    made = [*cards, *editor.made, *agents[0].made, *agents[1].made]
    snapshot = hands.board().view.snapshot()
    assert sorted(made) == [
        i for i in snapshot.cards if snapshot.cards[i].title != "The last one"
    ]
    assert snapshot.duplicates == {}
    assert [c.problem for c in snapshot.cards.values() if c.problem] == []
    assert len(texts) == len(made) + 1
    assert listed["total"] == len(made)
    for card in snapshot.cards.values():
        assert (card.completed_at is not None) == card.is_done
        for other in card.relates:
            assert card.id in snapshot.cards[other].relates
    lines = {line["id"]: line for line in hands.index("cards.ndjson")}
    assert {i: line["path"] for i, line in lines.items()} == {
        i: card.path for i, card in snapshot.cards.items()
    }
    assert [p.name for p in hands.kanban.iterdir() if p.name.startswith(".")] == []


@pytest.mark.slow
def test_a_card_is_found_by_its_words_once_the_index_has_it(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    hands.card(1, "Write parser", body="Tokenise the INPUT first.")
    hands.card(2, "全文検索の設計", body="日本語の本文です。")
    with serving(tmp_path, "--packs", "board") as client:
        for query, number in (("検索 本文", 2), ("parse input", 1), (ulid(2)[-9:], 2)):
            found = client.call("kanban_list", query=query)["items"]
            assert [item["cardId"] for item in found] == [ulid(number)]


@pytest.mark.slow
def test_a_server_mends_indexes_that_went_wrong_while_there_was_none(
    tmp_path: Path,
) -> None:
    hands = Hands(tmp_path)
    hands.card(1, parent=ulid(2))
    hands.card(2)
    hands.write("cards.ndjson", "")

    with serving(tmp_path, "--packs", "board"):
        eventually(lambda: len(hands.index("cards.ndjson")) == 2)
        eventually(lambda: len(hands.index("relations.ndjson")) == 1)


@pytest.mark.slow
def test_the_page_follows_what_is_done_by_hand_though_nobody_asks(
    tmp_path: Path,
) -> None:
    hands = Hands(tmp_path)
    hands.write("columns.toml", "[render]\nenabled = true\n")
    hands.card(1)
    page = hands.kanban / "generated/board.md"
    number = [2]

    def rendered() -> bool:
        hands.card(number[0])  # the first ones may come before anybody listens
        number[0] += 1
        return page.exists()

    with serving(tmp_path, "--packs", "board"):
        eventually(rendered)
        hands.write("doing/README.md", "no card")
        hands.card(1_000, column="doing")
        eventually(lambda: "doing: 1" in page.read_text(encoding="utf-8"))

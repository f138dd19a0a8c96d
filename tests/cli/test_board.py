"""``ubp board``: what people see of the board."""

import json
from pathlib import Path
from typing import Any

import pytest
from boards_on_disk import NOBODY, Hands, ulid

from ubp.cli import main


class Shell:
    """Somebody at a terminal in a project with a board."""

    def __init__(self, hands: Hands, capsys: pytest.CaptureFixture[str]) -> None:
        self.hands = hands
        self._capsys = capsys

    def run(self, *arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["board", *arguments, "--root", str(self.hands.root)])
        said = self._capsys.readouterr()
        assert ended.value.code == code, said.out + said.err
        return said.out + said.err

    def value(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code))


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    hands = Hands(tmp_path)
    hands.card(1, "First", priority="P0", labels=["core"], assignees=["eve"])
    hands.card(2, "Second", "doing", parent=ulid(1))
    hands.card(3, "Over", "done", completed_at="2024-05-06T07:08:09Z")
    return Shell(hands, capsys)


def test_the_board_is_drawn_in_columns(shell: Shell) -> None:
    shell.hands.write(
        "columns.toml",
        '[[columns]]\nkey = "backlog"\n[[columns]]\nkey = "doing"\ntitle = "In progress"\nwip_limit = 1\n',
    )

    text = shell.run("list", "--include-done")

    head = next(line for line in text.splitlines() if "backlog" in line)
    assert head.index("backlog") < head.index("In progress  1/1") < head.index("done")
    row = next(line for line in text.splitlines() if "First" in line)
    assert "P0 First #core @eve" in row
    assert "Second" in row
    assert "3 cards" in text


def test_only_the_columns_that_are_asked_for_are_drawn(shell: Shell) -> None:
    text = shell.run("list", "--column", "doing", "--limit", "1")

    assert "Second" in text
    assert "backlog" not in text


def test_a_card_goes_its_way(shell: Shell) -> None:
    made = shell.value("new", "題 three", "--size", "2", "--label", "a", "--body", "x")
    card = made["cardId"]
    assert "backlog → doing" in shell.run("move", card, "doing")
    shell.run("update", card, "--title", "Other", "--next", "one", "--replace", "y")
    assert shell.hands.values(card)["next_steps"] == ["one"]
    assert shell.run("notes-append", card, "Text", "--type", "decision", "--tag", "t")
    assert "decision  Text" in shell.run("notes-list", card, "--all")
    shown = shell.run("show", card)
    assert "title: Other" in shown
    assert "decision  Text" in shown
    assert "done at" in shell.run("done", card)
    assert shell.value("list", "--include-done", "--query", card)["total"] == 1


def test_a_tree_is_drawn(shell: Shell) -> None:
    text = shell.run("tree", ulid(1))

    assert text.index("First") < text.index("Second  doing")


def test_a_card_without_notes_says_so(shell: Shell) -> None:
    assert "No notes." in shell.run("notes-list", ulid(1))


def test_warnings_are_shown(shell: Shell) -> None:
    shell.hands.write("columns.toml", "[wip_limits]\ndoing = 1\n")

    assert "Warning: wip exceeded: doing" in shell.run("move", ulid(1), "doing")


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["done", NOBODY], 1, "not-found"),
        (["new", "x", "--column", "../x"], 1, "permission-denied"),
        (["move", "odd", "doing"], 1, "invalid-argument"),
        (["update", ulid(1)], 1, "invalid-argument"),
        (["update", ulid(1), "--append", "a", "--replace", "b"], 2, "not both"),
        (["reindex", "--cards-only", "--relations-only"], 2, "not both"),
        (["list", "--board", "nowhere"], 1, "--board"),
    ],
)
def test_what_cannot_be_is_said_in_three_lines(
    shell: Shell, arguments: list[str], code: int, word: str
) -> None:
    before = shell.hands.files()

    said = shell.run(*arguments, code=code)

    assert word in said
    assert said.count("\n") == 3
    assert shell.hands.files() == before


def test_lint_says_what_is_wrong(shell: Shell) -> None:
    assert "OK no issues" in shell.run("lint")
    shell.hands.card(5, "Five", relates=[ulid(5)], parent=NOBODY)
    shell.hands.write("columns.toml", "columns = [\n")

    kept = f".kanban/backlog/{ulid(5)}__saved-meanwhile-{ulid(6)}.txt"
    shell.hands.write(kept.removeprefix(".kanban/"), "---\ntitle: By hand\n---\n")

    found = shell.value("lint", code=1)

    assert [each["severity"] for each in found] == ["error", "error", "warn", "warn"]
    assert kept in found[2]["message"]
    assert f"WARN self relates: {ulid(5)}" in shell.run("lint", code=1)


def test_there_is_nothing_to_keep_in_order_where_there_is_no_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hands = Hands(tmp_path)
    hands.kanban.rmdir()

    assert "not-found" in Shell(hands, capsys).run("lint", code=1)


def test_the_board_is_kept_in_order(shell: Shell) -> None:
    (shell.hands.kanban / "done/2020/01").mkdir(parents=True)
    (shell.hands.kanban / "review").mkdir()
    assert "→ .kanban/done/2024/05/" in shell.run("compact", "--dry-run")
    assert "1 card moved." in shell.run("compact", "--remove-empty-dirs")
    assert not (shell.hands.kanban / "done/2020").exists()
    assert (shell.hands.kanban / "review").is_dir()
    assert "Nothing to move." in shell.run("compact", "--dry-run")
    assert shell.value("reindex")["errors"] == []
    assert {line["id"] for line in shell.hands.index("cards.ndjson")} == {
        ulid(1),
        ulid(2),
        ulid(3),
    }
    assert ".kanban/generated/board.md" in shell.run("render")
    shell.hands.write("templates/board.hbs", "{{#each")
    assert "board.hbs" in shell.run("render", code=1)


def test_a_damaged_card_is_told_when_indexes_are_made(shell: Shell) -> None:
    shell.hands.write(f"backlog/{ulid(9)}__bad.md", "---\nid: [\n---\n")

    assert f"{ulid(9)}__bad.md" in shell.value("reindex", code=1)["errors"][0]


def test_a_board_that_leaves_the_project_is_no_setting(shell: Shell) -> None:
    (shell.hands.root / "ubp.toml").write_text('[board]\ndir = ".."\n')

    assert "board.dir leaves the project" in shell.run("list", code=1)

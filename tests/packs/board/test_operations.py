"""What can be done with cards, on disk."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from boards_on_disk import NOBODY, Hands, ulid

from ubp import atomic_files
from ubp.errors import UbpError
from ubp.packs.board import committing, operations, steps, view
from ubp.packs.board.boards import Board
from ubp.packs.board.contents import Body
from ubp.packs.board.desk import Desk
from ubp.packs.board.failures import Conflict, Denied, InvalidValue, NotFound
from ubp.packs.board.indexes import REBUILT
from ubp.packs.board.relations import Edge
from ubp.packs.board.view import LARGEST_CARD

ONE, TWO = ulid(1), ulid(2)


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    hands = Hands(tmp_path / "project")
    hands.card(1, "One", note="kept")
    hands.card(2, "Two", "doing")
    return hands


REFUSED: list[tuple[type[UbpError], Callable[[Desk], object]]] = [
    (Denied, lambda desk: operations.move(desk, ONE, "../x")),
    (Denied, lambda desk: operations.move(desk, ONE, "/etc")),
    (Denied, lambda desk: operations.move(desk, ONE, "..")),
    (Denied, lambda desk: operations.move(desk, ONE, "C:\\x")),
    (Denied, lambda desk: operations.move(desk, ONE, "generated")),
    (Denied, lambda desk: operations.move(desk, ONE, "Notes")),
    (Denied, lambda desk: operations.new(desk, "x", "a\\..\\b", {}, "")),
    (InvalidValue, lambda desk: operations.move(desk, ONE, "a/b")),
    (InvalidValue, lambda desk: operations.move(desk, ONE, "")),
    (InvalidValue, lambda desk: operations.move(desk, ONE, "nul")),
    (NotFound, lambda desk: operations.done(desk, NOBODY)),
    (
        NotFound,
        lambda desk: operations.set_relations(desk, [], [Edge("depends", ONE, NOBODY)]),
    ),
    (
        Conflict,
        lambda desk: operations.update(desk, ONE, {"lane": "x"}, None, "0" * 64),
    ),
]


@pytest.mark.parametrize(("error", "work"), REFUSED)
def test_what_cannot_be_is_refused_and_changes_nothing(
    hands: Hands, error: type[UbpError], work: Callable[[Desk], object]
) -> None:
    before = hands.files()

    with pytest.raises(error):
        work(hands.board().desk)

    assert hands.files() == before
    assert sorted(p.name for p in hands.kanban.iterdir()) == ["backlog", "doing"]


@pytest.mark.parametrize(
    "work",
    [
        lambda desk: operations.move(desk, ONE, "doing"),
        lambda desk: operations.done(desk, ONE),
        lambda desk: operations.update(desk, ONE, {"lane": "x"}, None, None),
        lambda desk: operations.set_relations(desk, [], [Edge("relates", TWO, ONE)]),
    ],
)
def test_where_there_is_no_board_none_is_found_nor_made(
    tmp_path: Path, work: Callable[[Desk], object]
) -> None:
    with pytest.raises(NotFound):
        work(Board(tmp_path).desk)

    assert list(tmp_path.iterdir()) == []


def test_a_column_that_is_a_link_is_never_written_to_nor_read(hands: Hands) -> None:
    outside = hands.root.parent / "outside"
    outside.mkdir()
    (outside / f"{NOBODY}__secret.md").write_text("---\ntitle: x\n---\n")
    (hands.kanban / "review").symlink_to(outside)

    with pytest.raises(Denied):
        operations.move(hands.board().desk, ONE, "review")

    assert NOBODY not in hands.board().view.snapshot().cards
    assert hands.file(ONE).parent.name == "backlog"


def test_a_month_that_is_a_link_is_never_written_to(hands: Hands) -> None:
    (hands.root.parent / "outside").mkdir()
    (hands.kanban / "done").symlink_to(hands.root.parent / "outside")

    with pytest.raises(Denied):
        operations.done(hands.board().desk, ONE)

    assert list((hands.root.parent / "outside").iterdir()) == []


@pytest.mark.parametrize(
    "work",
    [
        lambda desk: operations.move(desk, ONE, "doing"),
        lambda desk: operations.move(desk, ONE, "elsewhere"),
        lambda desk: operations.done(desk, ONE),
        lambda desk: operations.update(desk, ONE, {"lane": "x"}, None, None),
        lambda desk: operations.set_relations(desk, [], [Edge("relates", TWO, ONE)]),
    ],
)
def test_a_read_only_card_is_left_as_it_is(
    hands: Hands, work: Callable[[Desk], object]
) -> None:
    hands.file(ONE).chmod(0o444)
    before = hands.files()

    with pytest.raises(Denied):
        work(hands.board().desk)

    assert hands.files() == before
    assert sorted(p.name for p in hands.kanban.iterdir()) == ["backlog", "doing"]


@pytest.mark.parametrize("folder", ["doing", "."])
def test_a_read_only_folder_takes_no_cards(hands: Hands, folder: str) -> None:
    (hands.kanban / folder).chmod(0o555)
    try:
        with pytest.raises(Denied):
            operations.move(hands.board().desk, ONE, "doing")
    finally:
        (hands.kanban / folder).chmod(0o755)

    assert hands.file(ONE).parent.name == "backlog"


def test_the_permissions_of_a_card_stay(hands: Hands) -> None:
    hands.file(ONE).chmod(0o660)

    operations.update(hands.board().desk, ONE, {"lane": "x"}, None, None)

    assert hands.file(ONE).stat().st_mode & 0o777 == 0o660


def test_two_files_of_one_id_are_not_changed_until_somebody_decides(
    hands: Hands,
) -> None:
    hands.card(1, "Copy", "review")

    with pytest.raises(Conflict) as caught:
        operations.move(hands.board().desk, ONE, "doing")

    assert "review" in caught.value.message
    assert len(hands.files()) == 3


def test_a_card_whose_head_is_damaged_can_be_moved_but_not_changed(
    hands: Hands,
) -> None:
    text = "---\nid: [\n---\n\nx\n"
    hands.write(f"backlog/{ulid(3)}__bad.md", text)
    desk = hands.board().desk

    operations.move(desk, ulid(3), "doing")
    with pytest.raises(Conflict):
        operations.update(desk, ulid(3), {"lane": "x"}, None, None)

    assert hands.file(ulid(3)).read_text() == text
    assert hands.file(ulid(3)).parent.name == "doing"


def test_a_save_at_the_last_moment_is_kept(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hands.file(ONE)
    saves = ["By hand.\n"]

    def step(name: str) -> None:
        if name == "exchange" and saves:
            path.write_text(path.read_text() + saves.pop())

    monkeypatch.setattr(steps, "step", step)

    operations.update(hands.board().desk, ONE, {"lane": "x"}, Body("By tool."), None)

    text = hands.file(ONE).read_text()
    assert text.count("By hand.\n") == text.count("By tool.\n") == 1
    assert hands.values(ONE)["lane"] == "x"


def test_it_works_where_files_cannot_change_places(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_files, "_swap", lambda: None)

    operations.update(hands.board().desk, ONE, {"lane": "x"}, None, None)

    assert hands.values(ONE)["lane"] == "x"
    assert hands.values(ONE)["note"] == "kept"


def test_what_a_killed_process_left_goes_and_what_others_save_by_way_of_stays(
    hands: Hands,
) -> None:
    ours = hands.write(f".{ulid(9)}.tmp", "half a card")
    theirs = hands.write(".columns.toml.tmp", "columns = []")

    operations.move(hands.board().desk, ONE, "doing")

    assert not ours.exists()
    assert theirs.read_text(encoding="utf-8") == "columns = []"


def test_one_failing_file_undoes_the_change_of_all(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hands.files()
    replaced: list[str] = []

    def step(name: str) -> None:
        if name == "replace":
            replaced.append(name)
            if len(replaced) == 2:
                raise OSError(28, "No space left on device")

    monkeypatch.setattr(steps, "step", step)

    with pytest.raises(UbpError):
        operations.set_relations(hands.board().desk, [], [Edge("relates", ONE, TWO)])

    assert hands.files() == before
    assert not (hands.kanban / committing.NOTE).exists()


def test_indexes_that_went_wrong_are_mended_by_the_next_change(hands: Hands) -> None:
    desk = hands.board().desk
    operations.move(desk, ONE, "doing")
    (hands.kanban / "review").mkdir()
    hands.file(TWO).rename(hands.kanban / "review" / hands.file(TWO).name)
    ghost = f'{{"id": "{NOBODY}", "title": "Ghost"}}\n'
    index = hands.kanban / "cards.ndjson"
    index.write_text(index.read_text() + ghost)

    operations.update(hands.board().desk, ONE, {"lane": "x"}, None, None)

    lines = {line["id"]: line["column"] for line in hands.index("cards.ndjson")}
    assert lines == {ONE: "doing", TWO: "review"}


def test_a_right_line_of_an_index_stays_where_it_is(hands: Hands) -> None:
    desk = hands.board().desk
    operations.update(desk, TWO, {"lane": "x"}, None, None)
    operations.update(desk, ONE, {"lane": "y"}, None, None)

    assert [line["id"] for line in hands.index("cards.ndjson")] == [TWO, ONE]


def test_an_index_that_contradicts_itself_is_made_anew(hands: Hands) -> None:
    hands.write(
        "relations.ndjson",
        "".join(
            f'{{"type": "parent", "from": "{ONE}", "to": "{to}"}}\n'
            for to in (TWO, NOBODY)
        ),
    )

    _, warnings = operations.set_relations(
        hands.board().desk, [], [Edge("depends", ONE, TWO)]
    )

    assert warnings == [REBUILT]
    assert hands.index("relations.ndjson") == [
        {"type": "depends", "from": ONE, "to": TWO}
    ]


def test_what_was_done_by_hand_is_noticed_by_a_running_process(hands: Hands) -> None:
    board = hands.board()
    assert list(board.view.snapshot().cards) == [ONE, TWO]

    hands.file(TWO).write_text(f"---\nid: {TWO}\ntitle: Other\nparent: {ONE}\n---\n")
    hands.card(3, "Three", "done/2024/05")
    hands.file(ONE).unlink()

    snapshot = board.view.snapshot(every_file=True)
    assert [card.title for card in snapshot.cards.values()] == ["Other", "Three"]
    assert dict(snapshot.children) == {ONE: (TWO,)}


def test_what_was_told_of_is_looked_at_and_nothing_else(hands: Hands) -> None:
    board = hands.board()
    with board.view.listening() as tell:
        board.view.snapshot()
        file = hands.file(ONE)
        with file.open("a") as opened:
            opened.write("More.\n")
        tell([str(file)], False)

        card = board.view.snapshot().cards[ONE]

    assert card.hash == hands.board().view.snapshot().cards[ONE].hash


def test_a_card_that_is_moved_by_hand_at_the_last_moment_is_found_again(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hands.file(ONE)
    moves = [path]
    plain = committing._refuse_read_only

    def moved(kanban: Path, change: committing.Change) -> None:
        if moves:
            moves.pop().rename(hands.kanban / "doing" / path.name)
        plain(kanban, change)

    monkeypatch.setattr(committing, "_refuse_read_only", moved)

    placed, _ = operations.update(hands.board().desk, ONE, {"lane": "x"}, None, None)

    assert placed.column == "doing"
    assert hands.values(ONE)["lane"] == "x"


@pytest.mark.parametrize("to", ["doing", "backlog"])
def test_a_card_that_goes_past_whoever_looks_is_seen_once(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    here = {"doing": "backlog", "backlog": "doing"}[to]
    ident = hands.card(3, "Three", here)
    board = hands.board()
    board.view.snapshot()
    moves = [hands.file(ident)]
    plain = view.View._look_into

    def looked(self: view.View, place: str, *given: Any, **named: Any) -> Any:
        found = plain(self, place, *given, **named)
        if moves and place in ("backlog", "doing"):
            path = moves.pop()
            path.rename(hands.kanban / to / path.name)
        return found

    monkeypatch.setattr(view.View, "_look_into", looked)
    snapshot = board.view.snapshot()

    assert snapshot.cards[ident].column == to
    assert ident not in snapshot.duplicates


@pytest.mark.parametrize("name", ["バックログ", "नया", "กำลังทำ", "é"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_column_is_found_however_its_letters_are_put_together(
    hands: Hands, name: str, form: Literal["NFC", "NFD"]
) -> None:
    written = unicodedata.normalize(form, name)
    there = hands.card(3, "Three", written)
    desk = hands.board().desk
    assert desk.view.snapshot().cards[there].column == written

    for each in (name, unicodedata.normalize("NFD", name)):
        operations.move(desk, ONE, each)
        assert hands.file(ONE).parent.name == written


def test_a_new_column_is_written_in_composed_letters(hands: Hands) -> None:
    decomposed = unicodedata.normalize("NFD", "バックログ")

    operations.move(hands.board().desk, ONE, decomposed)

    assert hands.file(ONE).parent.name == unicodedata.normalize("NFC", decomposed)


@pytest.mark.parametrize("name", ["\u3099", "\u3099x", "a\u3099/b", "\U00020000" * 64])
def test_marks_alone_and_names_that_no_disk_takes_are_no_columns(
    hands: Hands, name: str
) -> None:
    with pytest.raises(InvalidValue):
        operations.move(hands.board().desk, ONE, name)


def test_what_is_no_id_stays_among_the_relations_until_they_are_given_anew(
    hands: Hands,
) -> None:
    card = hands.card(3, depends_on=["JIRA-12"], relates_to=["#7", TWO], parent="?")
    desk = hands.board().desk

    operations.set_relations(
        desk, [], [Edge("depends", card, TWO), Edge("relates", card, ONE)]
    )
    assert hands.values(card)["depends_on"] == ["JIRA-12", TWO]
    assert hands.values(card)["relates"] == ["#7", TWO, ONE]

    operations.set_relations(desk, [Edge("depends", card, TWO)], [])
    assert hands.values(card)["depends_on"] == ["JIRA-12"]

    gone = {"parent": None, "depends_on": None, "relates": [ONE]}
    operations.update(desk, card, gone, None, None)
    assert hands.values(card).keys() == {"id", "title", "relates"}
    assert hands.values(card)["relates"] == [ONE]
    assert "relates" not in hands.values(TWO)


def test_a_file_that_is_too_large_for_a_card_is_said_to_be(hands: Hands) -> None:
    with hands.file(ONE).open("ab") as file:
        file.truncate(LARGEST_CARD + 1)

    with pytest.raises(Conflict, match="too large"):
        operations.move(hands.board().desk, ONE, "doing")

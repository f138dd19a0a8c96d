"""A process killed between any two steps leaves the old board or the new one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from boards_on_disk import Hands, ulid

from ubp.packs.board import committing, operations, steps
from ubp.packs.board.contents import Body
from ubp.packs.board.desk import Desk
from ubp.packs.board.relations import Edge

ONE, TWO, THREE = ulid(1), ulid(2), ulid(3)

OPERATIONS: dict[str, Callable[[Desk], object]] = {
    "move": lambda desk: operations.move(desk, ONE, "doing"),
    "done": lambda desk: operations.done(desk, ONE),
    "reopen": lambda desk: operations.move(desk, THREE, "backlog"),
    "update": lambda desk: operations.update(
        desk, ONE, {"lane": "x"}, Body("More."), None
    ),
    "rename": lambda desk: operations.update(desk, ONE, {"title": "Other"}, None, None),
    "relations": lambda desk: operations.set_relations(
        desk,
        [Edge("depends", ONE, TWO)],
        [Edge("relates", ONE, TWO), Edge("relates", TWO, THREE)],
    ),
    "patch of relations": lambda desk: operations.update(
        desk, ONE, {"title": "New", "relates": [TWO, THREE]}, None, None
    ),
}


def board(root: Path) -> Hands:
    hands = Hands(root)
    hands.card(1, "One", depends_on=[TWO], note="kept")
    hands.card(2, "Two", body="Text.")
    hands.card(
        3, "Three", "done/2024/05", completed_at="2024-05-06T07:08:09Z", relates=[]
    )
    return hands


def without_times(files: dict[str, str]) -> dict[str, str]:
    """*files* as they are whenever it happens."""
    kept = "2024-05-06T07:08:09Z"
    return {
        "done" if path.startswith("done/20") and kept not in text else path: "\n".join(
            "completed_at: then"
            if line.startswith("completed_at") and kept not in line
            else line
            for line in text.splitlines()
        )
        for path, text in files.items()
    }


def killed_at(root: Path, name: str, at: int) -> bool:
    """Run an operation in a process of its own that dies before step *at*."""
    code = (
        "import sys; sys.path[:0] = json.loads(sys.argv[4]); import test_kills; "
        "test_kills.die(*sys.argv[1:4])"
    )
    paths = json.dumps([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import json, sys; {code}",
            str(root),
            name,
            str(at),
            paths,
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 9), done.stderr
    return done.returncode == 9


def die(root: str, name: str, at: str) -> None:
    left = [int(at)]

    def step(name: str) -> None:
        del name
        if left[0] == 0:
            os._exit(9)
        left[0] -= 1

    steps.step = step
    OPERATIONS[name](Hands(Path(root)).board().desk)
    os._exit(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_between_two_steps_leaves_the_old_board_or_the_new_one(
    tmp_path: Path, name: str
) -> None:
    whole = board(tmp_path / "whole")
    old = without_times(whole.files())
    OPERATIONS[name](whole.board().desk)
    new = without_times(whole.files())
    assert old != new

    at = 0
    while True:
        hands = board(tmp_path / f"killed{at}")
        was_killed = killed_at(hands.root, name, at)
        # Whoever looks at the files alone finds every card once, and well-formed.
        snapshot = hands.board().view.as_found()
        assert list(snapshot.cards) == [ONE, TWO, THREE]
        assert snapshot.duplicates == {}
        assert [card.problem for card in snapshot.cards.values()] == [None] * 3
        # Whoever asks the board finds it as it was, or as it was to be.
        hands.board().view.snapshot()
        assert without_times(hands.files()) in (old, new)
        # And it can be done again, and then nothing is left of it all.
        OPERATIONS[name](hands.board().desk)
        assert [p for p in hands.kanban.iterdir() if p.name.startswith(".")] == []
        if name != "update":  # which appends once more
            assert without_times(hands.files()) == new
        if not was_killed:
            break
        at += 1
    assert at > 0


def test_what_somebody_wrote_after_a_kill_is_kept(tmp_path: Path) -> None:
    hands = board(tmp_path)
    assert killed_at(tmp_path, "relations", 5), "after the first card was written"
    edited = hands.file(TWO)
    edited.write_text(edited.read_text(encoding="utf-8") + "By hand.\n")

    snapshot = hands.board().view.snapshot()

    assert "By hand." in edited.read_text(encoding="utf-8")
    assert snapshot.cards[ONE].relates == []
    assert snapshot.cards[ONE].depends_on == [TWO]


def test_a_note_that_nobody_understands_stops_nothing(tmp_path: Path) -> None:
    hands = board(tmp_path)
    (hands.kanban / committing.NOTE).write_text("garbage")

    assert list(hands.board().view.snapshot().cards) == [ONE, TWO, THREE]
    assert not (hands.kanban / committing.NOTE).exists()


@pytest.mark.parametrize(
    "target",
    [
        "../../outside/{card}",
        "{outside}/{card}",
        "backlog/../../../outside/{card}",
        "linked/{card}",
        "notes/{card}",
        "backlog/.bashrc",
        "backlog/\0/{card}",
        "columns.toml",
    ],
)
def test_a_note_that_came_with_somebody_elses_board_writes_nothing(
    tmp_path: Path, target: str
) -> None:
    hands = board(tmp_path / "board")
    outside = tmp_path / "outside"
    outside.mkdir()
    (hands.kanban / "linked").symlink_to(outside)
    (hands.kanban / "notes").mkdir()
    place = target.format(outside=outside, card=f"{ulid(9)}__x.md")
    source = hands.file(ONE).relative_to(hands.kanban).as_posix()
    content = hands.file(ONE).read_bytes()
    before = hands.files()
    notes = [
        committing.Change(source=None, target=place, before=None, after=b"theirs"),
        committing.Change(source=source, target=place, before=content, after=b"theirs"),
    ]

    for note in notes:
        (hands.kanban / committing.NOTE).write_bytes(msgspec.json.encode([note]))
        assert list(hands.board().view.snapshot().cards) == [ONE, TWO, THREE]

        assert list(outside.iterdir()) == []
        assert hands.files() == before
        assert not (hands.kanban / committing.NOTE).exists()


def begun(hands: Hands, target: str) -> bytes:
    """Leave what a process leaves that is killed before it renames; what was before."""
    file = hands.file(ONE)
    before = file.read_bytes()
    after = before.replace(b"note:", b"lane: x\nnote:")
    source = file.relative_to(hands.kanban).as_posix()
    note = committing.Change(source=source, target=target, before=before, after=after)
    file.write_bytes(after)
    (hands.kanban / committing.NOTE).write_bytes(msgspec.json.encode([note]))
    return before


def test_a_change_is_finished_though_its_empty_folder_got_lost(tmp_path: Path) -> None:
    hands = board(tmp_path)
    begun(hands, f"done/2026/11/{ONE}__one.md")

    assert hands.board().view.snapshot().cards[ONE].is_done
    assert hands.values(ONE)["lane"] == "x"


@pytest.mark.parametrize("what", ["file", "folder", "no folder"])
def test_a_change_whose_place_was_taken_meanwhile_is_taken_back(
    tmp_path: Path, what: str
) -> None:
    hands = board(tmp_path)
    target = hands.kanban / "doing" / f"{ONE}__one.md"
    before = begun(hands, f"doing/{target.name}")
    if what == "no folder":
        target.parent.write_text("a file")
    elif what == "folder":
        target.mkdir(parents=True)
    else:
        hands.write(f"doing/{target.name}", "somebody's")

    hands.board().view.snapshot()

    assert (hands.kanban / "backlog" / target.name).read_bytes() == before
    assert not (hands.kanban / committing.NOTE).exists()
    if what == "file":
        assert target.read_text(encoding="utf-8") == "somebody's"

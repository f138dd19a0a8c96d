"""What people save while a card is being replaced: every version can be found again."""

import errno
import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from boards_on_disk import Hands, ulid
from structlog.testing import capture_logs

from ubp.errors import UbpError
from ubp.packs.board import operations, steps
from ubp.packs.board.cards import digest_of
from ubp.packs.board.contents import Body
from ubp.packs.board.displaced import Replacement, files_kept
from ubp.packs.board.failures import BoardUnavailable, NotFound
from ubp.packs.board.linting import findings
from ubp.packs.board.relations import Edge

ONE, TWO = ulid(1), ulid(2)

MOMENTS = ("exchange", "tidy", "look at what was there", "keep")
"""The steps of replacing a card, when every one of them is needed."""


class Killed(BaseException):
    """The process ends here: nothing of ours is done after it."""


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    hands = Hands(tmp_path / "project")
    hands.card(1, "One", note="kept")
    hands.card(2, "Two", "doing")
    return hands


def save(hands: Hands, line: str, ident: str = ONE) -> None:
    """Save a card with one line more, as most editors do: a new file in its place."""
    path = hands.file(ident)
    own = hands.root / "editor.swp"
    own.write_text(path.read_text(encoding="utf-8") + f"{line}\n", encoding="utf-8")
    own.replace(path)


def interrupted(
    monkeypatch: pytest.MonkeyPatch,
    hands: Hands,
    *,
    saves: Iterable[str],
    kill: str | None = None,
    ident: str = ONE,
) -> None:
    """Somebody saves when a step is reached for the first time, then it is killed."""
    waiting = set(saves)

    def step(name: str) -> None:
        if name in waiting:
            waiting.remove(name)
            save(hands, f"By hand at {name}.", ident)
        if name == kill and not waiting:
            raise Killed

    monkeypatch.setattr(steps, "step", step)


def texts_of(hands: Hands, ident: str = ONE) -> list[str]:
    """What the card holds, then all that is kept beside it."""
    kept = [hands.root / place for place in files_kept(hands.kanban)]
    files = [hands.file(ident), *kept]
    return [file.read_text(encoding="utf-8") for file in files]


def temporaries(hands: Hands) -> list[str]:
    return [file.name for file in hands.kanban.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize(
    "saves",
    [
        saves
        for number in range(len(MOMENTS) + 1)
        for saves in itertools.combinations(MOMENTS, number)
    ],
)
def test_saves_at_any_moments_are_kept_and_the_change_is_made_once(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, saves: tuple[str, ...]
) -> None:
    interrupted(monkeypatch, hands, saves=saves)
    reached = saves
    if "exchange" not in saves:  # nothing is displaced then, so nothing is put back
        reached = tuple(name for name in saves if name == "tidy")
    elif "tidy" not in saves:
        reached = tuple(name for name in saves if name != "keep")

    operations.update(hands.board().desk, ONE, {"lane": "x"}, Body("By tool."), None)

    card, *kept = texts_of(hands)
    assert card.count("By tool.\n") == 1
    assert hands.values(ONE)["lane"] == "x"
    for name in reached:
        counts = [text.count(f"By hand at {name}.\n") for text in (card, *kept)]
        assert set(counts) <= {0, 1}
        assert 1 in counts
    assert len(kept) == ({"exchange", "tidy"} <= set(saves))
    assert temporaries(hands) == []
    assert list(hands.board().view.snapshot().cards) == [ONE, TWO]


@pytest.mark.parametrize(
    ("saves", "kill", "beside"),
    [
        (["exchange"], "tidy", 0),
        (["exchange"], "look at what was there", 0),
        (["exchange", "tidy"], "tidy", 1),
        (["exchange", "tidy"], "look at what was there", 1),
        (["exchange", "tidy"], "keep", 1),
        (["exchange", "tidy", "look at what was there"], "keep", 1),
        (["tidy"], "tidy", 0),
    ],
)
def test_whoever_looks_after_a_kill_finds_what_was_saved_before_it(
    hands: Hands,
    monkeypatch: pytest.MonkeyPatch,
    saves: list[str],
    kill: str,
    beside: int,
) -> None:
    interrupted(monkeypatch, hands, saves=saves, kill=kill)
    with pytest.raises(Killed):
        operations.update(hands.board().desk, ONE, {}, Body("By tool."), None)
    monkeypatch.undo()

    hands.board().view.snapshot()

    card, *kept = texts_of(hands)
    assert len(kept) == beside
    assert card.count("By tool.\n") <= 1
    for name in saves:
        assert f"By hand at {name}.\n" in "".join([card, *kept])
    assert temporaries(hands) == []


def test_a_save_before_a_kill_amid_several_cards_takes_back_the_others(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {ident: hands.file(ident).read_bytes() for ident in (ONE, TWO)}
    exchanged: list[str] = []

    def step(name: str) -> None:
        if name == "exchange":
            exchanged.append(name)
            if len(exchanged) == 2:
                save(hands, "By hand.", TWO)
        if name == "tidy" and len(exchanged) == 2:
            raise Killed

    monkeypatch.setattr(steps, "step", step)
    with pytest.raises(Killed):
        operations.set_relations(hands.board().desk, [], [Edge("relates", ONE, TWO)])
    monkeypatch.undo()

    hands.board().view.snapshot()

    assert hands.file(ONE).read_bytes() == before[ONE]
    assert hands.file(TWO).read_bytes() == before[TWO] + b"By hand.\n"
    assert temporaries(hands) == []


@pytest.mark.parametrize("what", ["saved", "moved", "deleted", "folder deleted"])
def test_what_cannot_go_back_is_kept_where_people_find_it(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    interrupted(monkeypatch, hands, saves=["exchange"], kill="tidy")
    with pytest.raises(Killed):
        operations.update(hands.board().desk, ONE, {}, Body("By tool."), None)
    monkeypatch.undo()
    file = hands.file(ONE)
    column = ".kanban/backlog"
    if what == "saved":
        save(hands, "Newer.")
    elif what == "moved":
        save(hands, "Newer.")
        column = ".kanban/doing"
        file.rename(hands.root / column / file.name)
    else:
        column = ".kanban"
        file.unlink()
        if what == "folder deleted":
            file.parent.rmdir()

    with capture_logs() as logs:
        snapshot = hands.board().view.snapshot()

    (kept,) = files_kept(hands.kanban)
    assert kept.rpartition("/")[0] == column
    assert kept.rpartition("/")[2].startswith(f"{ONE}__saved-meanwhile-")
    text = (hands.root / kept).read_text(encoding="utf-8")
    assert text.endswith("By hand at exchange.\n")
    told = [each["path"] for each in logs if each["event"] == "board.kept_beside"]
    assert told == [kept]
    (found,) = findings(snapshot, [kept])
    assert (found.severity, kept in found.message) == ("warn", True)
    assert (ONE in snapshot.cards) == ("deleted" not in what)
    if ONE in snapshot.cards:
        assert "Newer." in hands.file(ONE).read_text(encoding="utf-8")


def goes_at_tidy(
    monkeypatch: pytest.MonkeyPatch, hands: Hands, go: Callable[[Path], object]
) -> None:
    """Somebody saves the card, and moves or deletes it a moment later."""
    waiting = ["tidy", "exchange"]

    def step(name: str) -> None:
        if waiting and name == waiting[-1]:
            waiting.pop()
            if name == "exchange":
                save(hands, "By hand.")
            else:
                go(hands.file(ONE))

    monkeypatch.setattr(steps, "step", step)


def test_a_save_goes_back_to_a_card_that_was_moved_meanwhile(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = hands.kanban / "later"
    goes_at_tidy(monkeypatch, hands, lambda path: path.parent.rename(later))

    operations.update(hands.board().desk, ONE, {}, Body("By tool."), None)

    (card,) = texts_of(hands)
    assert card.count("By hand.\n") == card.count("By tool.\n") == 1
    assert hands.file(ONE).parent == later


def test_a_save_of_a_card_that_is_deleted_meanwhile_is_kept(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_at_tidy(monkeypatch, hands, Path.unlink)

    with pytest.raises(NotFound):
        operations.update(hands.board().desk, ONE, {}, Body("By tool."), None)

    (kept,) = files_kept(hands.kanban)
    assert "By hand.\n" in (hands.root / kept).read_text(encoding="utf-8")


def test_a_save_whose_folder_is_moved_meanwhile_is_kept(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = ["keep", "tidy", "exchange"]

    def step(name: str) -> None:
        if waiting and name == waiting[-1]:
            waiting.pop()
            if name == "keep":
                hands.file(ONE).parent.rename(hands.kanban / "later")
            else:
                save(hands, f"By hand at {name}.")

    monkeypatch.setattr(steps, "step", step)

    operations.update(hands.board().desk, ONE, {}, Body("By tool."), None)

    card, kept = texts_of(hands)
    assert "By hand at exchange.\n" in card
    assert "By hand at tidy.\n" in kept
    assert card.count("By tool.\n") == 1


@pytest.mark.parametrize("error", [NotFound, BoardUnavailable])
def test_nothing_of_ours_is_left_where_a_card_could_not_be_replaced(
    hands: Hands, monkeypatch: pytest.MonkeyPatch, error: type[UbpError]
) -> None:
    def step(name: str) -> None:
        if name == "exchange" and error is NotFound:
            hands.file(ONE).unlink()
        elif name == "exchange":
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(steps, "step", step)

    with pytest.raises(error):
        operations.update(hands.board().desk, ONE, {}, Body("By tool."), None)

    assert temporaries(hands) == []
    assert files_kept(hands.kanban) == []


@pytest.mark.parametrize("what", ["link", "folder"])
def test_a_name_like_ours_that_came_with_somebody_elses_board_does_nothing(
    hands: Hands, what: str
) -> None:
    before = hands.files()
    card = hands.file(ONE)
    name = Replacement(ONE, "0" * 64, digest_of(card.read_bytes())).temporary_name
    secret = hands.root / "secret"
    secret.write_text("not for the board", encoding="utf-8")
    if what == "link":
        (hands.kanban / name).symlink_to(secret)
    else:
        (hands.kanban / name).mkdir()

    operations.move(hands.board().desk, TWO, "review")

    assert hands.files()[f"backlog/{card.name}"] == before[f"backlog/{card.name}"]
    assert files_kept(hands.kanban) == []
    assert secret.read_text(encoding="utf-8") == "not for the board"

"""Which boards a process keeps in mind."""

from pathlib import Path

import pytest
from boards_on_disk import Hands

from ubp.packs.board import boards


async def test_a_board_that_is_watched_is_never_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "_open", {})
    monkeypatch.setattr(boards, "_MOST_OPEN", 3)
    watched = boards.open_board(Hands(tmp_path / "watched").root)
    assert await watched.follower.watch("main")

    others = [boards.open_board(Hands(tmp_path / str(n)).root) for n in range(9)]

    assert boards.open_board(watched.root) is watched
    assert boards.open_board(others[-1].root) is others[-1]
    assert boards.open_board(others[0].root) is not others[0]

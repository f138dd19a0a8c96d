"""The board that people copy from is a sound one."""

import shutil
from pathlib import Path

from ubp.packs.board.boards import Board
from ubp.packs.board.linting import findings

EXAMPLE = Path(__file__).parents[3] / "examples/board"


def test_the_example_is_sound(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "board")

    snapshot = Board(tmp_path / "board").view.snapshot()

    assert findings(snapshot) == []
    assert dict(snapshot.counts) == {"backlog": 1, "doing": 2, "done": 1}

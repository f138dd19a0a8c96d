"""The notes of a card, on disk."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from boards_on_disk import Hands

from ubp.packs.board import journal
from ubp.packs.board.failures import BoardUnavailable


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """No file gets larger than that; what fits of a text is written all the same."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_note_that_a_full_disk_takes_half_of_is_refused(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    ident = hands.card(1)
    journal.append(hands.kanban, ident, {"type": "worklog", "text": "First."})
    file = hands.root / journal.path_of(ident)
    before = file.read_bytes()

    with disk_with_room_for(len(before) + 20), pytest.raises(BoardUnavailable):
        journal.append(hands.kanban, ident, {"type": "worklog", "text": "Lost."})

    assert file.read_bytes() == before
    journal.append(hands.kanban, ident, {"type": "worklog", "text": "Second."})
    notes = journal.latest(hands.kanban, ident, limit=None)
    assert [note["text"] for note in notes] == ["Second.", "First."]

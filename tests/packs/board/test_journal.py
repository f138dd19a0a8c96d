"""The notes of a card, on disk."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from boards_on_disk import Hands

from ubp.packs.board import journal
from ubp.packs.board.failures import BoardUnavailable, Denied


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


@pytest.mark.parametrize("what", ["notes", "file", "link"])
def test_a_journal_that_is_read_only_or_a_link_is_left_as_it_is(
    tmp_path: Path, what: str
) -> None:
    hands = Hands(tmp_path / "board")
    ident = hands.card(1)
    file = hands.write(f"notes/{ident}.ndjson", "")
    if what == "link":
        file.unlink()
        file.symlink_to(tmp_path / "outside")
    else:
        (file if what == "file" else file.parent).chmod(0o555)

    try:
        with pytest.raises(Denied):
            journal.append(hands.kanban, ident, {"type": "worklog", "text": "No."})
    finally:
        file.parent.chmod(0o755)

    assert not (tmp_path / "outside").exists()
    assert journal.latest(hands.kanban, ident, limit=None) == []

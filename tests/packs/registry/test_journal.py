"""What agents contributed outlives the index it is in."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from contributions import full_pattern, good_skill_text, trace
from databases import fresh
from hypothesis import given
from hypothesis import strategies as st

from ubp.actors.wiring import prepare_database
from ubp.errors import DatabaseError, NoRoom
from ubp.packs.registry import PACK, overview, writes
from ubp.packs.registry.contributions import skill_contribution, unit_contribution
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.journal import lines
from ubp.packs.registry.journal.lines import Gone
from ubp.packs.registry.journal.writes import restore
from ubp.packs.registry.queries import Viewer
from ubp.packs.registry.trust_tools import reputation_of
from ubp.store import migrations
from ubp.store.connection import open_writer

ANN = Viewer("kp:agent:ann", "one")
BOB = Viewer("kp:agent:bob", "")
THRESHOLDS = Thresholds()
_SETS = [migrations.Set(PACK.name, PACK.migrations)]


def contribute_all(db: apsw.Connection) -> list[str]:
    """A skill in two versions, a private pattern and a trace that was judged."""
    skills = [
        skill_contribution(
            good_skill_text("check-it", body, "tags: [One, 二]\n"), None, THRESHOLDS
        )
        for body in ("", "Another body, that is quite as good. " * 10)
    ]
    one, _ = [writes.contribute(db, skill, ANN, None).ident for skill in skills]
    unit = unit_contribution(full_pattern(), "private", ANN.agent, THRESHOLDS)
    two = writes.contribute(db, unit, ANN, None).ident
    unit = unit_contribution(trace(), "network", BOB.agent, THRESHOLDS)
    three = writes.contribute(db, unit, BOB, None).ident
    writes.vote(db, ANN, three, valid=False, feedback="Not so.")
    writes.vote(db, ANN, three, valid=True, feedback="So it is.")
    writes.vote(db, BOB, one, valid=True, feedback=None)
    return [one, two, three]


def all_of(db: apsw.Connection) -> Any:
    """Everything anybody can see of it."""
    return [
        (
            overview.entries(db, who, mine=False),
            [
                overview.show(db, who, each.id)
                for each in overview.entries(db, who, mine=False)
            ],
            overview.report(db, who),
            [reputation_of(db, who, of.agent) for of in (ANN, BOB)],
        )
        for who in (ANN, BOB)
    ]


def opened(path: Path) -> apsw.Connection:
    db = open_writer(path)
    prepare_database(db)
    return db


def remove(database: Path) -> None:
    for part in ("", "-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)


def test_a_deleted_index_takes_nothing_with_it(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = opened(database)
    idents = contribute_all(db)
    before = all_of(db)
    db.close()
    remove(database)

    again = opened(database)

    assert all_of(again) == before
    # And it is found, by its words and tags.
    words = again.execute(
        "SELECT (SELECT count(*) FROM registry_text)"
        " + (SELECT count(*) FROM registry_closed_text)"
    ).get
    tags = again.execute("SELECT count(*) FROM registry_tag").get
    assert (words, tags) == (len(idents), 2)
    waiting = again.execute("SELECT count(*) FROM passage WHERE pack = 'registry'").get
    assert waiting == len(idents)


def test_what_comes_after_it_was_brought_back_is_kept_too(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = opened(database)
    one, *_ = contribute_all(db)
    db.close()
    remove(database)
    db = opened(database)
    writes.vote(db, Viewer("kp:agent:cid", ""), one, valid=False, feedback="No.")
    before = all_of(db)
    db.close()
    remove(database)

    assert all_of(opened(database)) == before


def test_a_damaged_line_takes_no_other_with_it(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = opened(database)
    contribute_all(db)
    db.close()
    remove(database)
    journal = tmp_path / lines.FILE_NAME
    raw = journal.read_bytes()
    at = raw.index(b'"ToolCallPattern"')
    journal.write_bytes(raw[:at] + b"\xff\x00" + raw[at + 2 :])
    db = open_writer(database)
    migrations.apply(db, [migrations.CORE, *_SETS])

    done = restore(db)

    assert (done.number, done.lost) == (2, 1)
    kinds = {each.kind for each in overview.entries(db, ANN, mine=False)}
    assert kinds == {"skill", "ReasoningTrace"}
    kept = journal.with_name(f"{journal.name}.damaged")
    assert kept.read_bytes() != journal.read_bytes()
    assert lines.read(journal)[1] == 0


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path: Path) -> None:
    journal = tmp_path / "j"
    first, second = Gone(ident="a", agent="x"), Gone(ident="b", agent="x")
    lines.append(journal, [first])
    with journal.open("ab") as file:
        file.write(b"1234 half of a li")

    lines.append(journal, [second])

    assert lines.read(journal) == ([first, second], 1)


def test_a_lost_journal_is_begun_again_with_all_there_is(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = opened(database)
    contribute_all(db)
    before = all_of(db)
    journal = tmp_path / lines.FILE_NAME
    journal.unlink()
    db.close()

    opened(database).close()
    remove(database)

    assert all_of(opened(database)) == before


def test_a_journal_lost_while_serving_is_whole_after_the_next_change(
    tmp_path: Path,
) -> None:
    database = tmp_path / "index.db"
    db = opened(database)
    one, *_ = contribute_all(db)
    (tmp_path / lines.FILE_NAME).unlink()
    writes.vote(db, Viewer("kp:agent:cid", ""), one, valid=True, feedback=None)
    before = all_of(db)
    db.close()
    remove(database)

    assert all_of(opened(database)) == before


def test_a_journal_that_is_mostly_old_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_SMALL", 2_000)
    database = tmp_path / "index.db"
    db = opened(database)
    one, *_ = contribute_all(db)
    for number in range(40):
        says = f"For the {number}th time."
        writes.vote(db, BOB, one, valid=bool(number % 2), feedback=says)
    before = all_of(db)

    journal = tmp_path / lines.FILE_NAME
    entries, _ = lines.read(journal)
    assert len(entries) < 40
    db.close()
    remove(database)
    assert all_of(opened(database)) == before


def test_what_cannot_be_written_down_is_not_stored(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = opened(database)
    contribute_all(db)
    before = all_of(db)
    journal = tmp_path / lines.FILE_NAME
    journal.unlink()
    journal.mkdir()

    skill = skill_contribution(good_skill_text("another"), None, THRESHOLDS)
    with pytest.raises(NoRoom):
        writes.contribute(db, skill, ANN, None)

    assert all_of(db) == before


def test_a_journal_that_cannot_be_read_is_not_taken_for_an_empty_one(
    tmp_path: Path,
) -> None:
    (tmp_path / lines.FILE_NAME).mkdir()

    with pytest.raises(DatabaseError):
        fresh(tmp_path / "index.db")


def test_a_journal_of_a_newer_version_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "index.db"
    journal = tmp_path / lines.FILE_NAME
    with monkeypatch.context() as newer:
        newer.setattr(lines, "_VERSION", 2)
        db = opened(database)
        contribute_all(db)
        before = all_of(db)
        db.close()
    remove(database)
    written = journal.read_bytes()

    with pytest.raises(DatabaseError, match="newer version"):
        opened(database)

    assert journal.read_bytes() == written
    assert not journal.with_name(f"{journal.name}.damaged").exists()
    monkeypatch.setattr(lines, "_VERSION", 2)
    assert all_of(opened(database)) == before


def test_a_database_in_memory_has_no_journal() -> None:
    db = fresh(":memory:")

    contribute_all(db)

    assert lines.beside(db) is None
    assert restore(db) == (0, 0)


@given(st.lists(st.binary()))
def test_any_file_is_an_answer(
    tmp_path_factory: pytest.TempPathFactory, given_lines: list[bytes]
) -> None:
    journal = tmp_path_factory.mktemp("any") / "j"
    journal.write_bytes(b"\n".join(given_lines))

    entries, damaged = lines.read(journal)

    assert entries == []
    written = [
        each for line in given_lines for each in line.split(b"\n") if each.strip()
    ]
    assert damaged == len(written)

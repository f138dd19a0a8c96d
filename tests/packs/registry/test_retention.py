"""What has had its time is deleted, when somebody asks for it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
from contributions import skill_text
from databases import fresh
from vaults import vault

from ubp.packs.registry import writes
from ubp.packs.registry.acting import retention_of
from ubp.packs.registry.contributions import skill_contribution
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.queries import Viewer, listed
from ubp.packs.registry.unit_schema import Visibility
from ubp.packs.registry.writes import Swept
from ubp.store.ids import iso

ANN = Viewer("kp:agent:ann", "one")
BOB = Viewer("kp:agent:bob", "two")


def stored(
    db: apsw.Connection, name: str, visibility: Visibility, days: int, who: Viewer = ANN
) -> str:
    """A skill that was stored so many days ago."""
    skill = skill_contribution(skill_text(name), visibility, Thresholds())
    made = writes.contribute(db, skill, who, None)
    at = iso(datetime.now(UTC) - timedelta(days=days))
    db.execute("UPDATE registry_item SET updated_at = ? WHERE id = ?", (at, made.row))
    return made.ident


def test_each_visibility_has_its_time(tmp_path: Path) -> None:
    keep = retention_of(vault(tmp_path, {}))
    db = fresh()
    for name, visibility, days in (
        ("a", "network", 9_000),
        ("b", "org", 729),
        ("d", "private", 364),
    ):
        stored(db, name, visibility, days)  # type: ignore[arg-type]
    gone = [stored(db, "c", "org", 731), stored(db, "e", "private", 366)]

    swept = writes.sweep(db, ANN, keep)

    assert swept == Swept([], [], gone)
    assert {item.name for item in listed(db, ANN, mine=False)} == {"a", "b", "d"}
    assert db.execute("SELECT count(*) FROM registry_text").get == 1
    assert db.execute("SELECT count(*) FROM registry_closed_text").get == 2
    assert db.execute("SELECT count(*) FROM passage WHERE pack = 'registry'").get == 3
    assert writes.sweep(db, ANN, keep) == Swept([], [], [])


def test_what_is_deleted_for_another_agent_is_not_told(tmp_path: Path) -> None:
    keep = retention_of(vault(tmp_path, {}))
    db = fresh()
    stored(db, "a", "private", 400, BOB)
    stored(db, "b", "org", 800, BOB)

    assert writes.sweep(db, ANN, keep) == Swept([], [], [])
    assert listed(db, BOB, mine=True) == []


def test_what_was_deleted_does_not_come_back_from_the_journal(tmp_path: Path) -> None:
    keep = retention_of(vault(tmp_path, {}))
    database = tmp_path / "index.db"
    db = fresh(database)
    stored(db, "a", "private", 400)
    stored(db, "b", "network", 400)
    writes.sweep(db, ANN, keep)
    db.close()
    for part in ("", "-wal", "-shm"):
        (tmp_path / f"index.db{part}").unlink(missing_ok=True)

    db = fresh(database)

    assert [item.name for item in listed(db, ANN, mine=False)] == ["b"]


def test_other_days_can_be_set(tmp_path: Path) -> None:
    settings = "[registry]\norg_days = 10\nprivate_days = 5.5\n"
    keep = retention_of(vault(tmp_path, {"ubp.toml": settings}))
    db = fresh()
    gone = [stored(db, "a", "org", 11), stored(db, "b", "private", 6)]
    stored(db, "c", "private", 5)

    assert writes.sweep(db, ANN, keep).expired == gone


def test_a_skill_in_a_watched_folder_is_as_old_as_it_likes(tmp_path: Path) -> None:
    keep = retention_of(vault(tmp_path, {}))
    db = fresh()
    skill = skill_contribution(skill_text("a"), "private", Thresholds())
    writes.save(db, "skills/a/SKILL.md", "digest", skill, reset=False)
    db.execute("UPDATE registry_item SET updated_at = '2001-01-01T00:00:00Z'")

    assert writes.sweep(db, ANN, keep).expired == []
    assert db.execute("SELECT count(*) FROM registry_item").get == 1

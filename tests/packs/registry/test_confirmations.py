"""Where `registry.confirmations` asks for it, what is for everybody waits for votes."""

import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from agents import Agents, registry
from contributions import (
    change,
    full_pattern,
    good_skill_text,
    pattern,
    skill_text,
    trace,
)
from databases import fresh
from mcp.shared.exceptions import MCPError
from vaults import vault

from ubp.actors.wiring import prepare_database
from ubp.config import RegistrySettings, Settings, load
from ubp.errors import ConfigError
from ubp.packs.registry import PACK, overview, writes
from ubp.packs.registry.acting import RULES, retention_of
from ubp.packs.registry.contributions import skill_contribution, unit_contribution
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.queries import Viewer, closed_rows, listed
from ubp.packs.registry.uris import uri
from ubp.packs.registry.writes import Swept
from ubp.store import migrations
from ubp.store.connection import open_reader, open_writer

ANN, BEA = Viewer("kp:agent:ann", "one"), Viewer("kp:agent:bea", "one")
CID, DAN = Viewer("kp:agent:cid", "two"), Viewer("kp:agent:dan", "two")
MINE = "kp:pattern:mine"
JAPANESE = "帳簿を確かめる。ledger を読む。" * 20


def asking(number: int) -> str:
    return f"[registry]\nconfirmations = {number}\n"


def settings(number: int) -> Settings:
    return Settings(registry=RegistrySettings(confirmations=number))


def contributed(db: apsw.Connection, who: Viewer, ident: str = MINE) -> str:
    """A pattern that is for everybody."""
    unit = change(full_pattern(), "id", ident)
    item = unit_contribution(unit, "network", who.agent, Thresholds())
    return writes.contribute(db, item, who, None).ident


def seen_by(db: apsw.Connection, *viewers: Viewer) -> list[bool]:
    """Whether each of them sees anything."""
    return [bool(listed(db, who, mine=False)) for who in viewers]


def words(db: apsw.Connection) -> tuple[int, int]:
    """How many items are in the words of everybody, and in those of others."""
    of_all: int = db.execute("SELECT count(*) FROM registry_text").get
    closed: int = db.execute("SELECT count(*) FROM registry_closed_text").get
    return of_all, closed


async def found(agents: Agents, ident: str) -> set[str]:
    """Where an item shows for whoever acts."""
    places: dict[str, Any] = {
        "words": {**await agents.skills("ledger"), **await agents.units("ledger")},
        "japanese": {**await agents.skills("帳簿"), **await agents.units("帳簿")},
        "list": {**await agents.skills(""), **await agents.units("")},
        "resources": [
            str(each.uri) for each in (await agents.client.list_resources()).resources
        ],
    }
    own_part = ident.rpartition(":")[2]  # a URI has no more of it
    shows = {where for where, there in places.items() if own_part in str(there)}
    try:
        await agents.client.get_prompt("kp_few_shot", {"unit_id": ident})
    except MCPError:
        return shows
    return {*shows, "prompt"}


async def test_an_item_is_for_everybody_with_the_vote_that_completes_the_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everywhere = {"words", "japanese", "list", "prompt"}
    attached = {*everywhere, "resources"}
    async with registry(tmp_path, monkeypatch, asking(2)) as agents:
        text = good_skill_text("ledger-check", JAPANESE)
        skill = await agents.skill(text)
        unit = change(trace(), "task", {"objective": JAPANESE})
        unit = await agents.share(unit)

        for answer in (skill, unit):
            assert answer["warnings"] == [
                "It is visible to `org` only, until 2 more agents confirm it."
            ]
        again = await agents.skill(text)
        assert again["warnings"] == skill["warnings"]
        assert await found(agents, skill["id"]) == attached
        for one, places in ((skill["id"], attached), (unit["id"], everywhere)):
            agents.becomes("cid", "two")
            assert await found(agents, one) == set()
            assert "NOT_FOUND" in await agents.refused(
                "kp_validate_unit", unit_id=one, valid=True
            )
            agents.becomes("bea", "one")
            assert await found(agents, one) == places
            for _ in range(2):  # an agent counts once
                await agents.vote(one, True)
            agents.becomes("cid", "two")
            assert await found(agents, one) == set()
            agents.becomes("ben", "one")
            await agents.vote(one, True)
            agents.becomes("cid", "two")
            assert await found(agents, one) == places
        with_uri = uri(skill["id"], "ledger-check")
        assert (await agents.client.read_resource(with_uri)).contents

        agents.becomes("ben", "one")
        await agents.vote(skill["id"], False)

        agents.becomes("cid", "two")
        assert await found(agents, skill["id"]) == set()
        with pytest.raises(MCPError):
            await agents.client.read_resource(with_uri)
        assert (await agents.reputation("ann"))["contributions"] == 1
        agents.becomes("bea", "one")
        assert await found(agents, skill["id"]) == attached


async def test_who_has_no_organisation_is_told_that_nobody_can_confirm_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with registry(tmp_path, monkeypatch, asking(1)) as agents:
        agents.becomes("ann", "")
        alone = await agents.skill(skill_text("one"))
        agents.becomes("ann", "one")
        shared = await agents.skill(skill_text("one"))

        nobody = "Nobody else sees it: KP_ORG_ID does not say of which organisation."
        waits = "It is visible to `org` only, until 1 more agent confirms it."
        assert alone["warnings"] == [nobody, waits]
        assert shared["warnings"] == alone["warnings"][1:]
        assert shared["id"] == alone["id"]
        agents.becomes("bea", "one")
        assert shared["id"] in await agents.skills("")


async def test_a_private_item_that_is_to_be_for_everybody_is_first_for_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with registry(tmp_path, monkeypatch, asking(3)) as agents:
        await agents.skill(skill_text("one"), visibility="private")

        opened = await agents.skill(skill_text("one"), visibility="network")
        closed = await agents.skill(skill_text("one"), visibility="org")

        assert opened["warnings"] == [
            "It was visible to `private`, and is now visible to `org`.",
            "It is visible to `org` only, until 3 more agents confirm it.",
        ]
        assert closed["warnings"] == []


def test_skills_in_watched_folders_need_no_confirmation() -> None:
    db = fresh()
    writes.require_confirmations(db, 3)

    skill = skill_contribution(good_skill_text("one"), None, Thresholds())
    writes.save(db, "skills/one/SKILL.md", "", skill, False)
    writes.require_confirmations(db, 4)

    assert seen_by(db, ANN, CID) == [True, True]
    assert words(db) == (1, 0)


def test_a_new_version_keeps_its_confirmations() -> None:
    db = fresh()
    writes.require_confirmations(db, 1)
    contributed(db, ANN)
    writes.vote(db, BEA, MINE, valid=True, feedback=None)

    unit = change(change(full_pattern(), "id", MINE), "name", "Another name")
    item = unit_contribution(unit, "network", ANN.agent, Thresholds())
    stored = writes.contribute(db, item, ANN, None)

    assert (stored.visibility, stored.missing) == ("network", 0)
    assert seen_by(db, CID) == [True]


def test_only_one_item_of_an_id_is_for_everybody() -> None:
    db = fresh()
    writes.require_confirmations(db, 1)
    contributed(db, ANN)
    contributed(db, CID)  # who may not know of the other

    writes.vote(db, BEA, MINE, valid=True, feedback=None)
    writes.vote(db, Viewer("kp:agent:eve", "two"), MINE, valid=True, feedback=None)
    assert words(db) == (1, 1)
    assert [item.agent for item in listed(db, BEA, mine=False)] == [ANN.agent]
    writes.require_confirmations(db, 0)

    assert words(db) == (1, 1)
    unit = change(change(full_pattern(), "id", MINE), "name", "Another name")
    item = unit_contribution(unit, "network", CID.agent, Thresholds())
    assert writes.contribute(db, item, CID, None).visibility == "org"


async def test_whose_id_is_taken_once_it_is_confirmed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = change(pattern(), "id", MINE)
    async with registry(tmp_path, monkeypatch, asking(1)) as agents:
        await agents.share(unit)
        agents.becomes("cid", "two")
        await agents.share(unit)
        for voter, org in (("dan", "two"), ("bea", "one")):
            agents.becomes(voter, org)
            await agents.vote(MINE, True)

        agents.becomes("ann", "one")
        answer = await agents.share(change(unit, "description", "Another way."))

        assert answer["warnings"] == [
            "It is visible to `org` only: everybody sees another item of its id."
        ]
        agents.becomes("eve")
        [seen] = (await agents.units("")).values()
        assert seen["content"]["metadata"]["agent_id"] == "kp:agent:cid"


def test_asking_for_confirmations_and_no_longer_counts_for_what_is_there() -> None:
    db = fresh()
    contributed(db, ANN)
    kept = skill_contribution(skill_text("one"), "private", Thresholds())
    writes.contribute(db, kept, DAN, None)
    assert (seen_by(db, BEA, CID), words(db)) == ([True, True], (1, 1))

    prepare_database(db, settings(2))

    assert (seen_by(db, BEA, CID), words(db)) == ([True, False], (0, 2))
    assert len(closed_rows(db, CID, seen=False)) == 2
    prepare_database(db)
    assert (seen_by(db, BEA, CID), words(db)) == ([True, False], (0, 2))
    prepare_database(db, settings(0))
    assert (seen_by(db, BEA, CID), words(db)) == ([True, True], (1, 1))


def test_a_database_that_cannot_be_written_stays_as_it_is(tmp_path: Path) -> None:
    database = tmp_path / "index.db"
    db = open_writer(database)
    prepare_database(db, settings(1))
    contributed(db, ANN)
    reader = open_reader(database)

    RULES.follow(reader, settings(0))

    assert not RULES.hold(reader, settings(0))
    assert seen_by(reader, BEA, CID) == [True, False]


@pytest.mark.parametrize("votes", [0, 1, 2])
def test_an_index_made_again_shows_no_more_than_before(
    tmp_path: Path, votes: int
) -> None:
    database = tmp_path / "index.db"
    db = open_writer(database)
    prepare_database(db, settings(2))
    contributed(db, ANN)
    for voter in (BEA, Viewer("kp:agent:ben", "one"))[:votes]:
        writes.vote(db, voter, MINE, valid=True, feedback=None)
    before = [overview.entries(db, who, mine=False) for who in (ANN, BEA, CID)]
    indexed = words(db)
    db.close()
    for part in ("", "-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)

    again = open_writer(database)
    prepare_database(again, settings(2))

    assert [
        overview.entries(again, who, mine=False) for who in (ANN, BEA, CID)
    ] == before
    assert words(again) == indexed == ((1, 0) if votes == 2 else (0, 1))
    prepare_database(again, settings(0))
    assert seen_by(again, CID) == [True]


def test_a_sweep_keeps_what_is_to_be_for_everybody(tmp_path: Path) -> None:
    db = fresh()
    writes.require_confirmations(db, 1)
    contributed(db, ANN)
    db.execute("UPDATE registry_item SET updated_at = '2001-01-01T00:00:00Z'")

    swept = writes.sweep(db, ANN, retention_of(vault(tmp_path, {})))

    assert swept == Swept([], [], [])
    assert seen_by(db, BEA, CID) == [True, False]


def test_an_export_and_a_look_tell_for_whom_it_is() -> None:
    db = fresh()
    writes.require_confirmations(db, 1)
    skill = skill_contribution(skill_text("one"), None, Thresholds())
    ident = writes.contribute(db, skill, ANN, None).ident

    [exported] = overview.export(db, ANN).skills
    shown = overview.show(db, BEA, ident)

    assert exported.visibility == "network"
    assert (shown.visibility, shown.asked_visibility) == ("org", "network")
    writes.vote(db, BEA, ident, valid=True, feedback=None)
    shown = overview.show(db, CID, ident)
    assert (shown.visibility, shown.asked_visibility) == ("network", "")


def test_what_an_older_version_stored_is_for_whom_it_was(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    shutil.copy(PACK.migrations / "0001_items.sql", old)
    db = open_writer(":memory:")
    migrations.apply(db, [migrations.CORE, migrations.Set(PACK.name, old)])
    for number, visibility in enumerate(("private", "org", "network")):
        db.execute(
            "INSERT INTO registry_item VALUES"
            " (?, ?, 'skill', 'a', 'o', ?, 'n', NULL, '', ?, '{}', x'', 0.5, NULL,"
            "  0, 0, 0.5, 'active', '', '', NULL)",
            (number, f"kp:skill:{number}", visibility, skill_text("n")),
        )

    prepare_database(db)

    stored = db.execute("SELECT visibility, asked FROM registry_item").fetchall()
    assert stored == [(each, each) for each in ("private", "org", "network")]


@pytest.mark.parametrize("number", ["-1", "11", '"two"'])
def test_a_number_that_makes_no_sense_is_refused(tmp_path: Path, number: str) -> None:
    file = tmp_path / "ubp.toml"
    file.write_text(f"[registry]\nconfirmations = {number}\n", encoding="utf-8")

    with pytest.raises(ConfigError):
        load(file)


async def test_a_server_that_starts_again_asks_as_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    for number in (0, 2, 2, 0):
        async with registry(tmp_path, monkeypatch, asking(number)) as agents:
            await agents.share(change(pattern(), "id", MINE))
            agents.becomes("cid", "two")
            seen.append(len(await agents.units("")))

    assert seen == [1, 0, 0, 1]

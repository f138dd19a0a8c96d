"""The registry through real processes: several agents, damage, and a restart."""

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest
from clients import PATIENCE, UBP, Client, eventually, serving
from contributions import GONE, change, good_skill_text, pattern, skill_text
from embedding_service import KEY, embedding_service
from models import without_model
from vaults import write_files

from ubp.store import damage

pytestmark = pytest.mark.slow

EACH = 25
"""Contributions of each agent."""


def named(agent: str) -> dict[str, str]:
    return {**os.environ, "KP_AGENT_ID": f"kp:agent:{agent}", "VOYAGE_API_KEY": KEY}


def kp(root: Path, *arguments: str, agent: str = "ann") -> Any:
    done = subprocess.run(
        [*UBP, "kp", *arguments, "--json", "--root", str(root)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=named(agent),
        timeout=PATIENCE,
        check=True,
    )
    return json.loads(done.stdout)


def share(client: Client, agent: str, number: int) -> str:
    unit = change(change(pattern(), "id", GONE), "name", f"{agent} {number}")
    made = client.call("kp_contribute_knowledge", unit=unit, visibility="network")
    ident: str = made["id"]
    return ident


def spoil(database: Path) -> None:
    """Write nonsense over most of it, and take away the log that would hide that."""
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with database.with_name("index.db-wal").open("r+b") as file:
        file.truncate(0)


def test_agents_who_write_at_once_lose_nothing_nor_does_a_restart(
    tmp_path: Path,
) -> None:
    without_model(tmp_path)
    agents = ["ann", "bob", "cid"]
    made: dict[str, list[str]] = {agent: [] for agent in agents}

    def work(client: Client, agent: str) -> None:
        for number in range(EACH):
            made[agent].append(share(client, agent, number))

    with (
        serving(tmp_path, "--shared", environment=named("ann")) as ann,
        serving(tmp_path, "--shared", environment=named("bob")) as bob,
        serving(tmp_path, "--shared", environment=named("cid")) as cid,
    ):
        threads = [
            threading.Thread(target=work, args=each)
            for each in zip((ann, bob, cid), agents, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE)
        # All vote for the same one at once, and each vote counts.
        [target, *_] = made["ann"]
        for client in (bob, cid):
            client.call("kp_validate_unit", unit_id=target, valid=True)

    listed = {each["id"]: each for each in kp(tmp_path, "list")}
    everything = {ident for idents in made.values() for ident in idents}
    assert len(everything) == 3 * EACH
    assert set(listed) == everything
    assert kp(tmp_path, "show", target)["positive"] == 2
    with serving(tmp_path, environment=named("dan")) as dan:
        for agent in agents:
            found = dan.call("kp_reputation_query", agent_id=f"kp:agent:{agent}")
            assert found["contributions"] == EACH


def test_a_damaged_index_takes_no_contribution_with_it(tmp_path: Path) -> None:
    pages = {f"docs/{n}.md": f"# Page {n}\n\nA heron.\n" for n in range(40)}
    write_files(tmp_path, pages)
    without_model(tmp_path)
    database = tmp_path / ".ubp/index.db"
    with (
        serving(tmp_path, environment=named("ann")) as ann,
        serving(tmp_path, "--shared", environment=named("bob")) as bob,
    ):
        ann.until_indexed(40)
        made = ann.call("kp_contribute_skill", skill_md_content=good_skill_text("one"))
        eventually(
            lambda: bob.call("kp_search_skill", query="one")["result"],
            lambda found: [each["id"] for each in found] == [made["id"]],
        )
        bob.call("kp_validate_unit", unit_id=made["id"], valid=True)
        spoil(database)
        write_files(tmp_path, {"docs/new.md": "# New\n"})
        eventually(lambda: damage.kept(database).exists() or None)

        def found(client: Client) -> Any:
            asked = {"name": "kp_search_skill", "arguments": {"query": "one"}}
            answer = client.ask("tools/call", asked)
            return answer.get("result", {}).get("structuredContent", {}).get("result")

        for client in (ann, bob):
            [hit] = eventually(lambda: found(client))  # noqa: B023
            assert (hit["id"], hit["name"]) == (made["id"], "one")
        assert any("pack.restored" in line for line in ann.log + bob.log)
    shown = kp(tmp_path, "show", made["id"])
    assert (shown["positive"], shown["agent_id"]) == (1, "kp:agent:ann")


def test_a_deleted_index_takes_no_contribution_with_it(tmp_path: Path) -> None:
    without_model(tmp_path)
    file = tmp_path / "SKILL.md"
    file.write_text(skill_text("one"), encoding="utf-8")
    made = kp(tmp_path, "contribute", str(file), "--visibility", "private")
    for part in ("", "-wal", "-shm"):
        (tmp_path / f".ubp/index.db{part}").unlink(missing_ok=True)

    assert [each["id"] for each in kp(tmp_path, "list")] == [made["id"]]
    assert kp(tmp_path, "list", agent="bob") == []


def test_what_a_follower_or_a_command_stores_gets_its_vector_at_once(
    tmp_path: Path,
) -> None:
    def vectors() -> int:
        db = apsw.Connection(
            str(tmp_path / ".ubp/index.db"), flags=apsw.SQLITE_OPEN_READONLY
        )
        try:
            number: int = db.execute(
                "SELECT count(*) FROM passage WHERE pack = 'registry' AND embedded > 0"
            ).get
        finally:
            db.close()
        return number

    with embedding_service() as service:
        settings = (
            '[embedding]\nprovider = "http"\nmodel = "voyage-3-lite"\n'
            f"url = {json.dumps(service.url)}\nunrelated = 0.3\nrelated = 0.9\n"
        )
        write_files(tmp_path, {"ubp.toml": settings, "docs/a.md": "# A\n\nHeron.\n"})
        with (
            serving(tmp_path, environment=named("ann")) as ann,
            serving(tmp_path, "--shared", environment=named("bob")) as bob,
        ):
            ann.until_indexed(1)
            share(ann, "ann", 1)
            eventually(vectors, lambda it: it == 1)

            share(bob, "bob", 1)
            eventually(vectors, lambda it: it == 2)

            file = tmp_path / "SKILL.md"
            file.write_text(skill_text("one"), encoding="utf-8")
            kp(tmp_path, "import", str(file))
            eventually(vectors, lambda it: it == 3)

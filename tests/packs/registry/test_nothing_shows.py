"""Whatever an agent asks, the answer is the same with and without what is not theirs.

Two registries hold the same, but one of them also holds what another agent keeps to
itself. Everything that can be asked is asked of both.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import apsw
import mcp_types as types
import numpy as np
import pytest
from agents import Agents, registry
from contributions import (
    GONE,
    change,
    full_pattern,
    good_skill_text,
    pattern,
    procedure,
    skill_text,
    trace,
)
from databases import fresh
from mcp.shared.exceptions import MCPError

from ubp.cli import main
from ubp.messages import QueryVector
from ubp.packs.registry import queries, writes
from ubp.packs.registry.acting import unseen_rows
from ubp.packs.registry.contributions import skill_contribution
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.queries import Filter, Viewer
from ubp.packs.registry.search import Question, find, novelty
from ubp.packs.registry.unit_schema import Visibility
from ubp.packs.registry.uris import uri
from ubp.store import vectors
from ubp.store.vector_blocks import Blocks

SECRET_IDS = [
    "kp:trace:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9aff",
    "kp:pattern:0b0f9c1e-7f6c-4f0e-9f53-0c7d1a1f9aff",
]
WORDS = ["figures", "ledger", "quux", "walrus", "quux walrus", "figures quux", "秘密"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


CONFIRMED = "[registry]\nconfirmations = 1\n"


async def common(agents: Agents) -> None:
    """What both worlds hold."""
    agents.becomes("cid", "three")
    text = good_skill_text("ledger-check", "The walrus of a ledger. " * 20)
    shared = [
        await agents.skill(text),
        await agents.skill(skill_text("ledger-walk", "Walk the ledger.")),
        await agents.share(trace()),
        await agents.share(full_pattern()),
    ]
    agents.becomes("col", "three")
    for each in shared:
        await agents.vote(each["id"], True)
    agents.becomes("bob", "two")
    await agents.share(change(procedure(), "name", "Walrus care"))
    await agents.skill(skill_text("own", "My walrus."), visibility="private")


async def secret(agents: Agents) -> None:
    """What one of them holds beside it, in another agent's keeping."""
    agents.becomes("ann", "one")
    for number in range(12):
        name = f"ledger-secret-{number}"
        text = good_skill_text(name, "quux 秘密 walrus ledger figures. " * 20)
        visibility = "org" if number % 2 else "private"
        await agents.skill(text, visibility=visibility)
    for unit, ident in zip((trace(), pattern()), SECRET_IDS, strict=True):
        await agents.share(change(unit, "id", ident), "private")
    org = await agents.share(change(pattern(), "id", GONE), "org")
    agents.becomes("amy", "one")
    await agents.vote(org["id"], valid=False, feedback="quux")


async def unconfirmed(agents: Agents) -> None:
    """The same for everybody, but nobody else has approved of it."""
    agents.becomes("ann", "one")
    for number in range(12):
        text = "quux 秘密 walrus ledger figures. " * 20
        await agents.skill(good_skill_text(f"ledger-secret-{number}", text))
    for unit, ident in zip((trace(), pattern()), SECRET_IDS, strict=True):
        await agents.share(change(unit, "id", ident))
    other = await agents.share(change(pattern(), "id", GONE))
    agents.becomes("amy", "one")
    await agents.vote(other["id"], valid=False, feedback="quux")


Hidden = Callable[[Agents], Awaitable[None]]
KINDS = pytest.mark.parametrize(
    ("hidden", "settings"), [(secret, ""), (unconfirmed, CONFIRMED)]
)


@asynccontextmanager
async def world(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    hidden: Hidden,
    settings: str,
    *,
    with_secrets: bool,
) -> AsyncIterator[Agents]:
    async with registry(root, monkeypatch, settings) as agents:
        if with_secrets:
            await hidden(agents)
        await common(agents)
        agents.becomes("bob", "two")
        yield agents


def plain(value: Any) -> Any:
    """Without what differs between any two runs."""
    seen: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        return seen.setdefault(match[0], f"id {len(seen)}")

    return UUID.sub(name, TIME.sub("time", repr(value)))


async def tried(call: Any) -> Any:
    try:
        found = await call
    except MCPError as error:
        return error.code, error.message, error.data
    return found.model_dump(exclude={"meta"}) if hasattr(found, "model_dump") else found


async def everything(agents: Agents) -> list[tuple[str, str]]:
    """All that can be asked, with the answers."""
    client = agents.client
    told: list[tuple[str, Any]] = []

    async def call(tool: str, **arguments: Any) -> None:
        answer = await tried(client.call_tool(tool, arguments))
        told.append((f"{tool} {arguments}", answer))

    for word in ["", *WORDS]:
        for least in (0.0, 0.7, 0.99):
            skills = {"query": word, "min_quality": least, "limit": 20}
            await call("kp_search_skill", **skills)
            units = {"query": word, "min_quality": least, "limit": 10}
            await call("kp_search_knowledge", **units)
    for agent in ("ann", "amy", "bob", "cid", "nobody"):
        await call("kp_reputation_query", agent_id=f"kp:agent:{agent}")
    for ident in (*SECRET_IDS, "kp:skill:x", "kp:trace:x"):
        await call("kp_validate_unit", unit_id=ident, valid=True, feedback="so")
        got = client.get_prompt("kp_few_shot", {"unit_id": ident})
        told.append((f"prompt {ident}", await tried(got)))
    told.append(("list", await tried(client.list_resources())))
    told.append(("read", await tried(client.read_resource(uri("kp:skill:x", "y")))))
    for typed in ("", "ledger", "kp:", "secret", "0b0f9c1e"):
        for about, argument in (
            (types.PromptReference(name="kp_few_shot"), "unit_id"),
            (types.ResourceTemplateReference(uri="skill://{+path}/SKILL.md"), "path"),
        ):
            asked = client.complete(about, {"name": argument, "value": typed})
            told.append((f"complete {typed}", await tried(asked)))
    # And last what writes: the same id, the same text, the same name.
    for unit, ident in zip((trace(), pattern()), SECRET_IDS, strict=True):
        given = change(unit, "id", ident)
        await call("kp_contribute_knowledge", unit=given, visibility="network")
    text = good_skill_text("ledger-secret-0", "quux 秘密 walrus ledger figures. " * 20)
    await call("kp_contribute_skill", skill_md_content=text)
    for ident in SECRET_IDS:
        await call("kp_validate_unit", unit_id=ident, valid=True)
    return [(what, plain(answer)) for what, answer in told]


def commands(root: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What the commands print, in the same agent's name."""
    printed: list[str] = []
    for arguments in (
        ["list"],
        ["report"],
        ["export"],
        ["search", "ledger", "--min-quality", "0"],
        ["show", "kp:skill:x"],
        ["sweep"],
    ):
        with pytest.raises(SystemExit):
            main(["kp", *arguments, "--json", "--root", str(root)])
        printed.append(capsys.readouterr().out)
    with pytest.raises(SystemExit):
        main(["status", "--json", "--root", str(root)])
    held = re.search(r'"registry": ?\{[^}]*\}', capsys.readouterr().out)
    return [plain(each) for each in (*printed, held and held[0])]


@KINDS
async def test_every_answer_is_the_same_with_and_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: Hidden, settings: str
) -> None:
    answers: list[list[tuple[str, str]]] = []
    for name in ("a", "b"):
        root = tmp_path / name
        root.mkdir()
        async with world(
            root, monkeypatch, hidden, settings, with_secrets=name == "b"
        ) as agents:
            answers.append(await everything(agents))
    without, with_them = answers

    for one, other in zip(without, with_them, strict=True):
        assert one == other


@KINDS
def test_every_command_prints_the_same_with_and_without_secrets(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    hidden: Hidden,
    settings: str,
) -> None:
    async def fill(root: Path, *, with_secrets: bool) -> None:
        async with world(
            root, monkeypatch, hidden, settings, with_secrets=with_secrets
        ):
            pass

    for name in ("a", "b"):
        root = tmp_path / name
        root.mkdir()
        anyio.run(partial(fill, root, with_secrets=name == "b"))
    capsys.readouterr()

    assert commands(tmp_path / "a", capsys) == commands(tmp_path / "b", capsys)


# -- by meaning ------------------------------------------------------------------------


def _stored(
    db: apsw.Connection, name: str, body: str, who: Viewer, sees: Visibility
) -> int:
    text = good_skill_text(name, f"{body} " * 20)
    skill = skill_contribution(text, sees, Thresholds())
    return writes.contribute(db, skill, who, None).row


def _filled(*, with_secrets: bool) -> tuple[apsw.Connection, dict[int, str]]:
    """Items on a circle, by name; secrets lie between all others and the question."""
    db = fresh()
    ann, cid = Viewer("kp:agent:ann", "one"), Viewer("kp:agent:cid", "")
    angles: dict[int, tuple[str, float]] = {}
    if with_secrets:
        for number in range(300):
            name = f"secret-{number}"
            row = _stored(db, name, "quux walrus", ann, "private")
            angles[row] = (name, 0.0001 * number)
    for number in range(250):
        body = "walrus" if number % 3 else "heron"
        row = _stored(db, f"open-{number}", body, cid, "network")
        angles[row] = (f"open-{number}", 0.2 + 0.004 * number)
    model = vectors.aim(db, identity="m", name="m", spec="{}", languages=["en", "ja"])
    while waiting := vectors.waiting(db, model, 500):
        vectors.store(
            db,
            model.id,
            [(each, np.array([_direction(angles[each.row][1])])) for each in waiting],
        )
    vectors.promote(db)
    return db, {row: name for row, (name, _) in angles.items()}


def _direction(angle: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    made = np.zeros(16, np.float32)
    made[0], made[1] = np.cos(angle), np.sin(angle)
    return made


@pytest.mark.parametrize("text", ["walrus", "walrus quux", "quux", "heron walrus", "x"])
def test_by_meaning_too_nothing_shows(text: str) -> None:
    answers: list[Any] = []
    for with_secrets in (False, True):
        db, names = _filled(with_secrets=with_secrets)
        model = vectors.serving(db)
        assert model is not None
        vector = QueryVector(model.id, _direction(0.0).tobytes(), 0.3, 0.9, 0.5)
        question = Question(
            text=text,
            vector=vector,
            viewer=Viewer("kp:agent:bob", "two"),
            wanted=Filter(("skill",)),
            least_quality=0.0,
            limit=20,
            alpha=0.7,
        )
        found = find(db, Blocks(), question)
        answers.append(([names[row] for row in found.rows], found.hidden))
        listed = queries.listed(db, question.viewer, mine=False)
        assert not [item for item in listed if item.name.startswith("secret")]

    assert answers[0] == answers[1]
    assert answers[0][0]


def test_of_what_may_not_be_seen_it_is_not_told_that_it_is_embedded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KP_AGENT_ID", "kp:agent:bob")
    told: list[Any] = []
    for with_secrets in (False, True):
        db, _ = _filled(with_secrets=with_secrets)
        told.append(vectors.progress(db, {"registry": unseen_rows(db)}))

    assert told[0] == told[1]
    assert told[0].completed == 250


def test_how_new_it_is_does_not_tell_what_it_was_embedded_with() -> None:
    db, names = _filled(with_secrets=False)
    model = vectors.serving(db)
    assert model is not None
    rows = {name: row for row, name in names.items()}
    among = [rows["open-100"], rows["open-200"]]
    angles = (0.3, 0.30005)

    told = [
        novelty(db, Blocks(), QueryVector(of, _direction(angle).tobytes()), among)
        for of in (model.id, model.id + 1)
        for angle in angles
    ]

    closest = round(1 - float(np.cos(0.3)), 3)
    assert told == [closest, closest, None, None]
    nobody = QueryVector(model.id, _direction(0.3).tobytes())
    assert novelty(db, Blocks(), nobody, []) is None

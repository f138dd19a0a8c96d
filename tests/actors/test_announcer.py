"""The announcer, between a test that plays the protocol and one that plays the writer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from anyio import to_thread
from databases import fresh, save
from vaults import page, vault
from waiting import soon

from ubp.actors import announcer
from ubp.actors.announcer import Announcer, FollowCall
from ubp.actors.followed import Followed
from ubp.actors.ports import Inbox, Outbox, ask, channel
from ubp.actors.supervisor import supervise
from ubp.errors import ActorStopped, Busy, DatabaseError
from ubp.messages import FollowResources, ResourcesChanged
from ubp.packs.docs import PACK, writes
from ubp.project import Project
from ubp.store.connection import transaction
from ubp.store.session import Session, reading
from ubp.toolkit import Pack

A, B, NEW = "ubp://docs/a.md", "ubp://docs/b.md", "ubp://docs/new.md"


class Desk:
    """What a test has of the announcer: its two neighbours, and what it holds."""

    def __init__(self, project: Project, db: apsw.Connection) -> None:
        self.project = project
        self.db = db
        self.followed = Followed()
        self.follows: Outbox[FollowCall]
        self.announcements: Inbox[ResourcesChanged]
        self.session: Session

    async def follow(self, *uris: str, listed: bool = False) -> frozenset[str]:
        request = FollowResources(frozenset(uris), listed)
        return await ask(self.follows, request, within=20)

    async def heard(self) -> ResourcesChanged:
        return await soon(self.announcements)

    def save(self, path: str, text: str) -> None:
        with transaction(self.db):
            save(self.db, path, text)


@asynccontextmanager
async def desk(root: Path, pack: Pack = PACK) -> AsyncIterator[Desk]:
    project = vault(root, {"docs/a.md": "", "src/a.py": "a", "src/b.py": "b"})
    project.prepare()
    db = fresh(project.database)
    found = Desk(project, db)
    found.save("a.md", "# A")
    found.save("b.md", "# B")
    found.follows, inbox = channel[FollowCall](1)
    outbox, found.announcements = channel[ResourcesChanged](1)
    async with reading(project.database) as session:
        found.session = session
        actor = Announcer(
            inbox,
            outbox,
            found.followed,
            session=session,
            project=project,
            packs=[pack],
        )
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: supervise(actor, forgiven=3, vital=False))
            with found.follows, found.announcements:
                yield found
    db.close()


async def test_a_change_by_another_connection_is_announced(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        assert await it.follow(A, B) == {A, B}

        it.save("b.md", "# Other")

        assert await it.heard() == ResourcesChanged((B,))


async def test_deletion_and_return_are_announced(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        await it.follow(A)

        with transaction(it.db):
            writes.forget(it.db, "a.md")
        assert await it.heard() == ResourcesChanged((A,))
        it.save("a.md", "# A")
        assert await it.heard() == ResourcesChanged((A,))


async def test_a_source_that_changes_is_announced_without_any_commit(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as it:
        text = "---\nsource_refs: [src/a.py]\n---\n"
        with transaction(it.db):
            writes.save(it.db, "a.md", "digest", page(text, "a.md", it.project))
        await it.follow(A, B)

        (tmp_path / "src/a.py").write_text("another", encoding="utf-8")
        assert await it.heard() == ResourcesChanged((A,))
        (tmp_path / "src/a.py").unlink()
        assert await it.heard() == ResourcesChanged((A,))


async def test_pages_that_come_or_go_are_announced_if_somebody_wants_to_know(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as it:
        await it.follow(A)
        it.save("new.md", "")
        it.save("a.md", "# Other")
        assert await it.heard() == ResourcesChanged((A,))

        await it.follow(A, listed=True)
        it.save("newer.md", "")
        assert await it.heard() == ResourcesChanged((), listed=True)


async def test_what_does_not_exist_cannot_be_followed(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        wanted = (A, NEW, "ubp://docs/%.md", "file:///etc/passwd", "")

        assert await it.follow(*wanted) == {A}


async def test_what_is_gone_is_still_followed(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        await it.follow(A)
        with transaction(it.db):
            writes.forget(it.db, "a.md")
        await it.heard()

        assert await it.follow(A, B) == {A, B}


async def test_what_is_no_longer_followed_is_silent(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        await it.follow(A, B)
        assert await it.follow(B) == {B}

        it.save("a.md", "# Other")
        it.save("b.md", "# Other")

        assert await it.heard() == ResourcesChanged((B,))


async def test_every_change_after_the_answer_is_announced(tmp_path: Path) -> None:
    """Followed and changed again and again, without a pause in between."""
    async with desk(tmp_path) as it:
        for number in range(5):
            await it.follow(A)
            it.save("a.md", f"# {number}")
            assert await it.heard() == ResourcesChanged((A,))
            await it.follow()


async def test_nobody_who_follows_nothing_is_looked_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    real = Session.run

    async def counted(self: Session, *args: Any) -> Any:
        nonlocal looks
        looks += 1
        return await real(self, *args)

    monkeypatch.setattr(Session, "run", counted)
    monkeypatch.setattr(announcer, "LOOK_EVERY", 0.0)
    async with desk(tmp_path) as it:
        await it.follow(A)
        it.save("a.md", "# Other")
        await it.heard()
        await it.follow()
        await anyio.wait_all_tasks_blocked()
        before = looks

        for number in range(20):
            await to_thread.run_sync(it.save, "a.md", f"# {number}")

        assert looks == before


async def test_who_does_not_listen_blocks_nobody_and_hears_all_of_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "LOOK_EVERY", 0.01)
    async with desk(tmp_path) as it:
        await it.follow(A, B)
        it.save("a.md", "# 1")
        while not it.announcements.statistics().current_buffer_used:
            await anyio.sleep(0.01)
        for number in range(2, 6):  # the channel is full from here on
            it.save("a.md", f"# {number}")
            it.save("b.md", f"# {number}")
            await it.follow(A, B)

        assert await it.heard() == ResourcesChanged((A,))
        assert await it.heard() == ResourcesChanged((A, B))


async def test_a_database_that_cannot_be_read_for_a_while_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path) as it:
        await it.follow(A)
        real = it.session.run
        refused = anyio.Event()

        async def busy(*_: Any) -> Any:
            refused.set()
            raise Busy("not now")

        monkeypatch.setattr(it.session, "run", busy)
        await refused.wait()
        with pytest.raises(Busy):
            await it.follow(A, B)
        it.save("a.md", "# Other")
        monkeypatch.setattr(it.session, "run", real)

        assert await it.heard() == ResourcesChanged((A,))


async def test_a_crash_hides_nothing_and_the_next_run_goes_on(tmp_path: Path) -> None:
    resources = PACK.resources
    assert resources is not None
    crash = True

    def states(db: apsw.Connection, uris: Any) -> Any:
        if crash and B in uris:
            raise KeyError("a bug")
        return resources.states(db, uris)

    pack = replace(PACK, resources=replace(resources, states=states))
    async with desk(tmp_path, pack) as it:
        await it.follow(A)
        it.save("a.md", "# Other")
        with pytest.raises(ActorStopped):
            await it.follow(A, B)
        crash = False

        assert await it.heard() == ResourcesChanged((A,))
        assert await it.follow(A, B) == {A, B}


async def test_an_announcer_that_has_failed_for_good_says_so(tmp_path: Path) -> None:
    resources = PACK.resources
    assert resources is not None

    def states(*_: Any) -> Any:
        raise KeyError("a bug")

    pack = replace(PACK, resources=replace(resources, states=states))
    async with desk(tmp_path, pack) as it:
        for _ in range(4):
            with pytest.raises(ActorStopped):
                await it.follow(A)

        with pytest.raises(ActorStopped):
            await it.follow(A)


async def test_a_refusal_of_sqlite_is_told_to_who_asked(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        it.db.execute("DROP TABLE docs_source_ref")

        with pytest.raises(DatabaseError):
            await it.follow(A)


async def test_it_ends_when_nobody_can_ask_any_more(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        async with desk(tmp_path) as it:
            await it.follow(A, listed=True)

"""The embedder: its neighbours are played by the test, its models are real or scripted."""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import apsw
import numpy as np
import pytest
import structlog
from databases import save
from models import tiny_model, without_model
from scripted_models import scripted, scripted_model, starts
from waiting import PATIENCE, until

from ubp.actors import embedder as embedder_module
from ubp.actors import model_processes
from ubp.actors.embedder import Embedder
from ubp.actors.meaning import AskedMeaning, EmbeddingCall, direct_meaning
from ubp.actors.ports import Call, Outbox, ask, channel, nudge
from ubp.actors.progress import Progress
from ubp.actors.wiring import prepare_database
from ubp.actors.writer import _change_vectors
from ubp.embedding.models import DEFAULT
from ubp.errors import ModelUnusable
from ubp.messages import (
    AimAt,
    EmbedQuery,
    ModelCompleted,
    NoVector,
    QueryVector,
    TextsChanged,
    VectorChange,
    VectorsMade,
)
from ubp.packs import discover
from ubp.packs.docs import writes
from ubp.project import open_project
from ubp.store import lock, vectors
from ubp.store.session import Session, reading, writing
from ubp.store.vectors import VectorProgress
from ubp.toolkit import Pack

pytestmark = pytest.mark.slow

LONG = "A page about lending books, and who may borrow them. " * 40


@dataclass
class Rig:
    """An embedder between a writer and a query pool that are played by the test."""

    nudges: Outbox[TextsChanged]
    queries: Outbox[EmbeddingCall]
    session: Session
    progress: Progress
    changes: list[VectorChange] = field(default_factory=list)
    """What it asked of the writer, in order."""
    meanwhile: "Meanwhile | None" = None
    """What happens before the writer does what it is asked for."""
    refusal: ModelUnusable | None = None
    """What the writer says to vectors, if anything is wrong with them."""

    async def save(self, path: str, text: str) -> None:
        await self.session.write(save, path, text)

    def nudge(self) -> None:
        nudge(self.nudges, TextsChanged())

    async def query(self, text: str) -> QueryVector | NoVector:
        return await ask(self.queries, EmbedQuery(text), within=PATIENCE)

    async def now(self) -> VectorProgress:
        return await self.session.run(vectors.progress)

    async def completed(self, count: int) -> None:
        async def all_are_done() -> bool:
            now = await self.now()
            return now.coming is None and now.completed + now.skipped == count

        await until(all_are_done)

    async def at_rest(self) -> None:
        """Until it has told the writer that nothing waits."""

        async def is_at_rest() -> bool:
            return bool(self.changes) and isinstance(self.changes[-1], ModelCompleted)

        await until(is_at_rest)

    @property
    def batches(self) -> list[VectorsMade]:
        return [each for each in self.changes if isinstance(each, VectorsMade)]

    async def serve(self, inbox: Any) -> None:
        """The writer's side."""
        async for call in inbox:
            with call:
                self.changes.append(call.request)
                if self.meanwhile is not None:
                    await self.meanwhile(self, call.request)
                if self.refusal is not None and isinstance(call.request, VectorsMade):
                    call.answer(self.refusal)
                else:
                    call.answer(await self.session.write(_change_vectors, call.request))


Meanwhile = Callable[[Rig, VectorChange], Awaitable[None]]


@asynccontextmanager
async def running(
    root: Path,
    pages: dict[str, str] | None = None,
    meanwhile: Meanwhile | None = None,
    packs: Sequence[Pack] | None = None,
) -> AsyncIterator[Rig]:
    """The embedder of the project at *root*, until the block is left.

    Leaving the block ends its inboxes, and waits until what is left has been embedded.
    """
    project = open_project(root)
    project.prepare()
    nudges, nudged = channel[TextsChanged](1)
    queries, query_inbox = channel[EmbeddingCall](4)
    to_writer, writer_inbox = channel[Call[VectorChange, Any]](1)
    progress = Progress()
    async with writing(project.database) as session:
        await session.write(prepare_database)
        rig = Rig(nudges, queries, session, progress, meanwhile=meanwhile)
        for path, text in (pages or {}).items():
            await rig.save(path, text)
        async with reading(project.database) as reader:
            actor = Embedder(
                nudged,
                query_inbox,
                to_writer,
                session=reader,
                project=project,
                packs=discover() if packs is None else packs,
                progress=progress,
            )
            with nudges, nudged, queries, query_inbox, to_writer, writer_inbox:
                async with anyio.create_task_group() as group:
                    group.start_soon(rig.serve, writer_inbox)
                    async with anyio.create_task_group() as inner:
                        inner.start_soon(actor.run)
                        yield rig
                        queries.close()
                        nudges.close()
                    actor.close()


def settings(root: Path, model: Path | str, batch_size: int = 32) -> None:
    (root / "ubp.toml").write_text(
        f'[embedding]\nmodel = "{model}"\nbatch_size = {batch_size}\n', encoding="utf-8"
    )


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The root of a project with a tiny model, which is quick and means nothing."""
    settings(tmp_path, tiny_model(tmp_path / "tiny-en-a.gguf"))
    return tmp_path


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a project whose model does as it is told."""
    scripted(monkeypatch, tmp_path)
    path = tmp_path / "scripted.gguf"
    scripted_model(path)
    settings(tmp_path, path)
    return tmp_path


# -- passages --------------------------------------------------------------------------


async def test_what_waits_is_embedded_at_once(tiny: Path) -> None:
    async with running(tiny, {"a.md": "cat", "b.md": "dog"}) as rig:
        await rig.completed(2)
        await rig.at_rest()

        kinds = [type(change) for change in rig.changes]
        assert kinds[:2] == [AimAt, VectorsMade]
        assert kinds[-1] is ModelCompleted
        assert rig.progress.embedded == rig.progress.to_embed == 2
        assert rig.progress.not_embedded == ""


async def test_what_may_not_be_known_of_is_embedded_and_not_counted(
    tiny: Path,
) -> None:
    def last_page(db: apsw.Connection) -> list[int]:
        newest: int = db.execute("SELECT max(row) FROM passage").get
        return [newest]

    [docs] = [pack for pack in discover() if pack.name == "docs"]
    packs = [replace(docs, hidden=last_page)]
    async with running(tiny, {"a.md": "cat", "b.md": "dog"}, packs=packs) as rig:
        await rig.completed(2)
        await rig.at_rest()

        assert rig.progress.embedded == rig.progress.to_embed == 1
        assert rig.progress.made == 1


@pytest.mark.usefixtures("models")
async def test_the_real_model_gives_vectors_that_mean_something(
    tmp_path: Path,
) -> None:
    pages = {
        "cats.md": "Young cats sleep all day.",
        "cars.md": "Change the engine oil.",
    }
    async with running(tmp_path, pages) as rig:
        await rig.completed(2)
        found = await rig.query("where do kittens rest")

        assert isinstance(found, QueryVector)
        assert (found.unrelated, found.related) == (DEFAULT.unrelated, DEFAULT.related)
        query = np.frombuffer(found.values, np.float32)
        [batch] = rig.batches
        near = {
            each.row: query @ np.frombuffer(each.values[0], np.float32)
            for each in batch.made
        }
        cats, cars = near[min(near)], near[max(near)]
        assert cats > cars + 0.2


async def test_a_nudge_has_new_texts_embedded_and_changed_ones_again(
    tiny: Path,
) -> None:
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
        await rig.save("a.md", "cat dog")
        await rig.save("b.md", "tree")

        rig.nudge()

        await rig.completed(2)
        assert sum(len(batch.made) for batch in rig.batches) == 3


async def test_a_query_has_embedded_what_another_process_stored(tiny: Path) -> None:
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
        await rig.at_rest()
        await rig.save("b.md", "dog")

        assert isinstance(await rig.query("tree"), QueryVector)

        await rig.completed(2)


async def test_the_end_of_nudges_has_the_rest_embedded(tiny: Path) -> None:
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
        await rig.save("b.md", "dog")

    assert sum(len(batch.made) for batch in rig.batches) == 2
    assert isinstance(rig.changes[-1], ModelCompleted)


async def test_texts_go_in_batches_of_the_size_that_is_set(tiny: Path) -> None:
    settings(tiny, tiny / "tiny-en-a.gguf", batch_size=3)
    pages = {f"{number}.md": f"cat {number}" for number in range(7)}
    async with running(tiny, pages) as rig:
        await rig.completed(7)

    assert [len(batch.made) for batch in rig.batches] == [3, 3, 1]


async def test_a_text_that_no_pack_gives_is_left_out_and_not_embedded_as_nothing(
    told: Path,
) -> None:
    async with running(told, {"a.md": "cat", "b.md": "dog"}, packs=()) as rig:
        await rig.at_rest()

        assert (await rig.now()).skipped == 2
        assert rig.progress.embedded == rig.progress.to_embed == 2

    assert [each.values for batch in rig.batches for each in batch.made] == [(), ()]
    assert starts(told / "scripted.gguf") == 0


async def test_nothing_to_embed_starts_no_process(told: Path) -> None:
    async with running(told):
        pass

    assert starts(told / "scripted.gguf") == 0


async def test_equal_texts_share_a_vector_and_a_renamed_page_costs_none(
    tiny: Path,
) -> None:
    async with running(tiny, {"a.md": "# Cats\n\ncat", "b.md": "# Dogs\n\ndog"}) as rig:
        await rig.completed(2)
        await rig.at_rest()
        before = len(rig.batches)
        await rig.session.write(writes.forget, "a.md")
        await rig.save("renamed.md", "# Cats\n\ncat")

        rig.nudge()

        await rig.completed(2)
    assert len(rig.batches) == before


@pytest.mark.parametrize("word", ["kill", "refuse"])
async def test_a_text_the_model_cannot_take_is_skipped_and_costs_no_other(
    told: Path, word: str
) -> None:
    pages = {f"{number}.md": f"text {number}" for number in range(3)}
    async with running(told, {**pages, "bad.md": word}) as rig:
        await rig.completed(4)

        now = await rig.now()
        assert (now.completed, now.skipped, now.total) == (3, 1, 4)


async def test_several_texts_that_end_the_process_are_all_skipped(
    told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_module, "_LOOK_AGAIN", 0.01)
    monkeypatch.setattr(model_processes, "_TRY_AGAIN", 0.02)
    bad = {f"bad{number}.md": f"kill {number}" for number in range(3)}
    async with running(told, {**bad, "good.md": "fine"}) as rig:
        await rig.completed(4)

        now = await rig.now()
        assert (now.completed, now.skipped) == (1, 3)


async def test_a_process_that_ends_once_by_chance_costs_no_text(told: Path) -> None:
    async with running(told, {"a.md": "once:mark ", "b.md": "fine"}) as rig:
        await rig.completed(2)

        assert (await rig.now()).skipped == 0
    assert (told / "mark").exists()


async def test_a_skipped_text_is_tried_again_when_it_changes(told: Path) -> None:
    async with running(told, {"a.md": "refuse"}) as rig:
        await rig.completed(1)
        assert (await rig.now()).skipped == 1
        await rig.save("a.md", "fine now")

        rig.nudge()

        async def embedded() -> bool:
            return (await rig.now()).completed == 1

        await until(embedded)


async def test_texts_in_a_language_the_model_does_not_know_wait_for_another(
    tiny: Path,
) -> None:
    async with running(tiny, {"en.md": "cat", "ja.md": "延滞した本"}) as rig:
        await rig.completed(1)

        assert (await rig.now()).total == 1
        assert isinstance(await rig.query("本はどこ"), NoVector)
        assert isinstance(await rig.query("cat"), QueryVector)


async def test_no_model_is_no_work_and_says_so(tmp_path: Path) -> None:
    without_model(tmp_path)
    async with running(tmp_path, {"a.md": "cat"}) as rig:

        async def told_why() -> bool:
            return bool(rig.progress.not_embedded)

        await until(told_why)
        assert isinstance(await rig.query("cat"), NoVector)

    assert rig.changes == []
    assert "embedding.model" in rig.progress.not_embedded


async def test_a_missing_model_is_told_once_and_taken_up_when_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_module, "_LOOK_AGAIN", 0.01)
    path = tmp_path / "tiny-en-late.gguf"
    settings(tmp_path, path)
    looked = 0
    real = Embedder._identity

    def counted(self: Embedder, model: Any) -> str:
        nonlocal looked
        looked += 1
        return real(self, model)

    monkeypatch.setattr(Embedder, "_identity", counted)
    with structlog.testing.capture_logs() as logs:
        async with running(tmp_path, {"a.md": "cat"}) as rig:

            async def looked_often() -> bool:
                return looked > 3

            await until(looked_often)
            assert rig.progress.not_embedded
            tiny_model(tmp_path / "part")
            (tmp_path / "part").rename(path)

            await rig.completed(1)
            await rig.at_rest()
            assert rig.progress.not_embedded == ""

    warned = [entry for entry in logs if entry["event"] == "embed.unavailable"]
    assert len(warned) == 1


async def test_a_setting_that_names_no_model_is_told_and_the_embedder_stays(
    tmp_path: Path,
) -> None:
    settings(tmp_path, "no such model")
    async with running(tmp_path, {"a.md": "cat"}) as rig:

        async def told_why() -> bool:
            return "no such model" in rig.progress.not_embedded

        await until(told_why)
        assert isinstance(await rig.query("cat"), NoVector)


async def test_vectors_the_writer_refuses_are_told_and_wait(tiny: Path) -> None:
    async with running(tiny) as rig:
        rig.refusal = ModelUnusable("Its vectors do not fit.", cause="On purpose.")
        await rig.save("a.md", "cat")
        rig.nudge()

        async def told_why() -> bool:
            return "On purpose." in rig.progress.not_embedded

        await until(told_why)
        rig.refusal = None
        rig.nudge()

        await rig.completed(1)


async def test_a_kill_in_the_middle_of_much_work_is_survived(tiny: Path) -> None:
    settings(tiny, tiny / "tiny-en-a.gguf", batch_size=1)
    pages = {f"{number}.md": f"cat {number}" for number in range(12)}
    killed: list[int] = []

    async def kill_one(_: Rig, change: VectorChange) -> None:
        if isinstance(change, VectorsMade) and not killed:
            [pid] = embedding_children()
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    async with running(tiny, pages, kill_one) as rig:
        await rig.completed(12)

        assert (await rig.now()).skipped == 0
    assert killed
    assert embedding_children() == []


def embedding_children() -> list[int]:
    """Our embedding processes, by what the system says of them."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and b"embedding_child" in command:
            found.append(int(folder.name))
    return found


async def test_a_cancelled_embedder_leaves_no_process(tiny: Path) -> None:
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
        assert len(embedding_children()) == 1

    assert embedding_children() == []


# -- queries ---------------------------------------------------------------------------


async def test_a_query_before_anything_is_embedded_has_no_vector(tiny: Path) -> None:
    async with running(tiny) as rig:
        assert isinstance(await rig.query("cat"), NoVector)


@pytest.mark.usefixtures("models")
async def test_a_query_is_answered_while_a_batch_is_computed(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, {"a.md": "A cat."}) as rig:
        await rig.completed(1)
        for number in range(12):
            await rig.save(f"{number}.md", f"{number} {LONG}")
        rig.nudge()

        async def at_work() -> bool:
            return rig.progress.to_embed > 1

        await until(at_work)
        found = await rig.query("who may borrow a book")

        assert isinstance(found, QueryVector)
        assert len(rig.batches) == 1, "the other one is not done yet"


async def test_a_query_the_model_refuses_is_searched_by_words(told: Path) -> None:
    async with running(told, {"a.md": "fine"}) as rig:
        await rig.completed(1)

        for text in ("refuse", "kill"):
            found = await rig.query(text)
            assert isinstance(found, NoVector)
            assert found.reason
        assert isinstance(await rig.query("fine"), QueryVector)


async def test_a_model_file_that_is_another_one_now_is_not_searched_with(
    tiny: Path,
) -> None:
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
    path = tiny / "tiny-en-a.gguf"
    path.unlink()
    tiny_model(path, dimension=16)

    project = open_project(tiny)
    async with (
        reading(project.database) as session,
        direct_meaning(project, session) as meaning,
    ):
        found = await meaning.vector("cat")

    assert isinstance(found, NoVector)


async def test_a_command_starts_a_process_of_its_own_and_ends_it(tiny: Path) -> None:
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
    project = open_project(tiny)

    async with (
        reading(project.database) as session,
        direct_meaning(project, session) as meaning,
    ):
        assert isinstance(await meaning.vector("dog"), QueryVector)
        assert len(embedding_children()) == 1

    assert embedding_children() == []


async def test_an_embedder_that_is_gone_is_a_search_by_words() -> None:
    queries, inbox = channel[EmbeddingCall](1)
    meaning = AskedMeaning(queries)
    inbox.close()
    with queries:
        assert isinstance(await meaning.vector("cat"), NoVector)


async def test_an_embedder_that_is_busy_is_a_search_by_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ubp.actors.meaning._WITHIN", 0.0)
    queries, inbox = channel[EmbeddingCall](1)
    with queries, inbox:
        assert isinstance(await AskedMeaning(queries).vector("cat"), NoVector)

        remote = await AskedMeaning(queries, remote=True).vector("cat")
        assert isinstance(remote, NoVector)
        assert remote.failed
        assert "did not answer in time" in remote.reason


# -- another model ---------------------------------------------------------------------


async def test_the_old_vectors_serve_until_the_new_ones_are_complete(
    tiny: Path,
) -> None:
    pages = {f"{number}.md": f"cat {number}" for number in range(5)}
    async with running(tiny, pages) as rig:
        await rig.completed(5)
    other = tiny_model(tiny / "tiny-en-b.gguf", dimension=16, seed=2)
    settings(tiny, other, batch_size=2)
    lengths: list[int] = []

    async def ask_meanwhile(rig: Rig, change: VectorChange) -> None:
        if isinstance(change, VectorsMade):
            lengths.append(await vector_length(rig))

    async with running(tiny, meanwhile=ask_meanwhile) as rig:

        async def promoted() -> bool:
            model = await rig.session.run(vectors.serving)
            return model is not None and model.name == "tiny-en-b"

        await until(promoted)
        after = await vector_length(rig)

    assert lengths == [32, 32, 32]
    assert after == 16
    assert [len(batch.made) for batch in rig.batches] == [2, 2, 1]


async def vector_length(rig: Rig) -> int:
    found = await rig.query(f"dog {len(rig.changes)}")
    assert isinstance(found, QueryVector)
    return len(np.frombuffer(found.values, np.float32))


async def test_one_process_embeds_and_the_next_takes_over(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_module, "_OTHERS_TURN", 0.01)
    project = open_project(tiny)
    project.prepare()
    looks = 0
    count = embedder_module._left

    def counted(db: apsw.Connection) -> int:
        nonlocal looks
        looks += 1
        return count(db)

    monkeypatch.setattr(embedder_module, "_left", counted)
    with ExitStack() as other:
        assert other.enter_context(lock.trying(project.embedding_lock))
        async with running(tiny, {"a.md": "cat"}) as rig:

            async def waited() -> bool:
                return looks > 3

            await until(waited)
            assert rig.changes == []
            other.close()  # it has ended, or was killed

            await rig.completed(1)


async def test_what_another_process_finished_is_not_done_again(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_module, "_OTHERS_TURN", 0.01)
    async with running(tiny, {"a.md": "cat"}) as rig:
        await rig.completed(1)
    with lock.trying(open_project(tiny).embedding_lock) as mine:
        assert mine
        async with running(tiny) as rig:
            pass  # the end of nudges: it leaves, though it never got its turn

    assert rig.changes == []


async def test_what_was_skipped_is_tried_again_when_asked_to(told: Path) -> None:
    async with running(told, {"a.md": "refuse"}) as rig:
        await rig.completed(1)
        assert (await rig.now()).skipped == 1

        await rig.session.write(
            _change_vectors, AimAt("other", "other", "{}", ("en",), again=True)
        )

        assert (await rig.now()).skipped == 0


async def test_the_reason_why_nothing_is_embedded_reaches_a_query(
    tmp_path: Path,
) -> None:
    settings(tmp_path, tmp_path / "missing.gguf")
    async with running(tmp_path, {"a.md": "cat"}) as rig:

        async def told() -> bool:
            answer = await rig.query("cat")
            return isinstance(answer, NoVector) and "missing.gguf" in answer.reason

        await until(told)

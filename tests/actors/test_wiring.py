"""The service as a whole: it indexes, answers meanwhile, and stops."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from models import tiny_model, without_model
from waiting import PATIENCE, until

from ubp.actors import wiring
from ubp.actors.ports import ask
from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan
from ubp.actors.wiring import Service, index_once, serving
from ubp.errors import DatabaseError, innermost
from ubp.messages import RunTool
from ubp.packs import enabled, tools_of
from ubp.packs.docs import queries
from ubp.project import Project, open_project
from ubp.store import damage, files, vectors
from ubp.store.lock import holding
from ubp.store.session import reading
from ubp.store.vectors import VectorProgress

DOCS = enabled(["docs"])
"""One pack, so that every number is of files."""

VAULT = Path(__file__).parents[2] / "examples/vault"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Thirty pages in a row; searched by words, unless a test is about meaning."""
    without_model(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(30):
        page = tmp_path / f"docs/{number:02}.md"
        page.write_text(f"# Page {number}\n\n[[{number + 1:02}]]\n", encoding="utf-8")
    return open_project(tmp_path)


async def listed(service: Service) -> int:
    _, tool = tools_of(DOCS)["ubp_list_pages"]
    message = RunTool(tool.name, tool.args(), "r")
    answer: Any = await ask(service.reads, message, within=20)
    total: int = answer.total
    return total


async def counts(project: Project) -> queries.Counts:
    async with reading(project.database) as session:
        return await session.run(queries.counts)


async def test_one_run_indexes_everything_and_settles_links(project: Project) -> None:
    progress = Progress()

    await index_once(project, DOCS, Scan(), progress)

    assert await counts(project) == queries.Counts(30, 30, 30, 29)
    assert (progress.stored, progress.done, progress.seen) == (30, 30, 30)
    assert progress.settled


async def test_a_second_run_does_nothing(project: Project) -> None:
    await index_once(project, DOCS, Scan(), Progress())
    progress = Progress()

    await index_once(project, DOCS, Scan(), progress)

    assert (progress.stored, progress.done) == (0, 0)


async def test_files_that_come_and_go_are_followed_by_the_next_run(
    project: Project,
) -> None:
    await index_once(project, DOCS, Scan(), Progress())
    (project.docs_dir / "05.md").unlink()
    (project.docs_dir / "30.md").write_text("# New\n", encoding="utf-8")

    await index_once(project, DOCS, Scan(), Progress())

    found = await counts(project)
    assert (found.pages, found.links, found.resolved) == (30, 29, 28)


async def test_a_bad_file_is_a_row_with_its_reason_and_leaves_when_mended(
    project: Project,
) -> None:
    bad = project.docs_dir / "05.md"
    bad.write_bytes(b"\xff")
    await index_once(project, DOCS, Scan(), Progress())
    async with reading(project.database) as session:
        [failure] = await session.run(files.failures)
    assert failure.path == "05.md"
    assert "UTF-8" in failure.reason

    bad.write_text("# Mended\n", encoding="utf-8")
    await index_once(project, DOCS, Scan(), Progress())

    async with reading(project.database) as session:
        assert await session.run(files.failures) == []
    assert (await counts(project)).pages == 30


async def test_the_service_answers_from_what_is_committed_while_it_indexes(
    project: Project,
) -> None:
    async with serving(project, DOCS) as service:
        assert await listed(service) >= 0

        async def complete() -> bool:
            return await listed(service) == 30

        await until(complete)


def commands_of_children() -> dict[int, str]:
    """The command lines of our child processes, by what the system says of them."""
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
            command = (folder / "cmdline").read_text("utf-8").replace("\0", " ")
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found[int(folder.name)] = command
    return found


async def test_leaving_stops_every_thread_and_process(project: Project) -> None:
    before = set(threading.enumerate())

    with anyio.fail_after(20):
        async with serving(project, DOCS) as service:
            await listed(service)

    ours = [t for t in set(threading.enumerate()) - before if "AnyIO" not in t.name]
    assert ours == []
    assert [c for c in commands_of_children().values() if "_child" in c] == []


async def test_a_stop_in_the_middle_leaves_an_index_the_next_run_completes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "STOP_WITHIN", 0.0)
    async with serving(project, DOCS):
        pass

    await index_once(project, DOCS, Scan(), Progress())

    assert await counts(project) == queries.Counts(30, 30, 30, 29)


NO_DATABASE = b"this is not a database, but long enough to look like one" * 9


async def test_a_file_that_is_no_database_is_set_aside_and_made_anew(
    project: Project,
) -> None:
    project.prepare()
    project.database.write_bytes(NO_DATABASE)

    await index_once(project, DOCS, Scan(), Progress(), embed=False)

    assert await counts(project) == queries.Counts(30, 30, 30, 29)
    assert damage.kept(project.database).read_bytes() == NO_DATABASE


async def test_beside_a_server_a_damaged_index_is_left_to_it(project: Project) -> None:
    project.prepare()
    project.database.write_bytes(NO_DATABASE)
    with holding(project.lock_file), pytest.raises(Exception) as caught:  # noqa: PT011
        await index_once(project, DOCS, Scan(), Progress(), embed=False)

    error = innermost(caught.value)
    assert isinstance(error, DatabaseError)
    assert "ubp index" in error.hint
    assert damage.reported(project.database)
    assert project.database.read_bytes() == NO_DATABASE


# -- meaning ---------------------------------------------------------------------------


@pytest.fixture
def meaningful(tmp_path: Path, models: Path) -> Project:
    """A few pages, and the real model."""
    del models  # made, that is all
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in (
        ("cats", "Young cats sleep in a basket."),
        ("cars", "Change the oil of the engine."),
        ("tax", "Income tax is due in spring."),
    ):
        (docs / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    return open_project(tmp_path)


@pytest.fixture
def bulky(tmp_path: Path) -> Project:
    """Much to embed, one text at a time, with a model that means nothing."""
    model = tiny_model(tmp_path / "tiny-en-a.gguf")
    (tmp_path / "ubp.toml").write_text(
        f'[embedding]\nmodel = "{model}"\nbatch_size = 1\n', encoding="utf-8"
    )
    (tmp_path / "docs").mkdir()
    for number in range(150):
        page = tmp_path / f"docs/{number}.md"
        page.write_text(f"# Page {number}\n\n{'cat dog ' * 60}\n", encoding="utf-8")
    return open_project(tmp_path)


async def embedded(project: Project) -> VectorProgress:
    async with reading(project.database) as session:
        return await session.run(vectors.progress)


async def searched(service: Service, query: str) -> Any:
    _, tool = tools_of(DOCS)["ubp_search"]
    message = RunTool(tool.name, tool.args(query=query), "r")
    return await ask(service.reads, message, within=PATIENCE)


def embedding_children() -> list[int]:
    return [pid for pid, c in commands_of_children().items() if "embedding_child" in c]


async def test_one_run_gives_everything_a_vector(meaningful: Project) -> None:
    progress = Progress()

    await index_once(meaningful, DOCS, Scan(), progress)

    now = await embedded(meaningful)
    assert (now.completed, now.total, now.skipped) == (3, 3, 0)
    assert (progress.embedded, progress.not_embedded) == (3, "")
    assert embedding_children() == []


async def test_a_run_without_vectors_leaves_them_to_the_next(
    meaningful: Project,
) -> None:
    await index_once(meaningful, DOCS, Scan(), Progress(), embed=False)
    assert (await counts(meaningful)).pages == 3
    assert (await embedded(meaningful)).completed == 0

    await index_once(meaningful, DOCS, Scan(), Progress())

    assert (await embedded(meaningful)).completed == 3


async def test_a_search_is_by_words_until_there_are_vectors_and_then_by_meaning(
    meaningful: Project,
) -> None:
    async with serving(meaningful, DOCS) as service:

        async def by_meaning() -> bool:
            found = await searched(service, "where do kittens rest")
            assert found.search_type == "hybrid" or found.notice
            return bool(found.search_type == "hybrid") and len(found.results) > 1

        await until(by_meaning)

        best = (await searched(service, "maintenance of a motor vehicle")).results[0]
        assert best.filepath == "cars.md"
        assert best.score_breakdown.vector_similarity > 0.2
        assert best.score_breakdown.fulltext == 0


async def test_a_stop_while_embedding_leaves_no_process_and_the_rest_for_later(
    bulky: Project,
) -> None:
    with anyio.fail_after(PATIENCE):
        async with serving(bulky, DOCS) as service:

            async def at_work() -> bool:
                return service.progress.embedded > 0

            await until(at_work)

    assert [c for c in commands_of_children().values() if "_child" in c] == []
    now = await embedded(bulky)
    assert 0 < now.completed < now.total


async def test_a_process_killed_in_the_middle_is_replaced_and_all_is_embedded(
    bulky: Project,
) -> None:
    async with serving(bulky, DOCS) as service:

        async def at_work() -> bool:
            return service.progress.embedded > 5

        await until(at_work)
        for pid in embedding_children():
            os.kill(pid, signal.SIGKILL)

        assert await listed(service) >= 0

        async def complete() -> bool:
            now = await embedded(bulky)
            return now.total == now.completed == 150

        await until(complete)

    assert (await embedded(bulky)).skipped == 0


async def test_an_embedder_that_crashes_again_and_again_costs_only_the_meaning(
    meaningful: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashes = 0

    def crash(*_: object) -> None:
        nonlocal crashes
        crashes += 1
        raise KeyError("a bug")

    monkeypatch.setattr("ubp.actors.embedder.chosen", crash)
    async with serving(meaningful, DOCS) as service:

        async def found() -> bool:
            answer = await searched(service, "basket")
            return bool(answer.results) and crashes > wiring.FORGIVEN

        await until(found)

        answer = await searched(service, "engine")
        assert answer.search_type == "fulltext_fallback"
        assert answer.notice


async def test_a_crashing_embedder_does_not_keep_a_run_from_ending(
    meaningful: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("ubp.actors.embedder.chosen", crash)
    with anyio.fail_after(PATIENCE):
        await index_once(meaningful, DOCS, Scan(), Progress())

    assert (await counts(meaningful)).pages == 3


async def test_a_model_that_is_not_there_is_no_reason_to_fail(
    meaningful: Project,
) -> None:
    (meaningful.root / "ubp.toml").write_text(
        '[embedding]\nmodel = "nowhere.gguf"\n', encoding="utf-8"
    )
    progress = Progress()

    await index_once(open_project(meaningful.root), DOCS, Scan(), progress)

    assert (await counts(meaningful)).pages == 3
    assert "nowhere" in progress.not_embedded

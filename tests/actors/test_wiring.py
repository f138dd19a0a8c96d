"""The service as a whole: it indexes, answers meanwhile, and stops."""

import os
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from waiting import until

from ubp.actors import wiring
from ubp.actors.ports import ask
from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan
from ubp.actors.wiring import Service, index_once, serving
from ubp.errors import DatabaseError, innermost
from ubp.messages import RunTool
from ubp.packs import discover, tools_of
from ubp.packs.docs import queries
from ubp.project import Project, open_project
from ubp.store import files
from ubp.store.session import reading

VAULT = Path(__file__).parents[2] / "examples/vault"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "docs").mkdir()
    for number in range(30):
        page = tmp_path / f"docs/{number:02}.md"
        page.write_text(f"# Page {number}\n\n[[{number + 1:02}]]\n", encoding="utf-8")
    return open_project(tmp_path)


async def listed(service: Service) -> int:
    _, tool = tools_of(discover())["ubp_list_pages"]
    message = RunTool(tool.name, tool.args(), "r")
    answer: Any = await ask(service.reads, message, within=20)
    total: int = answer.total
    return total


async def counts(project: Project) -> queries.Counts:
    async with reading(project.database) as session:
        return await session.run(queries.counts)


async def test_one_run_indexes_everything_and_settles_links(project: Project) -> None:
    progress = Progress()

    await index_once(project, discover(), Scan(), progress)

    assert await counts(project) == queries.Counts(30, 30, 30, 29)
    assert (progress.stored, progress.done, progress.seen) == (30, 30, 30)
    assert progress.settled


async def test_a_second_run_does_nothing(project: Project) -> None:
    await index_once(project, discover(), Scan(), Progress())
    progress = Progress()

    await index_once(project, discover(), Scan(), progress)

    assert (progress.stored, progress.done) == (0, 0)


async def test_files_that_come_and_go_are_followed_by_the_next_run(
    project: Project,
) -> None:
    await index_once(project, discover(), Scan(), Progress())
    (project.docs_dir / "05.md").unlink()
    (project.docs_dir / "30.md").write_text("# New\n", encoding="utf-8")

    await index_once(project, discover(), Scan(), Progress())

    found = await counts(project)
    assert (found.pages, found.links, found.resolved) == (30, 29, 28)


async def test_a_bad_file_is_a_row_with_its_reason_and_leaves_when_mended(
    project: Project,
) -> None:
    bad = project.docs_dir / "05.md"
    bad.write_bytes(b"\xff")
    await index_once(project, discover(), Scan(), Progress())
    async with reading(project.database) as session:
        [failure] = await session.run(files.failures)
    assert failure.path == "05.md"
    assert "UTF-8" in failure.reason

    bad.write_text("# Mended\n", encoding="utf-8")
    await index_once(project, discover(), Scan(), Progress())

    async with reading(project.database) as session:
        assert await session.run(files.failures) == []
    assert (await counts(project)).pages == 30


async def test_the_service_answers_from_what_is_committed_while_it_indexes(
    project: Project,
) -> None:
    async with serving(project, discover()) as service:
        assert await listed(service) >= 0

        async def complete() -> bool:
            return await listed(service) == 30

        await until(complete)


def commands_of_children() -> list[str]:
    """The command lines of our child processes, by what the system says of them."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
            command = (folder / "cmdline").read_text("utf-8").replace("\0", " ")
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(command)
    return found


async def test_leaving_stops_every_thread_and_process(project: Project) -> None:
    before = set(threading.enumerate())

    with anyio.fail_after(20):
        async with serving(project, discover()) as service:
            await listed(service)

    ours = [t for t in set(threading.enumerate()) - before if "AnyIO" not in t.name]
    assert ours == []
    assert [c for c in commands_of_children() if "reading_child" in c] == []


async def test_a_stop_in_the_middle_leaves_an_index_the_next_run_completes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "STOP_WITHIN", 0.0)
    async with serving(project, discover()):
        pass

    await index_once(project, discover(), Scan(), Progress())

    assert await counts(project) == queries.Counts(30, 30, 30, 29)


async def test_a_file_that_is_no_database_is_an_error_that_says_what_to_do(
    project: Project,
) -> None:
    project.prepare()
    project.database.write_bytes(b"this is not a database, but long enough to look" * 9)

    with pytest.raises(Exception) as caught:  # noqa: PT011 - looked into below
        await index_once(project, discover(), Scan(), Progress())

    error = innermost(caught.value)
    assert isinstance(error, DatabaseError)
    assert "ubp index" in error.hint

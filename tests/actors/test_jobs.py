"""Work that goes on after a tool has answered."""

from collections.abc import Callable
from pathlib import Path

import anyio

from ubp.actors.jobs import MOST_JOBS, running_jobs
from ubp.toolkit import Stir


async def test_a_job_is_started_once_and_waited_for_until_it_has_begun() -> None:
    begun: list[str] = []

    async def work(say: Callable[[], None]) -> None:
        begun.append("begun")
        say()
        await anyio.sleep_forever()

    async with running_jobs("auto") as jobs:
        with anyio.fail_after(5):
            assert await jobs.start("key", work) is True
            assert await jobs.start("key", work) is False

    assert begun == ["begun"]


async def test_a_job_that_was_stopped_can_be_started_again() -> None:
    ended = anyio.Event()

    async def work(say: Callable[[], None]) -> None:
        say()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with running_jobs("auto") as jobs:
        with anyio.fail_after(5):
            await jobs.start("key", work)
            assert jobs.stop("key") is True
            await ended.wait()
            await anyio.wait_all_tasks_blocked()
            assert jobs.stop("key") is False
            assert await jobs.start("key", work) is True


async def test_a_job_that_keeps_crashing_ends_alone_and_nobody_waits_for_it() -> None:
    async def work(say: Callable[[], None]) -> None:
        del say
        raise ValueError

    async with running_jobs("auto") as jobs:
        with anyio.fail_after(5):
            assert await jobs.start("key", work) is True
            await anyio.wait_all_tasks_blocked()
            assert await jobs.start("key", work) is True


async def test_there_is_an_end_to_how_many_jobs_there_are() -> None:
    async def work(say: Callable[[], None]) -> None:
        say()
        await anyio.sleep_forever()

    async with running_jobs("auto") as jobs:
        started = [jobs.start_soon(number, work) for number in range(MOST_JOBS + 1)]

    assert started == [True] * MOST_JOBS + [False]


async def test_what_stirs_in_a_folder_is_told(tmp_path: Path) -> None:
    async with running_jobs("auto") as jobs:
        with anyio.fail_after(20):
            async with jobs.stirs(tmp_path) as stirs:
                (tmp_path / "new.txt").write_text("x")
                stir = await stirs.next()

    assert stir == Stir(frozenset({str(tmp_path / "new.txt")}))

"""The processes that run models: started once, replaced, given up, given back."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import numpy as np
import pytest
from scripted_models import job_by_path, scripted, scripted_model, starts
from vaults import NOWHERE
from waiting import until

from ubp.actors import model_processes
from ubp.actors.embedding_child import Text
from ubp.actors.embedding_process import EmbeddingProcess, ProcessLost, TextRefused
from ubp.actors.model_processes import ModelProcesses, job_for
from ubp.embedding import library
from ubp.embedding.models import CATALOGUE, DEFAULT, Model
from ubp.errors import ModelMissing, ModelUnusable
from ubp.project import Project

pytestmark = pytest.mark.slow


class Rig(NamedTuple):
    """A model that does as it is told, and where its starts are noted."""

    model: Model
    path: Path


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    scripted(monkeypatch, tmp_path)
    path = tmp_path / "model.gguf"
    return Rig(scripted_model(path), path)


@asynccontextmanager
async def processes_of(project: Project = NOWHERE) -> AsyncIterator[ModelProcesses]:
    async with anyio.create_task_group() as group:
        processes = ModelProcesses(group, project, job_by_path)
        try:
            yield processes
        finally:
            await processes.aclose()
            group.cancel_scope.cancel()


def running(processes: ModelProcesses) -> EmbeddingProcess | None:
    [seat] = processes._seats.values()
    return seat.process


def kill(processes: ModelProcesses) -> None:
    process = running(processes)
    assert process is not None
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGKILL)


async def ended(processes: ModelProcesses) -> None:
    async def is_over() -> bool:
        process = running(processes)
        return process is None or not process.alive

    await until(is_over)


async def test_everyone_who_asks_at_once_shares_one_process(rig: Rig) -> None:
    found: list[np.ndarray] = []
    async with processes_of() as processes:

        async def ask(text: str) -> None:
            found.append(await processes.query(rig.model, text))

        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(ask, f"query {number}")

    assert len(found) == 10
    assert starts(rig.path) == 1


async def test_each_model_has_a_process_of_its_own(rig: Rig) -> None:
    other = scripted_model(rig.path.with_name("other.gguf"))
    async with processes_of() as processes:
        await processes.query(rig.model, "one")
        await processes.query(other, "one")
        await processes.query(rig.model, "two")

    assert starts(rig.path) == 1
    assert starts(Path(other.path)) == 1


async def test_a_process_that_was_killed_is_replaced(rig: Rig) -> None:
    async with processes_of() as processes:
        before = await processes.query(rig.model, "before")
        kill(processes)
        await ended(processes)

        after = await processes.query(rig.model, "after!")

        assert len(before) == len(after)
    assert starts(rig.path) == 2


async def test_a_query_that_loses_its_process_is_asked_again(rig: Rig) -> None:
    async with processes_of() as processes:
        vector = await processes.query(rig.model, "once:mark")

        assert len(vector) == 4
    assert starts(rig.path) == 2


async def test_a_query_that_ends_two_processes_is_given_up(rig: Rig) -> None:
    async with processes_of() as processes:
        with pytest.raises(ModelUnusable):
            await processes.query(rig.model, "kill")

        assert len(await processes.query(rig.model, "harmless")) == 4
    assert starts(rig.path) == 3


async def test_passages_that_lose_their_process_are_told_so(rig: Rig) -> None:
    async with processes_of() as processes:
        with pytest.raises(ProcessLost):
            await processes.passages(rig.model, [Text("", "kill")])
        assert running(processes) is None

        [found] = await processes.passages(rig.model, [Text("", "fine")])

        assert found.shape == (1, 4)


async def test_a_refused_text_costs_no_process(rig: Rig) -> None:
    async with processes_of() as processes:
        with pytest.raises(TextRefused):
            await processes.passages(rig.model, [Text("", "refuse")])
        with pytest.raises(TextRefused):
            await processes.query(rig.model, "refuse")

        await processes.query(rig.model, "fine")
    assert starts(rig.path) == 1


async def test_a_model_that_cannot_be_used_is_remembered_and_tried_again_later(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rig.path.with_name("unusable.gguf")
    async with processes_of() as processes:
        for _ in range(3):
            with pytest.raises(ModelUnusable) as caught:
                await processes.query(scripted_model(path), "anyone?")
            assert caught.value.hint == "Do not."
        assert starts(path) == 1

        monkeypatch.setattr(model_processes, "monotonic", lambda: 1e12)

        with pytest.raises(ModelUnusable):
            await processes.query(scripted_model(path), "anyone?")
    assert starts(path) == 2


async def test_a_process_that_ends_while_loading_is_a_model_that_cannot_be_used(
    rig: Rig,
) -> None:
    path = rig.path.with_name("silent.gguf")
    async with processes_of() as processes:
        with pytest.raises(ModelUnusable):
            await processes.passages(scripted_model(path), [Text("", "a")])


async def test_a_process_lost_again_and_again_is_not_started_for_a_while(
    rig: Rig,
) -> None:
    async with processes_of() as processes:
        for _ in range(model_processes._LOSSES):
            with pytest.raises(ProcessLost):
                await processes.passages(rig.model, [Text("", "kill")])

        for _ in range(3):
            with pytest.raises(ModelUnusable):
                await processes.passages(rig.model, [Text("", "harmless")])
    assert starts(rig.path) == model_processes._LOSSES


async def test_losses_spread_over_time_are_forgiven(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 10_000_000, 60))
    monkeypatch.setattr(model_processes, "monotonic", lambda: float(next(clock)))
    async with processes_of() as processes:
        for _ in range(model_processes._LOSSES + 2):
            with pytest.raises(ProcessLost):
                await processes.passages(rig.model, [Text("", "kill")])


async def test_memory_is_given_back_when_nobody_asks_and_taken_when_somebody_does(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_processes, "_IDLE", 0.05)
    async with processes_of() as processes:
        await processes.query(rig.model, "one")
        async with anyio.create_task_group() as group:
            group.start_soon(processes.end_idle)

            async def released() -> bool:
                return running(processes) is None

            await until(released)
            group.cancel_scope.cancel()

        await processes.query(rig.model, "two")
    assert starts(rig.path) == 2


async def test_a_process_at_work_is_not_idle(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_processes, "_IDLE", 0.05)
    mark = rig.path.with_name("mark")
    found: list[object] = []
    async with processes_of() as processes:

        async def batch() -> None:
            found.extend(await processes.passages(rig.model, [Text("", "wait:mark")]))

        async with anyio.create_task_group() as group:
            group.start_soon(batch)

            async def at_work() -> bool:
                return bool(processes._seats) and running(processes) is not None

            await until(at_work)
            with anyio.move_on_after(0.5):
                await processes.end_idle()
            mark.touch()

    assert len(found) == 1


async def test_the_same_query_is_computed_once(rig: Rig) -> None:
    async with processes_of() as processes:
        first = await processes.query(rig.model, "again")
        kill(processes)
        await ended(processes)

        assert await processes.query(rig.model, "again") is first
    assert starts(rig.path) == 1


async def test_only_the_latest_queries_are_remembered(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_processes, "_REMEMBERED", 2)
    async with processes_of() as processes:
        for text in ("one", "two", "one", "three"):
            await processes.query(rig.model, text)

        assert [text for _, text in processes._asked] == ["one", "three"]


async def test_a_query_that_failed_is_not_remembered(rig: Rig) -> None:
    async with processes_of() as processes:
        with pytest.raises(TextRefused):
            await processes.query(rig.model, "refuse")

        assert not processes._asked


# -- what a process is started with ----------------------------------------------------


def test_the_default_model_comes_with_its_published_tokenizer(models: Path) -> None:
    job = job_for(DEFAULT, NOWHERE)

    assert Path(job.path) == library.home(DEFAULT, models)
    assert Path(job.tokenizer).name == "tokenizer.json"
    assert job.threads >= 1


def test_a_model_that_is_not_there_is_missing() -> None:
    with pytest.raises(ModelMissing):
        job_for(CATALOGUE[1], NOWHERE)

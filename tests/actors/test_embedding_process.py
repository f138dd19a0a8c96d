"""The embedding process, with the real model in a real child."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, cast

import anyio
import msgspec
import numpy as np
import pytest
from models import tiny_model
from msgspec.structs import replace
from vaults import NOWHERE
from waiting import PATIENCE, until

from ubp.actors.embedding_child import Embed, Job, Loaded, Text, Vectors
from ubp.actors.embedding_process import EmbeddingProcess, ProcessLost, TextRefused
from ubp.actors.frames import framed, read_frame
from ubp.actors.model_processes import job_for
from ubp.embedding.models import DEFAULT
from ubp.errors import ModelUnusable

pytestmark = pytest.mark.slow

LONG = Text("Head", "A page about lending books, and who may borrow them. " * 100)


@pytest.fixture
def job(models: Path) -> Job:
    del models  # made, that is all
    return job_for(DEFAULT, NOWHERE)


@asynccontextmanager
async def running(job: Job) -> AsyncIterator[EmbeddingProcess]:
    async with anyio.create_task_group() as group:
        process = EmbeddingProcess(job)
        await process.start(group)
        try:
            yield process
        finally:
            await process.aclose()


def pid_of(process: EmbeddingProcess) -> int:
    assert process._process is not None
    return process._process.pid


async def test_queries_and_passages_get_their_vectors(job: Job) -> None:
    async with running(job) as process:
        query = await process.query("where do kittens sleep", within=PATIENCE)
        texts = [
            Text("Cats", "Young cats sleep in a basket."),
            Text("Cars", "Change the oil of the engine once a year."),
            Text("Only a head", ""),
        ]
        cats, cars, head = await process.passages(texts, within=PATIENCE)

        assert process.dimension == DEFAULT.dimension == len(query)
        assert cats.shape == cars.shape == head.shape == (1, DEFAULT.dimension)
        assert np.allclose(np.linalg.norm([query, cats[0], cars[0]], axis=1), 1)
        assert query @ cats[0] > query @ cars[0] + 0.3


async def test_a_model_whose_file_goes_ends_its_process_and_blames_no_text(
    job: Job, tmp_path: Path
) -> None:
    rows = tmp_path / "model.rows"
    shutil.copyfile(job.rows, rows)
    async with running(replace(job, rows=str(rows))) as process:
        await process.query("books", within=PATIENCE)

        rows.write_bytes(b"")

        with pytest.raises(ProcessLost):
            await process.query("books", within=PATIENCE)


async def test_a_long_passage_has_several_vectors_and_a_long_query_one(
    job: Job,
) -> None:
    async with running(job) as process:
        short, long = await process.passages([Text("", "a"), LONG], within=PATIENCE)
        query = await process.query(LONG.body, within=PATIENCE)

        assert len(short) == 1
        assert len(long) > 3
        assert query.shape == (DEFAULT.dimension,)
        assert (long @ long[0] > 0.5).all()


async def test_a_query_is_answered_while_a_batch_is_computed(job: Job) -> None:
    done: list[str] = []
    async with running(job) as process, anyio.create_task_group() as group:

        async def batch() -> None:
            await process.passages([LONG] * 3, within=PATIENCE)
            done.append("batch")

        group.start_soon(batch)
        await anyio.wait_all_tasks_blocked()
        await process.query("books", within=PATIENCE)
        done.append("query")

    assert done == ["query", "batch"]


async def test_many_requests_at_once_get_each_its_own_answer(job: Job) -> None:
    texts = [f"number {number} of many" for number in range(12)]
    found: dict[str, np.ndarray] = {}
    async with running(job) as process:

        async def ask(text: str) -> None:
            found[text] = await process.query(text, within=PATIENCE)

        async with anyio.create_task_group() as group:
            for text in texts:
                group.start_soon(ask, text)
        again = [await process.query(text, within=PATIENCE) for text in texts]

    for text, vector in zip(texts, again, strict=True):
        assert found[text] @ vector > 0.9999


async def test_a_process_that_is_killed_fails_everyone_who_waits(job: Job) -> None:
    lost: list[str] = []
    async with running(job) as process, anyio.create_task_group() as group:

        async def batch(name: str) -> None:
            with pytest.raises(ProcessLost):
                await process.passages([LONG] * 20, within=PATIENCE)
            lost.append(name)

        group.start_soon(batch, "one")
        group.start_soon(batch, "other")
        await anyio.wait_all_tasks_blocked()
        os.kill(pid_of(process), signal.SIGKILL)

    assert sorted(lost) == ["one", "other"]


async def test_a_process_that_has_ended_is_lost_to_the_next_caller_too(
    job: Job,
) -> None:
    async with running(job) as process:
        os.kill(pid_of(process), signal.SIGKILL)

        async def ended() -> bool:
            return not process.alive

        await until(ended)
        with pytest.raises(ProcessLost):
            await process.query("anyone?", within=PATIENCE)


async def test_no_answer_in_time_counts_as_a_loss(job: Job) -> None:
    async with running(job) as process:
        with pytest.raises(ProcessLost):
            await process.passages([LONG] * 20, within=0)

        assert process.alive, "whoever asked decides what becomes of it"


async def test_a_process_never_started_is_lost(job: Job) -> None:
    process = EmbeddingProcess(job)

    with pytest.raises(ProcessLost):
        await process.query("anyone?", within=PATIENCE)
    await process.aclose()


async def refused(job: Job) -> ModelUnusable:
    process = EmbeddingProcess(job)
    async with anyio.create_task_group() as group:
        with pytest.raises(ModelUnusable) as caught:
            await process.start(group)
    assert not process.alive
    return caught.value


async def test_a_model_that_cannot_be_loaded_says_why(job: Job, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and then nothing of use" * 50)

    error = await refused(msgspec.structs.replace(job, path=str(broken)))

    assert "broken.gguf" in error.message
    assert error.cause
    assert error.hint


def of_its_own(job: Job, path: Path) -> Job:
    """A job for a file that has everything in it, and is for English."""
    return msgspec.structs.replace(
        job,
        path=str(path),
        tokenizer="",
        japanese="",
        adapter="",
        pooling=None,
        languages=("en",),
    )


async def test_a_model_without_pooling_says_what_to_set(
    job: Job, tmp_path: Path
) -> None:
    path = tiny_model(tmp_path / "chat.gguf", pooling=False)
    bare = of_its_own(job, path)

    assert "embedding.pooling" in (await refused(bare)).hint


async def test_a_model_that_confuses_kana_is_refused_for_japanese(
    job: Job, tmp_path: Path
) -> None:
    path = tiny_model(tmp_path / "tiny.gguf")
    bare = msgspec.structs.replace(of_its_own(job, path), languages=("en", "ja"))

    assert "embedding.languages" in (await refused(bare)).hint


async def test_a_model_whose_vectors_are_no_numbers_refuses_and_goes_on(
    job: Job, tmp_path: Path
) -> None:
    path = tiny_model(tmp_path / "nan.gguf", weight=float("nan"))
    bare = of_its_own(job, path)
    async with running(bare) as process:
        for _ in range(2):
            with pytest.raises(TextRefused):
                await process.passages([Text("", "cat")], within=PATIENCE)

        assert process.alive


async def test_a_child_that_ends_without_a_word_is_lost(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    process = EmbeddingProcess(job)

    async with anyio.create_task_group() as group:
        with pytest.raises(ProcessLost):
            await process.start(group)


def answer(process: subprocess.Popen[bytes]) -> bytes:
    """The next frame the child sends."""
    assert process.stdout is not None
    frame = read_frame(cast("BinaryIO", process.stdout))
    assert frame is not None
    return frame


def child(job: Job) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "ubp.actors.embedding_child",
            msgspec.json.encode(job).decode(),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def test_nothing_but_frames_comes_out_and_the_end_of_input_is_the_end(
    job: Job,
) -> None:
    numbers = (1, 2, 3)
    with child(job) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        loaded = msgspec.msgpack.decode(answer(process), type=Loaded)
        for number in numbers:
            request = Embed(number, (Text("", "one text"),), number == 1)
            process.stdin.write(framed(msgspec.msgpack.encode(request)))
        process.stdin.flush()
        answers = [
            msgspec.msgpack.decode(answer(process), type=Vectors) for _ in numbers
        ]
        process.stdin.close()
        rest = process.stdout.read()
        code = process.wait(PATIENCE)

    assert loaded.dimension == DEFAULT.dimension
    assert {answer.number for answer in answers} == set(numbers)
    assert all(len(answer.values) == 4 * loaded.dimension for answer in answers)
    assert rest == b""
    assert code == 0


def test_a_child_ends_when_its_parent_is_gone_even_in_the_middle_of_a_batch(
    job: Job,
) -> None:
    with child(job) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answer(process)
        request = Embed(1, (LONG,) * 50, False)
        process.stdin.write(framed(msgspec.msgpack.encode(request)))
        process.stdin.close()

        assert process.wait(PATIENCE) == 0
        assert process.stdout.read() == b""


async def test_a_query_of_nothing_the_model_knows_is_refused(job: Job) -> None:
    async with running(job) as process:
        with pytest.raises(TextRefused, match="none of these words"):
            await process.query("\N{GRINNING FACE} \u2fd5", within=PATIENCE)

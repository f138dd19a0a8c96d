"""How actors talk."""

import anyio
import pytest
from waiting import soon

from ubp.actors.ports import Call, ask, channel, nudge
from ubp.errors import ActorStopped, Busy, PageNotFound


async def test_an_answer_reaches_the_caller() -> None:
    calls, inbox = channel[Call[str, str]](1)

    async def serve() -> None:
        with await soon(inbox) as call:
            call.answer(call.request.upper())

    with calls, inbox:
        async with anyio.create_task_group() as group:
            group.start_soon(serve)

            assert await ask(calls, "question", within=5) == "QUESTION"


async def test_an_error_as_an_answer_is_raised() -> None:
    calls, inbox = channel[Call[str, str]](1)

    async def serve() -> None:
        with await soon(inbox) as call:
            call.answer(PageNotFound("a.md"))

    with calls, inbox:
        async with anyio.create_task_group() as group:
            group.start_soon(serve)

            with pytest.raises(PageNotFound):
                await ask(calls, "question", within=5)


async def test_a_caller_whose_deadline_passes_is_told_busy_and_the_call_knows() -> None:
    calls, inbox = channel[Call[str, str]](1)
    with calls, inbox:
        with pytest.raises(Busy):
            await ask(calls, "question", within=0.01)

        with inbox.receive_nowait() as call:
            assert call.abandoned.is_set()
            call.answer("too late")  # harmless


async def test_a_full_inbox_counts_against_the_deadline() -> None:
    calls, inbox = channel[Call[str, str]](0)
    with calls, inbox:
        with pytest.raises(Busy):
            await ask(calls, "question", within=0.01)


async def test_a_dropped_call_is_an_actor_that_stopped() -> None:
    calls, inbox = channel[Call[str, str]](1)

    async def drop() -> None:
        with await soon(inbox):
            pass

    with calls, inbox:
        async with anyio.create_task_group() as group:
            group.start_soon(drop)

            with pytest.raises(ActorStopped):
                await ask(calls, "question", within=5)


async def test_asking_an_actor_that_is_gone_fails_at_once() -> None:
    calls, inbox = channel[Call[str, str]](1)
    inbox.close()
    with calls:
        with pytest.raises(ActorStopped):
            await ask(calls, "question", within=5)


async def test_many_nudges_are_one() -> None:
    nudges, inbox = channel[str](1)
    with nudges, inbox:
        for _ in range(3):
            nudge(nudges, "work")

        assert inbox.receive_nowait() == "work"
        with pytest.raises(anyio.WouldBlock):
            inbox.receive_nowait()

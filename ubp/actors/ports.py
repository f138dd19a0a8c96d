"""How actors talk: channels of a fixed size, calls that want an answer, nudges.

``channel[Message](size)`` gives an outbox and the inbox it leads to. Every channel of
the service is opened through this name, and a test sees to it that each has a size.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Generic, Self, TypeVar

import anyio
from anyio import create_memory_object_stream as channel
from anyio.streams.memory import MemoryObjectReceiveStream as Inbox
from anyio.streams.memory import MemoryObjectSendStream as Outbox

from ubp.errors import ActorStopped, Busy, IndexDamaged, UbpError

__all__ = ("Call", "Inbox", "Outbox", "ask", "ask_current", "channel", "nudge")

_REPLACED_WITHIN = 15.0
"""Seconds a caller waits for another database to take the place of one that is gone."""

RequestT = TypeVar("RequestT")
AnswerT = TypeVar("AnswerT")


class Abandonment:
    """That a caller no longer waits, so that the work for it can be stopped."""

    __slots__ = ("_given_up", "_scope")

    def __init__(self) -> None:
        self._given_up = False
        self._scope: anyio.CancelScope | None = None

    def is_set(self) -> bool:
        return self._given_up

    def set(self) -> None:
        self._given_up = True
        if self._scope is not None:
            self._scope.cancel()

    @contextmanager
    def stops(self) -> Iterator[None]:
        """Leave the block, wherever it waits, once this is set."""
        # Not a task that waits for an event: it would cost as much as a small call.
        with anyio.CancelScope() as scope:
            self._scope = scope
            if self._given_up:
                scope.cancel()
            try:
                yield
            finally:
                self._scope = None


@dataclass(frozen=True, slots=True)
class Call(Generic[RequestT, AnswerT]):
    """A request and the one place its answer may go.

    Use it as a context manager: leaving the block without answering - because the
    handler crashed, say - tells the caller that no answer is coming.
    """

    request: RequestT
    _reply: Outbox[AnswerT | UbpError]
    abandoned: Abandonment = field(default_factory=Abandonment)

    def answer(self, answer: AnswerT | UbpError) -> None:
        """Send the answer, or drop it if the caller has stopped waiting."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._reply.send_nowait(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._reply.close()


async def ask(
    outbox: Outbox[Call[RequestT, AnswerT]], request: RequestT, *, within: float
) -> AnswerT:
    """Send *request* and wait for its answer.

    Raises:
        Busy: *within* seconds passed, in the queue or in the handler.
        ActorStopped: the actor dropped the request without answering.
    """
    reply, answers = channel[AnswerT | UbpError](1)
    call: Call[RequestT, AnswerT] = Call(request, reply)
    try:
        with answers, _abandoning(call), anyio.fail_after(within):
            try:
                await outbox.send(call)
            except BaseException:
                reply.close()
                raise
            answer = await answers.receive()
    except TimeoutError:
        raise Busy(f"No answer within {within:g} seconds.") from None
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        raise ActorStopped("The request was dropped.") from None
    if isinstance(answer, UbpError):
        raise answer
    return answer


async def ask_current(
    outbox: Callable[[], Outbox[Call[RequestT, AnswerT]]],
    request: RequestT,
    *,
    within: float,
) -> AnswerT:
    """Ask, and ask again if the database is replaced meanwhile. Only to read from it.

    Raises:
        Busy, ActorStopped: As for :func:`ask`.
    """
    deadline = anyio.current_time() + _REPLACED_WITHIN
    while True:
        asked = outbox()
        try:
            return await ask(asked, request, within=within)
        except (ActorStopped, IndexDamaged):
            while outbox() is asked:
                if anyio.current_time() > deadline:
                    raise
                await anyio.sleep(0.02)


def nudge(outbox: Outbox[RequestT], message: RequestT) -> None:
    """Send *message* unless the inbox already holds one, or nobody listens any more.

    For signals where one waiting copy is as good as many. Never blocks, which is
    what makes it safe on the back edge of a cycle.
    """
    with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
        outbox.send_nowait(message)


@contextmanager
def _abandoning(call: Call[RequestT, AnswerT]) -> Iterator[None]:
    try:
        yield
    finally:
        call.abandoned.set()

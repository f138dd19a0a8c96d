"""Commands that go on until they are interrupted, and end in order then."""

import signal
from collections.abc import Awaitable, Callable

import anyio

__all__ = ("until_interrupted",)


async def until_interrupted(work: Callable[[], Awaitable[None]]) -> None:
    """Do *work* until it ends, or until Ctrl-C or a request to end: no failure.

    Raises:
        OSError: As *work* does; of a pipe nobody reads any more, for one.
    """
    failed: OSError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_at_a_signal, group.cancel_scope)
        try:
            await work()
        except OSError as error:  # as it is, not in a group of one
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed


async def _cancel_at_a_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return

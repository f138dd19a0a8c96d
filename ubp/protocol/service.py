"""Serve one client on standard input and output, until it leaves or a signal comes."""

import os
import signal
from collections.abc import Sequence

import anyio

from ubp.actors.wiring import serving
from ubp.project import Project
from ubp.protocol.descriptors import Descriptors
from ubp.protocol.dispatch import Dispatcher
from ubp.protocol.server import build, options
from ubp.protocol.stdio import open_wire
from ubp.store.lock import Claim
from ubp.telemetry import get_logger
from ubp.toolkit import Pack

__all__ = ("serve",)

log = get_logger("serve")

_LOOK_FOR_PARENT_EVERY = 5.0
"""Seconds. A client that was killed may leave our input open in another process."""


async def serve(
    project: Project,
    packs: Sequence[Pack],
    descriptors: Descriptors,
    parent: int,
    claim: Claim,
) -> None:
    """Serve until the input ends, a signal comes, or the process *parent* is gone."""
    async with serving(project, packs, claim) as service:
        stop = anyio.Event()
        server = build(Dispatcher(service, packs), packs, stop)
        log.info("serve.started", pid=os.getpid(), packs=[pack.name for pack in packs])
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_on_signal, stop)
            group.start_soon(_stop_without, parent, stop)
            async with open_wire(descriptors, stop) as wire:
                await server.run(wire.incoming, wire.outgoing, options(server))
            group.cancel_scope.cancel()
    log.info("serve.stopped")


async def _stop_on_signal(stop: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            log.info("serve.stopping", signal=signal.Signals(number).name)
            stop.set()
            return  # a second signal finds Python's own handlers again


async def _stop_without(parent: int, stop: anyio.Event) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody tells us when it ends
        await anyio.sleep(_LOOK_FOR_PARENT_EVERY)
    log.info("serve.stopping", reason="the parent process is gone")
    stop.set()

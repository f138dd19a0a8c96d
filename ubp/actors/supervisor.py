"""What happens when an actor crashes."""

from collections import deque
from time import monotonic
from typing import Protocol

from ubp.errors import ServiceError, innermost
from ubp.telemetry import get_logger

__all__ = ("Actor", "ActorFailed", "supervise")

log = get_logger("supervisor")

_WITHIN = 30.0
"""Seconds over which crashes are counted."""


class Actor(Protocol):
    """Something that runs until its inbox ends."""

    @property
    def name(self) -> str: ...
    async def run(self) -> None: ...
    def close(self) -> None: ...


class ActorFailed(ServiceError):
    """An actor crashed once too often; the service cannot go on."""

    code = "actor_failed"
    cause = "A part of the service crashed once too often; the log says why."
    hint = "Start it again; if it persists, report what the log says."

    def __init__(self, name: str, error: BaseException) -> None:
        super().__init__(f"The {name} failed: {type(error).__name__}.")


async def supervise(actor: Actor, *, forgiven: int, vital: bool = True) -> bool:
    """Run *actor* until it ends, starting it again after a crash; whether it ended.

    The service goes on without an actor that is not *vital*.

    Raises:
        ActorFailed: It crashed more than *forgiven* times within half a minute.
    """
    crashes: deque[float] = deque(maxlen=forgiven + 1)
    try:
        while True:
            try:
                await actor.run()
            except Exception as caught:
                error = innermost(caught)
                if isinstance(error, ServiceError) and vital:
                    raise error from None  # it cannot go on, and says why
                if isinstance(error, ServiceError):
                    log.error("actor.failed", actor=actor.name, error=error.message)  # noqa: TRY400
                    return False
                crashes.append(monotonic())
                if len(crashes) > forgiven and crashes[-1] - crashes[0] < _WITHIN:
                    log.exception("actor.failed", actor=actor.name)
                    if not vital:
                        return False
                    raise ActorFailed(actor.name, error) from error
                log.exception("actor.restarted", actor=actor.name, crash=len(crashes))
            else:
                return True
    finally:
        actor.close()

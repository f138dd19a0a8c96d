"""What happens when an actor crashes."""

import pytest

from ubp.actors.supervisor import ActorFailed, supervise
from ubp.errors import DatabaseError


class Crashing:
    """Crashes a number of times, then ends well."""

    name = "crashing"

    def __init__(self, times: int, error: Exception) -> None:
        self.left = times
        self.error = error
        self.runs = 0
        self.closed = False

    async def run(self) -> None:
        self.runs += 1
        if self.left:
            self.left -= 1
            raise self.error

    def close(self) -> None:
        self.closed = True


async def test_a_forgiven_crash_restarts_the_actor() -> None:
    actor = Crashing(2, KeyError("bug"))

    await supervise(actor, forgiven=2)

    assert actor.runs == 3
    assert actor.closed


async def test_one_crash_too_many_fails_and_closes_the_ports() -> None:
    actor = Crashing(3, KeyError("bug"))

    with pytest.raises(ActorFailed):
        await supervise(actor, forgiven=2)

    assert actor.runs == 3
    assert actor.closed


async def test_an_actor_that_knows_it_cannot_go_on_is_not_restarted() -> None:
    actor = Crashing(1, DatabaseError("The disk is gone."))

    with pytest.raises(DatabaseError):
        await supervise(actor, forgiven=3)

    assert actor.runs == 1


async def test_a_crash_inside_a_task_group_is_seen_for_what_it_is() -> None:
    group = ExceptionGroup("tasks", [ExceptionGroup("inner", [DatabaseError("gone")])])
    actor = Crashing(1, group)

    with pytest.raises(DatabaseError):
        await supervise(actor, forgiven=3)


async def test_the_service_goes_on_without_an_actor_that_is_not_vital() -> None:
    actor = Crashing(3, KeyError("bug"))

    await supervise(actor, forgiven=2, vital=False)

    assert actor.runs == 3
    assert actor.closed


async def test_the_service_goes_on_when_such_an_actor_says_that_it_cannot() -> None:
    actor = Crashing(1, DatabaseError("The disk is gone."))

    await supervise(actor, forgiven=2, vital=False)

    assert actor.closed

"""When everything is looked at to be sure."""

from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from ubp.actors.routine import CALM, COSTS, OFTEN, RARELY, STORM, Routine


def pauses(routine: Routine, begin: float, looks: int) -> Iterable[float]:
    """How long it is until each of so many looks, while nothing is heard."""
    now = begin
    for _ in range(looks):
        last, now = now, _next_look(routine, now)
        routine.looked(now, cost=0)
        yield now - last


def _next_look(routine: Routine, now: float) -> float:
    while not routine.is_due(now):
        now += 1
    return now


def test_while_nothing_is_heard_looks_become_rarer_up_to_a_point() -> None:
    found = list(pauses(Routine(0, cost=0), 0, 7))

    assert found == [OFTEN, 2 * OFTEN, 4 * OFTEN, *[RARELY] * 4]


def test_what_is_heard_is_followed_by_a_look_soon_enough() -> None:
    routine = Routine(0, cost=0)
    assert [*pauses(routine, 0, 5)][-1] == RARELY
    now = sum(pauses(Routine(0, cost=0), 0, 5)) + 500

    routine.heard(now)
    routine.heard(now + 50)

    assert not routine.is_due(now + OFTEN - 1)
    assert routine.is_due(now + OFTEN)


def test_a_look_that_found_something_is_followed_by_another_soon_enough() -> None:
    routine = Routine(0, cost=0)
    now = sum(pauses(routine, 0, 5))

    routine.found_something()

    assert _next_look(routine, now) == now + OFTEN


def test_the_more_listing_costs_the_rarer_are_looks() -> None:
    routine = Routine(0, cost=1)
    routine.heard(1)

    assert _next_look(routine, 0) == COSTS


def test_when_it_went_on_and_on_a_look_follows_once_it_is_calm() -> None:
    routine = Routine(0, cost=0)
    steps = int(STORM / (CALM / 2)) + 1
    for step in range(steps):
        routine.heard(10 + step * CALM / 2)
    last = 10 + (steps - 1) * CALM / 2

    assert not routine.is_due(last + CALM / 2)
    assert routine.is_due(last + CALM)
    routine.looked(last + CALM, cost=0)
    assert not routine.is_due(last + 2 * CALM)


def test_with_pauses_between_them_notices_are_no_storm() -> None:
    routine = Routine(0, cost=0)
    for step in range(10):
        routine.heard(10 + step * CALM)

    assert not routine.is_due(10 + 10 * CALM)


@given(st.lists(st.tuples(st.floats(0, 500), st.sampled_from("hlf")), max_size=50))
@example([(500.0, "f"), (400.0, "h")])
@example([(450.0, "l"), (500.0, "l"), (400.0, "h")])
def test_whatever_happens_a_look_comes_in_time(
    steps: list[tuple[float, str]],
) -> None:
    routine = Routine(0, cost=0)
    now = looked = 0.0
    heard: float | None = None
    for pause, what in steps:
        now += pause
        if what == "h":
            routine.heard(now)
            heard = now if heard is None else heard
        elif what == "f":
            routine.found_something()
        elif routine.is_due(now):
            routine.looked(now, cost=0)
            looked, heard = now, None
    assert routine.is_due(max(now, looked + RARELY))
    if heard is not None:
        assert routine.is_due(max(now, heard + OFTEN))

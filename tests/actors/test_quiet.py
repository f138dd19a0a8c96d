"""What has stirred, and when it is looked at."""

from hypothesis import given
from hypothesis import strategies as st

from ubp.actors.quiet import MOST, PATIENCE, QUIET, Due, Stirred

EVERYTHING = Due(frozenset(), everything=True)
NOTHING = Due(frozenset(), everything=False)

paths = st.sampled_from("abcdef")
pauses = st.floats(0, 2)


def paths_due(*paths: str) -> Due:
    return Due(frozenset(paths), everything=False)


def test_a_path_is_looked_at_when_it_has_been_quiet() -> None:
    stirred = Stirred()
    stirred.note(["a"], 10)

    assert stirred.next_due == 10 + QUIET
    assert stirred.take(10 + QUIET / 2) == NOTHING
    assert stirred.take(10 + QUIET) == paths_due("a")
    assert stirred.next_due is None


def test_the_last_notice_counts_and_each_path_has_its_own() -> None:
    stirred = Stirred()
    stirred.note(["a", "b"], 10)
    stirred.note(["a"], 10.25)

    assert stirred.take(10 + QUIET) == paths_due("b")
    assert stirred.take(10.24 + QUIET) == NOTHING
    assert stirred.take(10.25 + QUIET) == paths_due("a")


def test_a_path_that_never_rests_is_looked_at_in_the_end() -> None:
    stirred = Stirred()
    now = 10.0
    while now < 10 + PATIENCE:
        stirred.note(["a"], now)
        assert not stirred.take(now)
        now += QUIET / 2

    assert stirred.take(10 + PATIENCE) == paths_due("a")


def test_too_many_paths_are_everything_and_later_ones_part_of_it() -> None:
    stirred = Stirred()
    stirred.note((str(number) for number in range(MOST + 1)), 10)
    stirred.note(["late"], 10.25)

    assert stirred.take(10 + QUIET) == NOTHING
    assert stirred.take(10.25 + QUIET) == EVERYTHING
    assert not stirred.take(99)


def test_everything_includes_what_was_waiting() -> None:
    stirred = Stirred()
    stirred.note(["a"], 10)
    stirred.note_everything(10.25)

    assert stirred.take(10 + QUIET) == NOTHING
    assert stirred.take(10.25 + QUIET) == EVERYTHING
    assert stirred.next_due is None


def test_one_can_ask_for_what_waits() -> None:
    stirred = Stirred()
    assert not stirred.includes(lambda _: True)

    stirred.note(["a", "b"], 10)
    assert stirred.includes(lambda path: path == "b")
    assert not stirred.includes(lambda path: path == "c")

    stirred.note_everything(10)  # and nobody knows what that is
    assert stirred.includes(lambda _: False)


@given(st.lists(st.tuples(pauses, st.lists(paths, max_size=3), st.booleans())))
def test_whatever_happens_nothing_that_stirred_is_missed(
    steps: list[tuple[float, list[str], bool]],
) -> None:
    stirred = Stirred()
    owed: dict[str, float] = {}
    now = 0.0
    for pause, noted, everything in steps:
        now += pause
        stirred.note(noted, now)
        owed |= {path: owed.get(path, now) for path in noted}
        if everything:
            stirred.note_everything(now)
        due = stirred.take(now)
        seen = owed.keys() if due.everything else due.paths
        assert seen <= owed.keys()
        owed = {path: since for path, since in owed.items() if path not in seen}
        # Everything that is owed is due in time.
        assert all(now - since < PATIENCE for since in owed.values())
        assert stirred.next_due is not None or not owed
    rest = stirred.take(now + PATIENCE)
    assert rest.everything or rest.paths == owed.keys()

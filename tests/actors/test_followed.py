"""What clients follow, and what they are still to be told."""

from typing import Any, cast

from ubp.actors.followed import SAY_LIST_EVERY, Followed, Look, Seen
from ubp.messages import ResourcesChanged

NONE = cast("Any", None)


def look(list_token: int = 0, **tokens: int) -> Look:
    return Look({uri: Seen(NONE, "state", t) for uri, t in tokens.items()}, list_token)


def following(**tokens: int) -> Followed:
    followed = Followed()
    followed.begin(look(**tokens), listed=True)
    return followed


def test_nothing_is_followed_at_first() -> None:
    assert not Followed()
    assert following(a=1)
    assert following()


def test_what_stays_the_same_is_not_told() -> None:
    followed = following(a=1, b=1)

    followed.compare(look(a=1, b=1))

    assert followed.due(0.0) is None


def test_what_changed_is_told_once() -> None:
    followed = following(a=1, b=1)
    followed.compare(look(a=1, b=2))
    message = followed.due(0.0)
    assert message == ResourcesChanged(("b",))

    followed.told(message, 0.0)
    followed.compare(look(a=1, b=2))

    assert followed.due(0.0) is None


def test_what_could_not_be_told_is_told_with_what_came_meanwhile() -> None:
    followed = following(a=1, b=1)
    followed.compare(look(a=2, b=1))
    followed.compare(look(1, a=3, b=2))

    assert followed.due(0.0) == ResourcesChanged(("a", "b"), listed=True)


def test_going_and_coming_back_are_both_told() -> None:
    followed = following(a=1)
    for seen in (look(), look(a=1)):
        followed.compare(seen)
        message = followed.due(0.0)
        assert message == ResourcesChanged(("a",))
        followed.told(message, 0.0)

    followed.compare(look(a=1))
    assert followed.due(0.0) is None


def test_following_again_does_not_hide_what_has_not_been_told() -> None:
    followed = following(a=1)
    followed.compare(look(1, a=2))

    followed.begin(look(b=1), listed=False)

    assert followed.due(0.0) == ResourcesChanged(("a",), listed=True)


def test_what_is_no_longer_followed_is_not_told() -> None:
    followed = following(a=1, b=1)
    followed.compare(look(1, a=2, b=2))

    followed.keep(frozenset({"b"}), listed=False)

    assert followed.due(0.0) == ResourcesChanged(("b",))
    followed.keep(frozenset(), listed=False)
    assert not followed
    assert followed.due(0.0) is None


def test_the_list_is_told_about_once_in_a_while() -> None:
    followed = following()
    followed.compare(look(1))
    message = followed.due(0.0)
    assert message == ResourcesChanged((), listed=True)
    followed.told(message, 0.0)

    followed.compare(look(2))
    assert followed.due(SAY_LIST_EVERY / 2) is None
    assert followed.due(SAY_LIST_EVERY) == message


def test_the_list_is_not_looked_at_unless_it_is_followed() -> None:
    followed = Followed()
    followed.begin(look(a=1), listed=False)

    followed.compare(look(1, a=1))

    assert followed.due(0.0) is None

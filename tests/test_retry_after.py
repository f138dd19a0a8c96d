"""How long a server asks us to wait."""

import time
from email.utils import formatdate

import pytest

from ubp.retry_after import seconds_asked


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("１２", None),
        ("9" * 400, 999_999_999.0),
    ],
)
def test_a_number_or_a_date_is_understood(header: str, seconds: float | None) -> None:
    assert seconds_asked(header) == seconds


def test_a_date_to_come_is_waited_for() -> None:
    asked = seconds_asked(formatdate(time.time() + 100, usegmt=True))

    assert asked is not None
    assert 90 < asked <= 101

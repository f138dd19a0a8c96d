"""Which mail is due on which day, and delivery with exponential back-off."""

import time
from collections.abc import Callable
from datetime import date
from secrets import SystemRandom

REMINDER_DAYS_BEFORE = 3
OVERDUE_NOTICE_DAYS = (1, 7, 21)

MAX_ATTEMPTS = 5
BASE_DELAY_SECONDS = 30
BACKOFF_FACTOR = 4
MAX_DELAY_SECONDS = 900
JITTER = 0.1

_random = SystemRandom()


class TemporaryMailError(Exception):
    """The relay was unreachable or answered 4xx: worth another attempt."""


class DeliveryFailedError(Exception):
    """All attempts are used up; the mail belongs in the dead letters."""


def notice_for(due: date, today: date) -> str | None:
    """Name the mail to send today for a loan that is still open."""
    days_late = (today - due).days
    if days_late == -REMINDER_DAYS_BEFORE:
        return "reminder"
    return "overdue" if days_late in OVERDUE_NOTICE_DAYS else None


def retry_delays() -> list[int]:
    """Return the pauses in seconds between the attempts, without jitter."""
    growing = (BASE_DELAY_SECONDS * BACKOFF_FACTOR**n for n in range(MAX_ATTEMPTS - 1))
    return [min(pause, MAX_DELAY_SECONDS) for pause in growing]


def deliver(
    send: Callable[[], None], sleep: Callable[[float], None] = time.sleep
) -> int:
    """Call send until it succeeds and return the number of attempts used.

    Only TemporaryMailError is retried; any other exception is final.
    """
    delays = retry_delays()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            send()
        except TemporaryMailError:
            if attempt == MAX_ATTEMPTS:
                break
            sleep(delays[attempt - 1] * _random.uniform(1 - JITTER, 1 + JITTER))
        else:
            return attempt
    raise DeliveryFailedError

"""Editions, ISBN normalisation and availability."""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

ISBN10_LENGTH = 10
ISBN13_LENGTH = 13
ISBN10_PREFIX = "978"


class Availability(StrEnum):
    """What a reader can do with an edition right now."""

    AVAILABLE = "available"
    WAITING_LIST = "waiting_list"
    SALE_ONLY = "sale_only"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Edition:
    """One ISBN: the copies we lend, and the price of a new copy if we sell it."""

    isbn: str
    title: str
    author: str
    copies: int = 0
    price_yen: int | None = None

    def availability(self, on_loan: int, set_aside: int) -> Availability:
        """Combine stock, open loans and copies set aside for pickup."""
        if self.copies > on_loan + set_aside:
            return Availability.AVAILABLE
        if self.copies:
            return Availability.WAITING_LIST
        if self.price_yen is not None:
            return Availability.SALE_ONLY
        return Availability.UNAVAILABLE


def isbn13_check_digit(first_twelve: str) -> str:
    """Return the last digit of an ISBN-13."""
    total = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(first_twelve))
    return str(-total % 10)


def normalise_isbn(raw: str) -> str:
    """Return the 13-digit form of an ISBN-10 or ISBN-13, or raise ValueError."""
    text = unicodedata.normalize("NFKC", raw).replace("-", "").replace(" ", "").upper()
    body, check = text[:-1], text[-1:]
    if body.isdecimal() and len(text) == ISBN13_LENGTH:
        if isbn13_check_digit(body) == check:
            return text
    elif body.isdecimal() and len(text) == ISBN10_LENGTH:
        total = sum(int(d) * (ISBN10_LENGTH - i) for i, d in enumerate(body))
        if "0123456789X"[-total % 11] == check:
            return ISBN10_PREFIX + body + isbn13_check_digit(ISBN10_PREFIX + body)
    raise ValueError(raw)

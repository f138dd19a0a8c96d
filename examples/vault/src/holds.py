"""The waiting line for one edition: first come, first served."""

from collections import deque
from dataclasses import dataclass, field
from datetime import date, timedelta

MAX_OPEN_HOLDS = 8
PICKUP_DAYS = 5


class HoldError(Exception):
    """A hold was refused; the message is the API's error code."""


@dataclass(slots=True)
class HoldQueue:
    """Members waiting for an edition, and copies set aside for pickup."""

    waiting: deque[str] = field(default_factory=deque)
    pickups: dict[str, date] = field(default_factory=dict)

    def place(self, member_id: str, *, open_holds: int) -> int:
        """Join the end of the line and return the position, counted from 1."""
        if member_id in self.waiting or member_id in self.pickups:
            raise HoldError("already_waiting")
        if open_holds >= MAX_OPEN_HOLDS:
            raise HoldError("too_many_holds")
        self.waiting.append(member_id)
        return len(self.waiting)

    def copy_returned(self, today: date) -> str | None:
        """Set the copy aside for the first in line, if anybody is waiting."""
        if not self.waiting:
            return None
        member_id = self.waiting.popleft()
        self.pickups[member_id] = today + timedelta(days=PICKUP_DAYS)
        return member_id

    def cancel(self, member_id: str) -> bool:
        """Give up the hold; True means that a copy set aside is free again."""
        if member_id in self.waiting:
            self.waiting.remove(member_id)
        return self.pickups.pop(member_id, None) is not None

    def collect(self, member_id: str) -> None:
        """Close the hold: the member has taken the copy."""
        del self.pickups[member_id]

    def expire(self, today: date) -> list[str]:
        """Drop pickups whose last day has passed; each one frees a copy."""
        missed = [member for member, last in self.pickups.items() if today > last]
        for member in missed:
            del self.pickups[member]
        return missed

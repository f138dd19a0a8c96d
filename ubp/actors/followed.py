"""What clients follow, as they know it, and what they are still to be told.

A pure data structure. It outlives the announcer, which goes with its database: after a
crash, or with another database, clients hear of everything that is different since.
"""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from ubp.messages import ResourcesChanged
from ubp.toolkit import Resources

__all__ = ("Followed", "Look", "Seen")

SAY_LIST_EVERY = 1.0
"""Seconds between two announcements that the list is another one: while a project is
read for the first time, it is another one all the time."""


class Seen(NamedTuple):
    """A resource as it was when somebody last looked."""

    resources: Resources[Any]
    state: Any
    """What the database said of it; None if it is gone."""
    token: Hashable

    @property
    def is_there(self) -> bool:
        return self.state is not None and self.token is not None


class Look(NamedTuple):
    """What was seen at one moment."""

    resources: Mapping[str, Seen]
    list_token: Hashable = None


class Followed:
    """The resources that are followed; times are the caller's."""

    def __init__(self) -> None:
        self.resources: dict[str, Seen] = {}
        self.listed = False
        self.list_token: Hashable = None
        self._changed: set[str] = set()
        self._list_changed = False
        self._list_said = float("-inf")

    def __bool__(self) -> bool:
        return self.listed or bool(self.resources)

    def begin(self, look: Look, *, listed: bool) -> None:
        """Follow what was seen, and if it was looked at, the list."""
        self.resources |= look.resources
        if listed:
            self.listed = True
            self.list_token = look.list_token

    def keep(self, uris: frozenset[str], *, listed: bool) -> None:
        """Follow nothing but these."""
        for uri in self.resources.keys() - uris:
            del self.resources[uri]
        self._changed &= uris
        self.listed &= listed
        self._list_changed &= listed

    def compare(self, look: Look) -> None:
        """Note what is not as it was. What was not seen is gone."""
        for uri, before in self.resources.items():
            now = look.resources.get(uri) or before._replace(state=None, token=None)
            if now.token != before.token:
                self._changed.add(uri)
            self.resources[uri] = now
        if self.listed and look.list_token != self.list_token:
            self.list_token = look.list_token
            self._list_changed = True

    def due(self, now: float) -> ResourcesChanged | None:
        """What there is to be told."""
        listed = self._list_changed and now >= self._list_said + SAY_LIST_EVERY
        if not self._changed and not listed:
            return None
        return ResourcesChanged(tuple(sorted(self._changed)), listed)

    def told(self, message: ResourcesChanged, now: float) -> None:
        self._changed -= set(message.uris)
        if message.listed:
            self._list_changed = False
            self._list_said = now

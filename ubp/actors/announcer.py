"""The announcer actor: notices when resources that somebody follows have changed.

Whoever changed them - our writer, another process, somebody who edits a source file -
says nothing to us. So it looks, twice a second, as long as anything is followed: at the
number SQLite raises with every commit, and only if that is another one at the rows; and
at the files that decide how far a page can be trusted.
"""

from collections.abc import Collection, Hashable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import anyio
import apsw

from ubp.actors.followed import Followed, Look, Seen
from ubp.actors.ports import Call, Inbox, Outbox
from ubp.errors import ServiceError
from ubp.messages import FollowResources, ResourcesChanged
from ubp.project import Project
from ubp.store.session import Session
from ubp.telemetry import get_logger
from ubp.toolkit import Pack, Resources

__all__ = ("Announcer", "FollowCall")

log = get_logger("announcer")

FollowCall = Call[FollowResources, frozenset[str]]
"""The answer is what is followed now: of what was asked for, that which exists."""

LOOK_EVERY = 0.5
"""Seconds."""


class _ListToken(NamedTuple):
    """What the lists of all packs come to: in the database, and on disk."""

    rows: Hashable
    files: Hashable


class Announcer:
    """Says which of the resources that are followed have changed, and if others came.

    It never waits for whoever listens: what cannot be said is said later, together
    with what has happened meanwhile.
    """

    name = "announcer"

    def __init__(
        self,
        inbox: Inbox[FollowCall],
        protocol: Outbox[ResourcesChanged],
        followed: Followed,
        *,
        session: Session,
        project: Project,
        packs: Sequence[Pack],
    ) -> None:
        self._inbox = inbox
        self._protocol = protocol
        self._followed = followed
        self._session = session
        self._project = project
        self._resources = [pack.resources for pack in packs if pack.resources]

    async def run(self) -> None:
        version: int | None = None
        look_at = 0.0
        failing = False
        with suppress(anyio.EndOfStream):
            while True:
                if (call := await self._next_call(look_at)) is not None:
                    await self._serve(call)
                if monotonic() < look_at:
                    continue
                try:
                    version = await self._look(version)
                    failing = False
                except ServiceError as error:
                    # It may pass, and then nothing will have been missed.
                    if not failing:
                        log.warning("announce.failed", error=error.message)
                    version, failing = None, True
                look_at = monotonic() + LOOK_EVERY

    def close(self) -> None:
        self._inbox.close()
        self._protocol.close()

    async def _next_call(self, look_at: float) -> FollowCall | None:
        """The next call; None when it is time to look, if there is anything to see."""
        if not self._followed:
            return await self._inbox.receive()
        with suppress(anyio.WouldBlock):
            return self._inbox.receive_nowait()
        with anyio.move_on_after(max(0.0, look_at - monotonic())):
            return await self._inbox.receive()
        return None

    async def _serve(self, call: FollowCall) -> None:
        with call:
            try:
                call.answer(await self._follow(call.request))
            except ServiceError as error:
                call.answer(error)

    async def _follow(self, request: FollowResources) -> frozenset[str]:
        followed = self._followed
        new = request.uris - followed.resources.keys()
        newly_listed = request.listed and not followed.listed
        if new or newly_listed:
            # As they are at this moment: whatever happens from now on is noticed.
            look = await self._session.run(self._read, new, newly_listed)
            there = {uri: seen for uri, seen in look.resources.items() if seen.is_there}
            followed.begin(look._replace(resources=there), listed=newly_listed)
        followed.keep(request.uris, listed=request.listed)
        return frozenset(followed.resources)

    async def _look(self, version: int | None) -> int:
        """Find what has changed since *version* of the database, and say it."""
        now, look = await self._session.run(self._read_since, version)
        self._followed.compare(look)
        message = self._followed.due(monotonic())
        if message is not None:
            # Full: the client reads slowly, and will hear it with what comes meanwhile.
            with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
                self._protocol.send_nowait(message)
                self._followed.told(message, monotonic())
        return now

    # -- in a thread -------------------------------------------------------------------

    def _read_since(self, db: apsw.Connection, version: int | None) -> tuple[int, Look]:
        """What is followed, as it is now, and the version of the database."""
        followed = self._followed
        now: int = db.pragma("data_version")
        if now != version:
            return now, self._read(db, followed.resources, followed.listed)
        seen = {
            uri: self._seen(each.resources, each.state)
            for uri, each in followed.resources.items()
        }
        token: Hashable = followed.list_token
        if followed.listed and isinstance(token, _ListToken):
            token = token._replace(files=self._listed_files())
        return now, Look(seen, token)

    def _read(self, db: apsw.Connection, uris: Collection[str], listed: bool) -> Look:
        """What there is of *uris*, and of the list."""
        seen: dict[str, Seen] = {}
        for resources in self._resources:
            own = [uri for uri in uris if uri.startswith(resources.prefix)]
            if own:
                states = resources.states(db, own)
                seen |= {uri: self._seen(resources, states[uri]) for uri in states}
        if not listed:
            return Look(seen)
        rows = tuple(each.list_token(db) for each in self._resources)
        return Look(seen, _ListToken(rows, self._listed_files()))

    def _listed_files(self) -> Hashable:
        return tuple(
            each.list_token_of_files(self._project)
            for each in self._resources
            if each.list_token_of_files is not None
        )

    def _seen(self, resources: Resources[Any], state: Any) -> Seen:
        token = None if state is None else resources.token(self._project, state)
        return Seen(resources, state, token)

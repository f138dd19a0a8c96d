"""Follows a board for as long as somebody uses it.

Told by the system that something stirs, it keeps the view current, tells those who
watch, renders the page where the rules want it, and mends the indexes. What it writes
itself is in files of which it takes no notice.
"""

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import anyio
import anyio.to_thread

from ubp.errors import UbpError
from ubp.packs.board import rendering
from ubp.packs.board.desk import Desk
from ubp.packs.board.names import column_key
from ubp.packs.board.pending import Pending, Telling
from ubp.packs.board.rules import Rules
from ubp.packs.board.uris import board_uri, card_uri
from ubp.packs.board.view import Snapshot
from ubp.telemetry import get_logger
from ubp.toolkit import Client, Jobs, Stir

__all__ = ("PUBLISH", "Follower")

log = get_logger("board")

PUBLISH = "notifications/publish"

_HOT = ("backlog", "doing")


class _Difference(NamedTuple):
    cards: list[str]
    """The hot ones first."""
    is_other: bool


class Follower:
    """The one of a board."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._view = desk.view
        self._turn = anyio.Lock()
        self._last = Snapshot()
        self._pending = Pending()
        self._watched_as: str | None = None
        """The board as the client that watches it calls it."""
        self._runs = 0
        self._rendered = float("-inf")
        self._render_due: float | None = None

    @property
    def is_following(self) -> bool:
        """Whether it is at work, or is waited for."""
        return self._runs > 0 or self._watched_as is not None

    # -- for tools ---------------------------------------------------------------------

    async def watch(self, name: str) -> bool:
        """From now on the client is told of every change; whether it was not."""
        async with self._turn:
            if self._watched_as is not None:
                return False
            await self._look()
            self._pending.forget()  # what was before is nobody's news
            self._watched_as = name
            return True

    def unwatch(self) -> bool:
        """Silence; whether there was somebody who watched."""
        was = self._watched_as is not None
        self._watched_as = None
        return was

    # -- the job -----------------------------------------------------------------------

    async def run(self, jobs: Jobs, client: Client, begun: Callable[[], None]) -> None:
        """Follow the board until cancelled."""
        self._runs += 1
        try:
            await self._run(jobs, client, begun)
        finally:
            self._runs -= 1

    async def _run(self, jobs: Jobs, client: Client, begun: Callable[[], None]) -> None:
        async with jobs.stirs(self._view.kanban) as stirs:
            with self._view.listening() as tell:
                async with self._turn:
                    await self._look()
                    self._pending.forget()
                begun()
                # Nobody may have been here while cards were changed by hand.
                await anyio.to_thread.run_sync(self._desk.heal_indexes)
                try:
                    while True:
                        stir: Stir | None = None
                        with anyio.move_on_after(self._patience()):
                            stir = await stirs.next()
                        if stir is not None:
                            tell(stir.paths, stir.only_to_be_sure)
                            overflowed = not (stir.paths or stir.only_to_be_sure)
                            async with self._turn:
                                await self._look(overflowed=overflowed)
                        await self._tell_what_is_due(client)
                finally:
                    self._watched_as = None

    def _patience(self) -> float | None:
        """Seconds until there is something to do, even if nothing stirs."""
        rules = self._last.rules
        due = [
            moment
            for moment in (
                self._pending.next_due(rules.debounce_ms / 1000),
                self._render_due,
            )
            if moment is not None
        ]
        return max(0.0, min(due) - anyio.current_time()) if due else None

    async def _look(self, *, overflowed: bool = False) -> None:
        try:
            now = await anyio.to_thread.run_sync(self._view.snapshot)
        except UbpError as error:
            log.warning("board.not_followed", error=error.message)
            return
        difference = _difference(self._last, now)
        self._last = now
        if difference.is_other:
            self._pending.note(
                difference.cards,
                anyio.current_time(),
                debounce=now.rules.debounce_ms / 1000,
                max_batch=now.rules.max_batch,
                overflowed=overflowed,
            )

    async def _tell_what_is_due(self, client: Client) -> None:
        rules = self._last.rules
        now = anyio.current_time()
        telling = self._pending.take(now, rules.debounce_ms / 1000)
        if telling is not None:
            await anyio.to_thread.run_sync(self._desk.heal_indexes)
            if rules.renders and self._render_due is None:
                wait = self._rendered + rules.render_debounce_ms / 1000
                self._render_due = max(now, wait)
        if self._render_due is not None and self._render_due <= now:
            self._render_due = None
            self._rendered = now
            await anyio.to_thread.run_sync(self._render)
        if telling is not None:
            await self._publish(client, telling)

    async def _publish(self, client: Client, telling: Telling) -> None:
        name = self._watched_as
        if name is None:
            return
        cards = (card_uri(name, card) for card in telling.cards)
        for uri in chain([board_uri(name)], cards):
            await client.notify(PUBLISH, {"event": "resource/updated", "uri": uri})

    def _render(self) -> None:
        try:
            rendering.write_pages(self._view.kanban, self._view.snapshot())
        except UbpError as error:
            log.warning("board.not_rendered", error=error.message, cause=error.cause)


def _difference(before: Snapshot, now: Snapshot) -> _Difference:
    if before is now:
        return _Difference([], is_other=False)
    changed = [
        ident
        for ident in {**before.cards, **now.cards}
        # Files that did not change are the same objects.
        if before.cards.get(ident) is not now.cards.get(ident)
    ]
    hot = _hot_columns(now.rules)
    changed.sort(
        key=lambda ident: (
            column_key((now.cards.get(ident) or before.cards[ident]).column) not in hot
        )
    )
    other = (before.rules_text, before.folders) != (now.rules_text, now.folders)
    return _Difference(changed, is_other=bool(changed) or other)


def _hot_columns(rules: Rules) -> set[str]:
    named = rules.hot_columns or tuple(each.key for each in rules.columns) or _HOT
    return {column_key(name) for name in named}

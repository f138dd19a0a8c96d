"""Lists that go on from pack to pack, some entries at a time."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from ubp.errors import InvalidArguments

__all__ = ("bad_cursor", "collect")

T = TypeVar("T")

Part = Callable[[str, str | None, int], Awaitable[tuple[list[T], str | None]]]
"""Of a pack, where to begin in it and how many: entries, and where the next begin."""


async def collect(
    packs: Sequence[str], cursor: str | None, limit: int, part: Part[T]
) -> tuple[list[T], str | None]:
    """The next *limit* entries of *packs* after *cursor*, and the cursor after them.

    Raises:
        InvalidArguments: The cursor is none that was given.
    """
    pack, after = _position(packs, cursor)
    found: list[T] = []
    while pack is not None and len(found) < limit:
        more, after = await part(pack, after, limit - len(found))
        found += more
        if after is None:
            pack = next(iter(packs[packs.index(pack) + 1 :]), None)
    return found, None if pack is None else _cursor(pack, after)


def bad_cursor() -> InvalidArguments:
    return InvalidArguments(
        "Invalid cursor.",
        cause="It is not one that this server gave.",
        hint="Begin again without a cursor.",
    )


def _position(
    packs: Sequence[str], cursor: str | None
) -> tuple[str | None, str | None]:
    """The pack a list begins in, and where in it."""
    if cursor is None:
        return next(iter(packs), None), None
    try:
        raw = base64.b64decode(cursor, altchars=b"-_", validate=True)
        pack, after = msgspec.json.decode(raw, type=tuple[str, str | None])
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        raise bad_cursor() from None
    if pack not in packs:
        raise bad_cursor()
    return pack, after


def _cursor(pack: str, after: str | None) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((pack, after))).decode()

"""One page over HTTP: asked for only if it changed, tried again if that may help."""

import random
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeGuard

import anyio
from msgspec import Struct

from ubp import __version__
from ubp.config import FetchPatience
from ubp.errors import innermost
from ubp.retry_after import seconds_asked

if TYPE_CHECKING:
    import httpx2

__all__ = ("FetchFailed", "Fetched", "Fetcher", "next_delay", "pause_before")

_RETRIES = 3
_TOO_MANY = 429
_UNCHANGED = 304
_OK = 200
_SERVER_ERROR = 500

_LONGEST_PAUSE = 60.0
"""Seconds, however long a server asks us to wait."""

_LONGEST_DELAY = 10.0
"""Seconds between two pages, unless the server asks for more."""

_JITTER = 0.25

_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_LONGEST_ETAG = 1_000

_LARGEST = 64 * 1024 * 1024
"""Bytes of a page: no specification is larger, and memory is not endless."""


class FetchFailed(Exception):
    """A page could not be had; the message says why."""

    def __init__(
        self,
        url: str,
        reason: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        passing: bool = False,
    ) -> None:
        super().__init__(reason)
        self.url = url
        self.status = status
        self.retry_after = retry_after
        self.passing = passing
        """Whether another try may help."""


class Fetched(Struct, frozen=True, kw_only=True):
    """What a server answered; without a body if the page is as it was."""

    status: int
    body: bytes
    etag: str | None
    charset: str


class Fetcher:
    """Asks for pages, one at a time."""

    def __init__(
        self,
        client: "httpx2.AsyncClient",
        patience: FetchPatience,
        *,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """*chance* gives numbers from 0 to 1."""
        self._client = client
        self._patience = patience
        self._sleep = sleep
        self._chance = chance

    async def get(self, url: str, etag: str | None = None) -> Fetched:
        """The page at *url*, unless it still is what *etag* stands for.

        Raises:
            FetchFailed: It cannot be had, also after trying again.
        """
        attempt = 0
        while True:
            try:
                return await self._once(url, etag)
            except FetchFailed as failure:
                if not failure.passing or attempt == _RETRIES:
                    raise
                base, chance = self._patience.retry_base, self._chance()
                pause = pause_before(attempt, failure.retry_after, base, chance)
            attempt += 1
            await self._sleep(pause)

    async def _once(self, url: str, etag: str | None) -> Fetched:
        import httpx2

        unusable = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError)
        headers = {"If-None-Match": etag} if _can_be_sent(etag) else {}
        try:
            with anyio.fail_after(self._patience.timeout):
                async with self._client.stream("GET", url, headers=headers) as answer:
                    return await self._received(url, answer)
        except TimeoutError:
            limit = self._patience.timeout
            reason = f"no answer within {limit:g} s"
            raise FetchFailed(url, reason, passing=True) from None
        except unusable as error:  # ours, or one that the server sends us on to
            raise FetchFailed(url, f"the address cannot be used: {error}") from None
        except ExceptionGroup as group:
            if isinstance(innermost(group), OverflowError):
                raise FetchFailed(url, "the address has a port that is none") from None
            raise
        except httpx2.TooManyRedirects:
            raise FetchFailed(url, "the server sends us in circles") from None
        except httpx2.RequestError as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            raise FetchFailed(url, reason, passing=True) from None

    async def _received(self, url: str, answer: "httpx2.Response") -> Fetched:
        status = answer.status_code
        if url.startswith("https:") and answer.url.scheme != "https":
            raise FetchFailed(url, "the server sends us on without encryption")
        if status not in (_OK, _UNCHANGED):
            raise FetchFailed(
                url,
                f"HTTP {status}",
                status=status,
                retry_after=seconds_asked(answer.headers.get("Retry-After", "")),
                passing=status == _TOO_MANY or status >= _SERVER_ERROR,
            )
        body = bytearray()
        async for block in answer.aiter_bytes():
            body += block
            if len(body) > _LARGEST:
                raise FetchFailed(url, f"it has more than {_LARGEST:,} bytes")
        etag = answer.headers.get("ETag")
        return Fetched(
            status=status,
            body=bytes(body),
            etag=etag if _can_be_sent(etag) else None,
            charset=answer.charset_encoding or "",
        )


def _can_be_sent(etag: str | None) -> TypeGuard[str]:
    """Whether it can be a header of ours: servers send, and caches hold, anything."""
    if etag is None or len(etag) > _LONGEST_ETAG:
        return False
    return _PLAIN.fullmatch(etag) is not None


def pause_before(
    attempt: int, retry_after: float | None, base: float, chance: float
) -> float:
    """Seconds to wait after the attempt of that number, which was the first if 0.

    What the server asks for, within reason; else twice as long each time, give or take
    a quarter so that many who failed together do not come back together.
    """
    if retry_after is not None:
        return min(retry_after, _LONGEST_PAUSE)
    return base * 2.0**attempt * (1 + _JITTER * (2 * chance - 1))


def next_delay(delay: float, failure: FetchFailed) -> float:
    """Seconds between pages from now on, after a page finally failed."""
    if failure.status != _TOO_MANY:
        return delay
    if failure.retry_after is not None:
        return min(failure.retry_after, _LONGEST_PAUSE)
    return min(2 * delay, _LONGEST_DELAY)


def open_client() -> Any:
    """A client that says who it is; to be used as a context manager."""
    import httpx2

    agent = {"User-Agent": f"ubp/{__version__}", "Accept-Encoding": "gzip, identity"}
    # Time is limited as a whole, by whoever asks.
    return httpx2.AsyncClient(follow_redirects=True, timeout=None, headers=agent)

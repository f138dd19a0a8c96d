"""One page over HTTP, from a server that can be told to misbehave."""

from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from file_server import Answer, FileServer, Request, file_server

from ubp.config import FetchPatience
from ubp.packs.specs.fetching import (
    Fetcher,
    FetchFailed,
    next_delay,
    open_client,
    pause_before,
)

HASTY = FetchPatience(retry_base=0.5, timeout=30)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        server.files["/spec"] = b"<h2>A</h2>"
        yield server


@asynccontextmanager
async def fetching(
    paused: list[float], patience: FetchPatience = HASTY
) -> AsyncIterator[Fetcher]:
    async def sleep(seconds: float) -> None:
        paused.append(seconds)

    async with open_client() as client:
        yield Fetcher(client, patience, sleep=sleep, chance=lambda: 0.5)


def status(code: int, **headers: str) -> Answer:
    return lambda request: request.reply(code, b"no", **headers)


def hang_up(request: Request) -> None:
    request.close_connection = True


def half(request: Request) -> None:
    request.head(200, 1000)
    request.wfile.write(b"x" * 500)
    request.hang_up()


async def test_a_page_is_asked_for_once_by_a_program_with_a_name(
    server: FileServer,
) -> None:
    async with fetching([]) as fetcher:
        page = await fetcher.get(f"{server.url}/spec")

    assert (page.status, page.body, page.etag) == (200, b"<h2>A</h2>", '"first"')
    [(_, headers)] = server.seen
    assert headers["User-Agent"].startswith("ubp/")
    assert "If-None-Match" not in headers


@pytest.mark.parametrize("etag", ['"\xe9"', '"a\r\nX: y"', '"' + "x" * 5000 + '"', ""])
async def test_a_mark_that_cannot_be_sent_back_is_none(
    server: FileServer, etag: str
) -> None:
    async with fetching([]) as fetcher:
        page = await fetcher.get(f"{server.url}/spec", etag)
        server.tags["/spec"] = etag.partition("\r")[0] + "\xe9"
        again = await fetcher.get(f"{server.url}/spec")

    assert page.status == 200
    assert "If-None-Match" not in server.seen[0][1]
    assert again.etag is None


async def test_a_server_that_sends_us_nowhere_is_told(server: FileServer) -> None:
    server.always["/spec"] = status(302, Location="http://127.0.0.1:99999/")

    async with fetching([]) as fetcher:
        with pytest.raises(FetchFailed):
            await fetcher.get(f"{server.url}/spec")


async def test_a_page_that_did_not_change_is_not_sent_again(server: FileServer) -> None:
    async with fetching([]) as fetcher:
        page = await fetcher.get(f"{server.url}/spec", '"first"')

    assert (page.status, page.body) == (304, b"")


@pytest.mark.parametrize(
    "failures",
    [
        [status(503)],
        [status(429), status(500), status(502)],
        [hang_up],
        [half],
    ],
)
async def test_what_may_pass_is_tried_again(
    server: FileServer, failures: list[Answer]
) -> None:
    server.scripts["/spec"] = deque(failures)
    paused: list[float] = []

    async with fetching(paused) as fetcher:
        page = await fetcher.get(f"{server.url}/spec")

    assert page.body == b"<h2>A</h2>"
    assert paused == [0.5, 1.0, 2.0][: len(failures)]
    assert len(server.seen) == len(failures) + 1


async def test_a_timeout_is_tried_again(server: FileServer) -> None:
    async with fetching([], FetchPatience(retry_base=0, timeout=0)) as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await fetcher.get(f"{server.url}/spec")

    assert caught.value.passing


async def test_three_retries_are_enough(server: FileServer) -> None:
    server.always["/spec"] = status(429, Retry_After="7")
    paused: list[float] = []

    async with fetching(paused) as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await fetcher.get(f"{server.url}/spec")

    assert paused == [7.0, 7.0, 7.0]
    assert (caught.value.status, caught.value.retry_after) == (429, 7.0)
    assert len(server.seen) == 4


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410])
async def test_what_is_definite_is_not_tried_again(
    server: FileServer, code: int
) -> None:
    server.always["/spec"] = status(code)

    async with fetching([]) as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await fetcher.get(f"{server.url}/spec")

    assert caught.value.status == code
    assert len(server.seen) == 1


@pytest.mark.parametrize("url", ["ftp://a.example/x", "https://", "no address"])
async def test_an_address_that_is_none_is_told(url: str) -> None:
    async with fetching([]) as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await fetcher.get(url)

    assert not caught.value.passing


async def test_a_server_that_sends_us_in_circles_is_given_up(
    server: FileServer,
) -> None:
    server.always["/spec"] = status(302, Location="/spec")

    async with fetching([]) as fetcher:
        with pytest.raises(FetchFailed, match="circles"):
            await fetcher.get(f"{server.url}/spec")


def test_pauses_double_within_a_quarter_or_are_what_is_asked_for() -> None:
    assert [pause_before(n, None, 1.0, 0.5) for n in range(3)] == [1.0, 2.0, 4.0]
    assert pause_before(0, None, 1.0, 0.0) == 0.75
    assert pause_before(0, None, 1.0, 1.0) == 1.25
    assert pause_before(2, 0.0, 1.0, 0.5) == 0.0
    assert pause_before(0, 5000.0, 1.0, 0.5) == 60.0


@pytest.mark.parametrize(
    ("delay", "code", "asked", "then"),
    [
        (0.2, 429, 5.0, 5.0),
        (0.2, 429, None, 0.4),
        (6.0, 429, None, 10.0),
        (0.2, 500, None, 0.2),
        (0.2, 404, 9.0, 0.2),
    ],
)
def test_after_too_many_requests_pages_are_further_apart(
    delay: float, code: int, asked: float | None, then: float
) -> None:
    failure = FetchFailed("u", "x", status=code, retry_after=asked)

    assert next_delay(delay, failure) == then

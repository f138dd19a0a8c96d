"""One file over HTTP: goes on where it stopped, and checks what arrived."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ubp import __version__
from ubp.embedding.answers import announced, origin_of, pause_asked, refusal
from ubp.embedding.parts import Origin, Part
from ubp.embedding.placing import make_folder, need_room
from ubp.errors import DownloadFailed

if TYPE_CHECKING:
    from httpx2 import Client, Response

__all__ = ("Patience", "download")

_OK = 200
_PARTIAL = 206
_UNSATISFIABLE = 416


class Patience(Struct, frozen=True, kw_only=True):
    """How long to wait for what, in seconds."""

    tries: int = 6
    pause: float = 0.5
    """Before the second try; each further pause is twice as long."""
    longest_pause: float = 30.0
    """However long the server asks for."""
    connect: float = 15.0
    silence: float = 60.0
    """Without a single byte."""


class _Again(Exception):
    """This try failed in a way that the next one may not."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


def download(
    url: str,
    to: Path,
    *,
    sha256: str | None = None,
    size_hint: int = 0,
    progress: Callable[[int, int | None], None] = lambda _done, _total: None,
    patience: Patience = Patience(),  # noqa: B008 - frozen
) -> None:
    """Fetch *url* into the file *to*, which appears when it is complete and checked.

    The digest is *sha256*, or else the one the server announces, where it does.

    Raises:
        DownloadFailed: It cannot be had; what has arrived is kept for the next time.
    """
    import httpx2

    make_folder(to.parent)
    part = Part(to)
    timeout = httpx2.Timeout(patience.silence, connect=patience.connect)
    agent = {"User-Agent": f"ubp/{__version__}", "Accept-Encoding": "identity"}
    with (
        part.alone(),
        httpx2.Client(follow_redirects=True, timeout=timeout, headers=agent) as client,
    ):
        need_room(to.parent, max(0, size_hint - part.size))
        pause = patience.pause
        for left in reversed(range(patience.tries)):
            try:
                origin = _try(client, url, part, progress)
            except _Again as failure:
                if not left:
                    raise _gave_up(to.name, str(failure)) from failure.__cause__
                asked = pause if failure.pause is None else failure.pause
                time.sleep(min(asked, patience.longest_pause))
                pause *= 2
            else:
                _check(part, sha256 or origin.sha256)
                part.finish()
                return


def _gave_up(name: str, reason: str) -> DownloadFailed:
    hint = "See whether the network is there, then try again: it goes on from here."
    return DownloadFailed(f"{name} could not be fetched.", cause=reason, hint=hint)


def _try(
    client: "Client",
    url: str,
    part: Part,
    progress: Callable[[int, int | None], None],
) -> Origin:
    import httpx2

    known = part.origin(url)
    if known is not None and known.total == part.size:
        return known  # all of it had arrived when we were stopped
    headers = {}
    if known is not None:
        headers = {"Range": f"bytes={part.size}-", "If-Range": known.validator}
    try:
        with client.stream("GET", url, headers=headers) as response:
            origin = _accept(response, url, part, known)
            _receive(response, part, origin, progress)
    except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise DownloadFailed(
            "The address to download from cannot be used.",
            cause=f"{error}.",
            hint="Correct HF_ENDPOINT, or unset it.",
        ) from None
    except httpx2.TooManyRedirects:
        raise DownloadFailed("The server sends us in circles.") from None
    except httpx2.TransportError as error:
        raise _Again(f"{type(error).__name__}: {error}.") from error
    except OSError as error:
        raise DownloadFailed(
            f"{part.target.name} cannot be written.", cause=f"{error.strerror}."
        ) from error
    return origin


def _accept(response: "Response", url: str, part: Part, known: Origin | None) -> Origin:
    """Decide what the answer is: the rest, the whole, or nothing of use."""
    status = response.status_code
    steps = (*response.history, response)
    # Also on the way: whoever reads along may send us on to what he likes.
    if url.startswith("https:") and any(each.url.scheme != "https" for each in steps):
        raise DownloadFailed("The server sends us on without encryption.")
    if status == _UNSATISFIABLE or (
        known is not None and announced(response, url) not in {"", known.sha256}
    ):  # another file than the one we have a part of
        part.discard()
        raise _Again("The file changed on the server.", 0)
    if status == _PARTIAL and known is not None:
        start = f"bytes {part.size}-"
        if response.headers.get("Content-Range", "").startswith(start):
            return known
        part.discard()
        raise _Again("The server sent another part than was asked for.", 0)
    if status != _OK:
        failure = refusal(response, part.target.name)
        if failure is not None:
            raise failure
        raise _Again(f"The server answered {status}.", pause_asked(response))
    origin = origin_of(response, url)
    need_room(part.target.parent, origin.total or 0)
    part.begin(origin)
    return origin


def _receive(
    response: "Response",
    part: Part,
    origin: Origin,
    progress: Callable[[int, int | None], None],
) -> None:
    done = part.size
    progress(done, origin.total)
    with part.path.open("ab") as file:
        for block in response.iter_raw():
            file.write(block)
            done += len(block)
            progress(done, origin.total)
    if origin.total is not None and done < origin.total:
        raise _Again(f"The connection ended after {done} of {origin.total} bytes.")


def _check(part: Part, sha256: str) -> None:
    if sha256 and part.digest() != sha256.lower():
        part.discard()
        raise DownloadFailed(
            f"{part.target.name} arrived damaged, and was deleted.",
            cause="Its digest is not the one that was announced.",
            hint="Try again; if it happens again, the server or a proxy is at fault.",
        )

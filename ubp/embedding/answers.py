"""What the answer of a file server means: what it sends, or why it does not."""

import re
from typing import TYPE_CHECKING

from ubp.embedding.parts import Origin
from ubp.errors import DownloadFailed
from ubp.retry_after import seconds_asked

if TYPE_CHECKING:
    from httpx2 import Response

__all__ = ("announced", "origin_of", "pause_asked", "refusal")

_SHA256 = re.compile("[0-9a-f]{64}")
_TRANSIENT = {408, 425, 429}
_SERVER_ERROR = 500
_GONE = {404, 410}
_FORBIDDEN = {401, 403}


def announced(response: "Response", url: str) -> str:
    """The SHA-256 the server at *url* itself announced, or nothing.

    The hub sends us on to a cache; it alone is believed, in its own answers on the way.
    """
    import httpx2

    host = httpx2.URL(url).host
    for answer in (*response.history, response):
        if answer.url.host != host:
            continue
        for header in ("X-Linked-ETag", "ETag"):
            value = answer.headers.get(header, "").strip('"').lower()
            if _SHA256.fullmatch(value):
                return value
    return ""


def origin_of(response: "Response", url: str) -> Origin:
    """What is being sent, so that the rest of it can be asked for later."""
    tag = response.headers.get("ETag", "")
    # A weak tag says that files are alike, not that their bytes are the same.
    strong = "" if tag.startswith("W/") else tag
    length = response.headers.get("Content-Length", "")
    return Origin(
        url=url,
        validator=strong or response.headers.get("Last-Modified", ""),
        sha256=announced(response, url),
        total=int(length) if length.isascii() and length.isdigit() else None,
    )


def pause_asked(response: "Response") -> float | None:
    """How long the server asks us to wait, if it does."""
    return seconds_asked(response.headers.get("Retry-After", ""))


def refusal(response: "Response", name: str) -> DownloadFailed | None:
    """The error the answer means; ``None`` if another try may help."""
    status = response.status_code
    if status in _TRANSIENT or status >= _SERVER_ERROR:
        return None
    host = response.url.host
    if status in _GONE:
        return DownloadFailed(
            f"{name} is not there.",
            cause=f"{host} answered {status}: it has no such file.",
            hint="Look for a GGUF file of the model, and `ubp model use FILE.gguf`.",
        )
    if status in _FORBIDDEN:
        return DownloadFailed(
            f"{name} may not be fetched without permission.",
            cause=f"{host} answered {status}.",
            hint="Download it in a browser, then run `ubp model use FILE.gguf`.",
        )
    return DownloadFailed(
        f"{name} could not be fetched.", cause=f"{host} answered {status}."
    )

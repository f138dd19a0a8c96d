"""Vectors from an embedding service over HTTP, in the style of Voyage.

A request names its texts, its model and its role: ``query`` or ``document``, which such
models embed differently. What may pass - too many requests, a fault of the service, no
connection - is tried three times in all, after one second and after two, or as long as
the service asks for, within reason. Anything else is definite and is told at once.

The key goes into one header of requests to the one address, and nowhere else.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from ubp.errors import EmbeddingServiceFailed, shortened
from ubp.retry_after import seconds_asked

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

__all__ = ("AT_ONCE", "RemoteEmbedder", "Role", "TextsRefused")

Role = Literal["query", "document"]

AT_ONCE = 128
"""Texts of one request."""

_PAUSES = (1.0, 2.0)
"""Seconds before the second and the third attempt."""

_BETWEEN = 0.1
"""Seconds between two requests with documents."""

_LONGEST_PAUSE = {"query": 3.0, "document": 30.0}
"""Seconds we wait at most because the service asks for it."""

_SILENCE = {"query": 3.0, "document": 60.0}
"""Seconds without a word from the service after which a request has failed."""

_BUDGET = {"query": 7.5, "document": 200.0}
"""Seconds within which the last attempt must have ended: a search waits for eight."""

_PASSING = frozenset({408, 425, 429})
_OURS = frozenset({401, 402, 403, 404, 405, 407})
"""Answers that concern the key or the address, and no text."""

_HARMLESS = "ubp"
"""A text no service can object to: if it does, the fault is not in other texts."""


class TextsRefused(Exception):
    """The service cannot take these texts; the message is its own."""


class _Vector(Struct, frozen=True):
    embedding: list[float]
    index: int = -1


class _Answer(Struct, frozen=True):
    data: list[_Vector]


class RemoteEmbedder:
    """Asks one service for vectors of one model; for one thread."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        *,
        dimension: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        import httpx2

        self._url = url
        self._model = model
        self._key = key
        self._dimension = dimension
        self._sleep = sleep
        self._clock = clock
        self._last = -_BETWEEN
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # No redirects: the key is meant for this address alone.
        self._client = httpx2.Client(headers=headers, follow_redirects=False)

    def close(self) -> None:
        self._client.close()

    def vectors(self, texts: Sequence[str], role: Role) -> "NDArray[np.float32]":
        """A vector for each of *texts*, a line each.

        Raises:
            EmbeddingServiceFailed: The service cannot be used at the moment, or at all.
            TextsRefused: It cannot take one of these texts.
        """
        import numpy as np

        made = [
            self._batch(texts[start : start + AT_ONCE], role)
            for start in range(0, len(texts), AT_ONCE)
        ]
        return np.concatenate(made)

    def _batch(self, texts: Sequence[str], role: Role) -> "NDArray[np.float32]":
        if role == "document":
            wait = self._last + _BETWEEN - self._clock()
            if wait > 0:
                self._sleep(wait)
        try:
            return self._asked(texts, role)
        except TextsRefused:
            if list(texts) != [_HARMLESS] and role == "document":
                # If even this is refused, it is not for want of good texts.
                self._checked()
            raise
        finally:
            self._last = self._clock()

    def _checked(self) -> None:
        try:
            self._asked([_HARMLESS], "document")
        except TextsRefused as error:
            raise self._failure(str(error)) from None

    def _asked(self, texts: Sequence[str], role: Role) -> "NDArray[np.float32]":
        body: dict[str, Any] = {
            "input": list(texts),
            "model": self._model,
            "input_type": role,
        }
        if self._dimension is not None:
            body["output_dimension"] = self._dimension
        response = self._posted(body, role)
        if response.status_code >= 300:  # noqa: PLR2004 - what HTTP calls success ends
            said = self._said(response)
            ours = response.status_code in _OURS or response.status_code < 400  # noqa: PLR2004
            if ours:
                raise self._failure(said)
            raise TextsRefused(said)
        return self._understood(response.content, len(texts))

    def _posted(self, body: dict[str, Any], role: Role) -> "httpx2.Response":
        """The answer of the service, once it is one that does not pass."""
        import httpx2

        begin, said = self._clock(), ""
        content = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        for pause in (*_PAUSES, None):
            asked_for = 0.0
            try:
                response = self._client.post(
                    self._url, content=content, headers=headers, timeout=_SILENCE[role]
                )
            except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
                raise self._failure(f"{error}") from None
            except httpx2.LocalProtocolError:
                # What it says repeats the header, and the key in a form of its own.
                raise self._failure("The request cannot be sent over HTTP") from None
            except httpx2.RequestError as error:
                said = f"{type(error).__name__}: {error}"
            else:
                status = response.status_code
                if status < 500 and status not in _PASSING:  # noqa: PLR2004
                    return response
                said = self._said(response)
                asked_for = (
                    seconds_asked(response.headers.get("Retry-After", "")) or 0.0
                )
            if pause is None:
                break
            wait = max(pause, min(asked_for, _LONGEST_PAUSE[role]))
            if self._clock() + wait + _SILENCE[role] - begin > _BUDGET[role]:
                break
            self._sleep(wait)
        raise self._failure(said)

    def _understood(self, content: bytes, count: int) -> "NDArray[np.float32]":
        import numpy as np

        try:
            found = msgspec.json.decode(content, type=_Answer).data
            if all(each.index >= 0 for each in found):
                found = sorted(found, key=lambda each: each.index)
            made = np.array([each.embedding for each in found], np.float32)
        except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
            raise self._failure(f"It answered what is no embedding: {error}") from None
        wanted = self._dimension or (made.shape[1] if made.ndim == 2 else 0)  # noqa: PLR2004
        if made.shape != (count, wanted) or not wanted or not np.isfinite(made).all():
            raise self._failure(
                f"It answered with vectors of shape {made.shape} for {count} texts"
            )
        if not made.any(axis=1).all():
            raise TextsRefused("It made a vector without a direction for a text")
        return made

    def _said(self, response: "httpx2.Response") -> str:
        """What the service says of a failure, without the key should it repeat it."""
        text = response.text
        try:
            told = msgspec.json.decode(text.encode(), type=dict[str, Any])
            text = str(told.get("detail") or told.get("error") or told.get("message"))
        except msgspec.MsgspecError:
            pass
        text = " ".join(self._hidden(text).split())
        return f"HTTP {response.status_code}: {shortened(text)}"

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "…") if self._key else text

    def _failure(self, said: str) -> EmbeddingServiceFailed:
        return EmbeddingServiceFailed(self._hidden(said))

"""What was fetched, kept on disk: a page and what its server said of it."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from ubp.atomic_files import write_bytes
from ubp.errors import NoRoom

__all__ = ("Cached", "PageCache")


class Cached(Struct, frozen=True, kw_only=True):
    """A page as it was received."""

    body: bytes
    etag: str | None
    charset: str


class _About(Struct, frozen=True, kw_only=True, rename="camel"):
    url: str
    etag: str | None
    fetched_at: str
    charset: str = ""
    digest: str = ""
    """Of the body: what was written by halves is not taken for a page."""


class PageCache:
    """A folder with two files for each page: its body, and what is known of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, url: str) -> Cached | None:
        """The page that was at *url* last; None if there is none, or not whole."""
        body_file, about_file = self._files(url)
        try:
            about = msgspec.json.decode(about_file.read_bytes(), type=_About)
            body = body_file.read_bytes()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        if about.url != url or about.digest != hashlib.sha256(body).hexdigest():
            return None
        return Cached(body=body, etag=about.etag, charset=about.charset)

    def put(self, url: str, page: Cached) -> None:
        """Keep *page* for the next time.

        Raises:
            NoRoom: The disk is full, or refuses.
        """
        body_file, about_file = self._files(url)
        about = _About(
            url=url,
            etag=page.etag,
            fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
            charset=page.charset,
            digest=hashlib.sha256(page.body).hexdigest(),
        )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_bytes(body_file, page.body)
            write_bytes(about_file, msgspec.json.encode(about))
        except OSError as error:
            raise NoRoom(
                "A page of a specification could not be kept in .ubp/cache.",
                cause=f"{error.strerror or type(error).__name__}.",
                hint="Make room, and run the command again.",
            ) from error

    def _files(self, url: str) -> tuple[Path, Path]:
        key = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:16]
        return self._folder / f"{key}.body", self._folder / f"{key}.json"

"""Where the pages of a document are: on the network or on this disk.

A source lists pages and says where each is. Both kinds have the same shape, so that a
copy on disk can stand for the real thing.
"""

import os
import posixpath
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from ubp.errors import shortened
from ubp.packs.specs.addresses import without_secrets
from ubp.packs.specs.failures import SourceFailed
from ubp.packs.specs.fetching import FetchFailed
from ubp.packs.specs.languages import Document
from ubp.packs.specs.manifests import in_index, in_listing, in_manifest, stays_inside
from ubp.packs.specs.page_text import decoded

__all__ = ("DiskSource", "PageAt", "Source", "WebSource", "source_of")

_PAGES = (".md", ".html", ".htm")
_INDEX = "index.html"

_CHAPTERS_APART = 0.2
_FILES_APART = 0.1
"""Seconds between two pages: nobody is in a hurry for a specification."""

_LARGEST = 64 * 1024 * 1024

Read = Callable[[str], Awaitable[bytes]]
"""What is at an address, whatever it was before."""


class PageAt(NamedTuple):
    """A page: its path in the document, and where it is."""

    path: str
    url: str


class Source(Struct, frozen=True, kw_only=True):
    """What the two kinds have in common."""

    document: Document
    told: str
    """What ``list_versions`` says of where a snapshot came from."""
    single: bool
    """Whether it is one HTML page, which is cited without a name."""

    def published(self, page: PageAt) -> str:
        """The address of a page of a document that names no base for its citations."""
        document = self.document
        if document.url:
            url = document.url if self.single else urljoin(document.url, page.path)
            return without_secrets(url)
        if document.repo:
            return without_secrets(f"{_repository(document)}/{quote(page.path)}")
        return page.url


class WebSource(Source, frozen=True, kw_only=True):
    """Pages behind HTTP."""

    root: str
    """The page, the index page, or the folder of the files, with a slash at its end."""

    @property
    def delay(self) -> float:
        chapters = self.document.strategy == "multi-html-toc"
        return _CHAPTERS_APART if chapters else _FILES_APART

    async def pages(self, read: Read) -> list[PageAt]:
        """The pages, in order.

        Raises:
            SourceFailed: What lists them cannot be had, or lists none.
        """
        document = self.document
        if document.strategy == "single-html":
            name = posixpath.basename(urlsplit(self.root).path.rstrip("/"))
            return [PageAt(name or "index", self.root)]
        try:
            names = await self._names(read)
        except FetchFailed as error:
            raise SourceFailed(
                f"The list of pages of {document.language} ({document.doc}) "
                f"could not be had: {error}.",
                cause=f"{without_secrets(error.url)} was asked for.",
            ) from None
        if not names:
            raise _no_pages(document, self.told)
        return [PageAt(name, urljoin(self.root, quote(name))) for name in names]

    async def _names(self, read: Read) -> list[str]:
        document = self.document
        if document.strategy == "multi-html-toc":
            return in_index(decoded(await read(self.root)), document.pages)
        if document.manifest:
            listed = await read(urljoin(self.root, quote(document.manifest)))
            names = in_manifest(decoded(listed), document.manifest)
            return [name for name in names if stays_inside(name)]
        folder = quote(document.folder.strip("/"))
        api = document.api_url.rstrip("/")
        url = f"{api}/repos/{document.repo}/contents/{folder}"
        try:
            names = in_listing(await read(url))
        except ValueError as error:
            raise FetchFailed(url, f"it is no listing of a folder: {error}") from None
        return [name for name in names if "/" not in name and stays_inside(name)]


class DiskSource(Source, frozen=True, kw_only=True):
    """Pages in files."""

    path: Path

    def contents(self, page: PageAt) -> bytes:
        """The bytes of a page.

        Raises:
            FetchFailed: It is not there, or not inside of the source.
        """
        file = self.path if self.path.is_file() else self.path / page.path
        inside = Path(os.path.realpath(file)).is_relative_to(_folder(self.path))
        if not inside or not stays_inside(page.path):
            raise FetchFailed(page.url, "it is not inside the folder of the source")
        try:
            if not file.is_file():
                raise FetchFailed(page.url, "there is no such file")
            if file.stat().st_size > _LARGEST:
                raise FetchFailed(page.url, f"it has more than {_LARGEST:,} bytes")
            return file.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise FetchFailed(page.url, f"it cannot be read: {reason}") from None

    def pages(self) -> list[PageAt]:
        """The pages, in order.

        Raises:
            SourceFailed: There is nothing at the path, or no page.
        """
        names = self._names()
        if not names:
            raise _no_pages(self.document, self.told)
        return [PageAt(name, self._address(name)) for name in names]

    def _address(self, name: str) -> str:
        file = self.path if self.path.is_file() else self.path / name
        return Path(os.path.abspath(file)).as_uri()  # noqa: PTH100 - links stay links

    def _names(self) -> list[str]:
        document, path = self.document, self.path
        if path.is_file():
            return [path.name]
        if document.strategy == "single-html":
            return [_INDEX]
        if document.strategy == "multi-html-toc":
            if not (path / _INDEX).is_file():
                return self._chapters()
            return in_index(self._listed(_INDEX), document.pages)
        if document.manifest:
            return in_manifest(self._listed(document.manifest), document.manifest)
        if document.strategy == "github-markdown":
            return sorted(file.name for file in path.glob("*.md") if file.is_file())
        return _below(path)

    def _chapters(self) -> list[str]:
        """The chapters of a folder without an index, ``jls-9`` before ``jls-10``."""
        found = [file.name for file in self.path.iterdir() if file.is_file()]
        wanted = re.compile(self.document.pages)
        return sorted(filter(wanted.fullmatch, found), key=_as_people_count)

    def _listed(self, name: str) -> str:
        try:
            return decoded(self.contents(PageAt(name, self._address(name))))
        except FetchFailed as error:
            raise SourceFailed(
                f"{name} of {self.document.language} ({self.document.doc}) "
                f"could not be read: {error}.",
                cause="It lists the pages of the document.",
                hint="Give the folder that holds it.",
            ) from None


def source_of(
    document: Document, place: str | None, root: Path, here: Path
) -> WebSource | DiskSource:
    """Where to read *document* from: *place* if given, else as its settings say.

    A *place* on disk is relative to *here*, one of the settings to the project's root.

    Raises:
        SourceFailed: There is nothing there.
    """
    if place is not None and _is_address(place):
        return _on_the_web(document, place)
    if place is not None and "://" in place:
        raise SourceFailed(
            f"{document.language} ({document.doc}) cannot be read from "
            f"{shortened(place)}.",
            cause="Only http and https addresses can be fetched.",
            hint="Give such an address, or a path.",
        )
    if place is not None:
        return _on_disk(document, here / Path(place).expanduser())
    if document.path:
        return _on_disk(document, root / Path(document.path).expanduser())
    return _on_the_web(document, document.url)


def _on_disk(document: Document, path: Path) -> DiskSource:
    try:
        found = path.exists()
    except (OSError, ValueError):
        found = False
    if not found:
        raise SourceFailed(
            f"There is nothing to read {document.language} ({document.doc}) from: "
            f"{path.name}.",
            cause="The path does not exist.",
            hint="Give a file, or the folder that holds the pages.",
        )
    is_file = path.is_file()
    return DiskSource(
        document=document,
        told=Path(os.path.abspath(path)).as_uri(),  # noqa: PTH100 - links stay links
        single=(is_file and path.suffix.lower() != ".md")
        or document.strategy == "single-html",
        path=path,
    )


def _on_the_web(document: Document, url: str) -> WebSource:
    told, root = url, url
    if document.strategy == "local":
        raise SourceFailed(
            f"{document.language} ({document.doc}) is read from disk.",
            cause="Its strategy is local, and an address was given.",
            hint="Give a path.",
        )
    if document.strategy == "github-markdown":
        told = url or f"github:{document.repo}"
        root = f"{(url or _repository(document)).rstrip('/')}/"
    try:
        told = without_secrets(told)
        for each in (root, document.url, document.api_url, document.raw_url):
            _ = urlsplit(each).port  # looks at the whole address
    except ValueError as error:
        raise SourceFailed(
            f"{document.language} ({document.doc}) has an address that is none.",
            cause=f"{error}.",
            hint="Look at --from, or at url, raw_url and api_url of the source.",
        ) from None
    single = document.strategy == "single-html"
    return WebSource(document=document, told=told, single=single, root=root)


def _repository(document: Document) -> str:
    """Where the files of a document in a repository are."""
    folder = quote(document.folder.strip("/"))
    root = f"{document.raw_url.rstrip('/')}/{document.repo}/HEAD"
    return f"{root}/{folder}" if folder else root


def _is_address(place: str) -> bool:
    return place.lower().startswith(("http://", "https://"))


def _folder(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return real.parent if real.is_file() else real


def _below(folder: Path) -> list[str]:
    """The pages in *folder* and below, by path; links to folders are not followed."""
    found: list[str] = []
    for parent, folders, files in os.walk(folder):
        folders.sort()
        where = Path(parent).relative_to(folder)
        found += [
            (where / name).as_posix()
            for name in files
            if Path(name).suffix.lower() in _PAGES
        ]
    return sorted(found)


def _as_people_count(name: str) -> list[tuple[int, str]]:
    """To sort by: numbers as numbers."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in re.split(r"(\d+)", name)
    ]


def _no_pages(document: Document, where: str) -> SourceFailed:
    return SourceFailed(
        f"{document.language} ({document.doc}) has no pages.",
        cause=f"{where} lists none.",
        hint="See manifest, pages and folder of the source; docs/specs.md.",
    )

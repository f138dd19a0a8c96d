"""Whole runs: from disk, and from a server that misbehaves."""

import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_server import Answer, FileServer, Request, file_server
from vaults import vault, write_files

from ubp.actors.wiring import writable
from ubp.config import FetchPatience, Settings
from ubp.packs.specs import ingesting, queries
from ubp.packs.specs.ingesting import DocumentReport, Ingested, Run, ingest
from ubp.packs.specs.languages import Document, Strategy, language
from ubp.packs.specs.writes import store
from ubp.project import Project

AT_ONCE = FetchPatience(retry_base=0, page_delay=0)
BOTH = pytest.mark.parametrize("strategy", ["multi-html-toc", "github-markdown"])


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return vault(tmp_path / "project", {"docs/a.md": "# A\n"})


async def run(
    project: Project, document: Document, day: int = 1, place: str | None = None
) -> Ingested:
    told = Run(
        when=datetime(2026, 1, day, tzinfo=UTC),
        patience=AT_ONCE,
        here=project.root,
        place=place,
    )
    async with writable(project) as session:
        return await ingest(project, session, document, told, lambda _, __: None)


async def report(*args: Any, **more: Any) -> DocumentReport:
    done = await run(*args, **more)
    assert done.error is None, done.report
    return done.report


async def texts(project: Project) -> dict[str, str]:
    """Title -> text of the newest snapshot."""
    async with writable(project) as session:
        newest = await session.run(queries.newest, "demo", "demo-spec")
        assert newest is not None
        found = await session.run(queries.stored_sections, newest.id)
    return {each.row.title: each.row.fulltext for each in found}


class Book:
    """A document of three pages behind HTTP."""

    def __init__(self, server: FileServer, strategy: Strategy) -> None:
        self.server, self.html = server, strategy == "multi-html-toc"
        self.numbers = [1, 2, 3]
        place: dict[str, Any] = (
            {"url": f"{server.url}/book/index.html"}
            if self.html
            else {
                "repo": "acme/demo",
                "folder": "src",
                "manifest": "SUMMARY.md",
                "raw_url": f"{server.url}/raw",
            }
        )
        self.document = Document(
            language="demo", doc="demo-spec", title="Demo", strategy=strategy, **place
        )
        self.publish()
        for number in self.numbers:
            self.write(number, f"First words {number}.")

    def path(self, number: int) -> str:
        if self.html:
            return f"/book/jls-{number}.html"
        return f"/raw/acme/demo/HEAD/src/page{number}.md"

    def publish(self) -> None:
        if self.html:
            links = "".join(f'<a href="jls-{n}.html">x</a>' for n in self.numbers)
            self.server.files["/book/index.html"] = links.encode()
        else:
            lines = "".join(f"- [x](page{n}.md)\n" for n in self.numbers)
            self.server.files["/raw/acme/demo/HEAD/src/SUMMARY.md"] = lines.encode()

    def write(self, number: int, words: str) -> None:
        text = (
            f"<h2>Page {number}</h2><p>{words}</p>"
            if self.html
            else f"# Page {number}\n\n{words}\n"
        )
        self.server.files[self.path(number)] = text.encode()
        self.server.tags[self.path(number)] = f'"{number}-{words}"'

    def asked(self, number: int) -> dict[str, str]:
        """The headers of the last request for a page."""
        return [h for path, h in self.server.seen if path == self.path(number)][-1]


def status(code: int) -> Answer:
    return lambda request: request.reply(code, b"no")


def hang_up(request: Request) -> None:
    request.close_connection = True


@BOTH
async def test_a_run_on_unchanged_pages_fetches_and_changes_nothing(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)

    first = await report(project, book.document)
    second = await report(project, book.document, day=2)

    assert (first.total, first.fetched, first.inserted) == (3, 3, 3)
    assert (second.fetched, second.cached, second.unchanged) == (0, 3, 3)
    assert (second.version, second.previous_version) == ("snapshot-20260101",) * 2


@BOTH
async def test_one_changed_page_makes_a_complete_snapshot(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    book.write(2, "Second words.")

    done = await report(project, book.document, day=2)

    assert (done.version, done.fetched, done.cached) == ("snapshot-20260102", 1, 2)
    assert (done.updated, done.unchanged) == (1, 2)
    assert await texts(project) == {
        "Page 1": "First words 1.",
        "Page 2": "Second words.",
        "Page 3": "First words 3.",
    }


@BOTH
@pytest.mark.parametrize("answer", [status(404), status(500), hang_up])
async def test_a_page_that_cannot_be_had_is_carried_over(
    server: FileServer, project: Project, strategy: Strategy, answer: Answer
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    book.write(1, "New words.")
    server.always[book.path(3)] = answer

    done = await report(project, book.document, day=2)

    assert (done.fetched, done.cached, done.failed, done.carried_over) == (1, 1, 1, 1)
    assert [each.url for each in done.failed_pages] == [server.url + book.path(3)]
    assert (await texts(project))["Page 3"] == "First words 3."
    server.always.clear()
    book.write(3, "Back again.")
    await report(project, book.document, day=2)
    assert (await texts(project))["Page 3"] == "Back again."


@BOTH
async def test_a_server_that_dies_half_way_leaves_what_there_was(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    before = await texts(project)
    for number in book.numbers:
        server.always[book.path(number)] = hang_up

    done = await run(project, book.document, day=2)

    assert done.error is not None
    assert done.error.code == "specs.source_failed"
    assert done.report.version == "snapshot-20260101"
    assert await texts(project) == before


@BOTH
@pytest.mark.parametrize("answer", [status(429), status(503), hang_up])
async def test_a_server_that_fails_page_after_page_is_left_in_peace(
    server: FileServer, project: Project, strategy: Strategy, answer: Answer
) -> None:
    book = Book(server, strategy)
    book.numbers = [1, 2, 3, 4, 5, 6]
    book.publish()
    for number in book.numbers:
        book.write(number, f"Words {number}.")
    await report(project, book.document)
    book.write(1, "New words.")
    server.seen.clear()
    for number in book.numbers[1:]:
        server.always[book.path(number)] = answer

    done = await report(project, book.document, day=2)

    asked = {path for path, _ in server.seen}
    assert [number for number in book.numbers if book.path(number) in asked] == [
        1,
        2,
        3,
        4,
    ]
    assert (done.total, done.fetched, done.failed, done.carried_over) == (6, 1, 5, 5)
    assert [each.url for each in done.failed_pages] == [
        server.url + book.path(number) for number in book.numbers[1:]
    ]


@BOTH
async def test_pages_that_are_missing_do_not_keep_others_from_being_asked_for(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)
    book.numbers = [1, 2, 3, 4, 5]
    book.publish()
    book.write(5, "The only one.")
    for number in (1, 2, 3):
        del server.files[book.path(number)]

    done = await report(project, book.document)

    assert (done.fetched, done.failed) == (1, 4)


@BOTH
async def test_without_its_list_of_pages_a_document_stays_as_it_is(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    book.numbers = []
    book.publish()

    done = await run(project, book.document, day=2)

    assert done.error is not None
    assert len(await texts(project)) == 3


@BOTH
async def test_a_page_that_is_no_longer_listed_is_dropped(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    book.numbers = [3, 1]
    book.publish()

    done = await report(project, book.document, day=2)

    assert done.removed == 1
    assert list(await texts(project)) == ["Page 3", "Page 1"]


@BOTH
async def test_what_only_the_cache_has_is_stored_all_the_same(
    server: FileServer, project: Project, strategy: Strategy
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    for leftover in project.derived.glob("*.db*"):
        leftover.unlink()

    done = await report(project, book.document)

    assert done.inserted == 3
    assert "If-None-Match" not in book.asked(1)


async def test_pages_that_were_fetched_before_a_run_was_killed_are_stored_by_the_next(
    server: FileServer, project: Project
) -> None:
    book = Book(server, "github-markdown")
    await report(project, book.document)
    database = project.database.read_bytes()
    book.write(1, "New words.")
    await report(project, book.document, day=2)
    for leftover in project.derived.glob("*.db*"):
        leftover.unlink()
    project.database.write_bytes(database)  # as if it had not come to storing

    done = await report(project, book.document, day=2)

    assert (done.fetched, done.cached, done.updated) == (0, 3, 1)
    assert (await texts(project))["Page 1"] == "New words."


async def test_pages_that_say_nothing_do_not_replace_a_snapshot(
    server: FileServer, project: Project
) -> None:
    book = Book(server, "multi-html-toc")
    await report(project, book.document)
    for number in book.numbers:
        server.files[book.path(number)] = b"<html></html>"
        server.tags[book.path(number)] = '"empty"'

    done = await run(project, book.document, day=2)

    assert done.error is not None
    assert len(await texts(project)) == 3


@BOTH
@pytest.mark.parametrize("said", [b"", b"<!DOCTYPE html><html></html>"])
async def test_a_page_with_nothing_on_it_does_not_replace_what_there_was(
    server: FileServer, project: Project, strategy: Strategy, said: bytes
) -> None:
    book = Book(server, strategy)
    await report(project, book.document)
    server.files[book.path(2)] = said
    server.tags[book.path(2)] = '"odd"'
    book.write(3, "New words.")

    done = await report(project, book.document, day=2)

    assert (done.fetched, done.cached, done.failed) == (1, 1, 1)
    assert done.carried_over == 1
    found = await texts(project)
    assert (found["Page 2"], found["Page 3"]) == ("First words 2.", "New words.")

    book.write(2, "Back again.")
    await report(project, book.document, day=3)
    assert (await texts(project))["Page 2"] == "Back again."


async def test_a_passing_failure_is_not_noticed(
    server: FileServer, project: Project
) -> None:
    book = Book(server, "multi-html-toc")
    server.scripts[book.path(2)] = deque([status(503), status(429), hang_up])

    done = await report(project, book.document)

    assert (done.fetched, done.failed) == (3, 0)


async def test_a_folder_is_listed_where_there_is_no_manifest(
    server: FileServer, project: Project
) -> None:
    document = Document(
        language="demo",
        doc="demo-spec",
        title="Demo",
        strategy="github-markdown",
        repo="acme/demo",
        folder="docs/en",
        raw_url=f"{server.url}/raw",
        api_url=f"{server.url}/api",
    )
    listing = (
        b'[{"type":"file","name":"Everyday Types.md"},{"type":"file","name":"x.svg"}]'
    )
    server.files["/api/repos/acme/demo/contents/docs/en"] = listing
    server.files["/raw/acme/demo/HEAD/docs/en/Everyday%20Types.md"] = (
        b"# Everyday\n\nx\n"
    )

    assert (await report(project, document)).total == 1
    server.files["/api/repos/acme/demo/contents/docs/en"] = b'{"message": "no"}'
    assert (await run(project, document, day=2)).error is not None


FILES = {
    "SUMMARY.md": "- [Z](z.md)\n- [A](sub/a.md)\n- [Out](../secret.md)\n- [Gone](gone.md)\n",
    "z.md": "# Z\n\nLast letter.\n",
    "sub/a.md": "# A\n\nFirst letter.\n",
    "page.html": "<h2 id=h>H</h2><p>Text.</p>",
}


def local(**more: Any) -> Document:
    return Document(
        language="demo", doc="demo-spec", title="Demo", strategy="local", **more
    )


async def test_a_folder_on_disk_is_read_by_path_or_by_manifest_and_no_further(
    project: Project, tmp_path: Path
) -> None:
    write_files(tmp_path / "source", FILES)
    write_files(tmp_path, {"secret.md": "# Secret\n"})
    (tmp_path / "source" / "link.md").symlink_to(tmp_path / "secret.md")
    place = str(tmp_path / "source")

    everything = await report(project, local(path=place))

    assert list(await texts(project)) == ["SUMMARY", "H", "A", "Z"]
    assert [each.url.rpartition("/")[2] for each in everything.failed_pages] == [
        "link.md"
    ]

    listed = await report(project, local(path=place, manifest="SUMMARY.md"), day=2)

    assert list(await texts(project)) == ["Z", "A"]
    assert (listed.fetched, listed.failed) == (2, 2)


async def test_a_folder_of_chapters_without_an_index_is_read_by_number(
    project: Project,
) -> None:
    names = ("jls-2", "jls-10", "jls-1", "other")
    pages = {f"java/{n}.html": f"<h2 id={n}>{n}</h2>" for n in names}
    write_files(project.root, pages)
    java = language(Settings(), "java").document(None)

    await report(project, java, place=str(project.root / "java"))

    async with writable(project) as session:
        newest = await session.run(queries.newest, "java", "jls")
        assert newest is not None
        found = await session.run(queries.placed, newest.id)
    assert [each.section_id for each in found] == ["jls-1", "jls-2", "jls-10"]


async def test_one_file_is_a_document_cited_with_its_base(
    project: Project, tmp_path: Path
) -> None:
    write_files(tmp_path, FILES)
    go = language(Settings(), "go").document(None)

    done = await report(project, go, place=str(tmp_path / "page.html"))

    assert done.source_url.startswith("file://")
    async with writable(project) as session:
        newest = await session.run(queries.newest, "go", "go-spec")
        assert newest is not None
        [only] = await session.run(queries.placed, newest.id)
    assert only.url == "https://go.dev/ref/spec#h"


@pytest.mark.parametrize(
    "document",
    [
        local(path="nowhere"),
        local(path="docs", manifest="SUMMARY.md"),
        local(path="\0"),
        local(path="empty"),
        Document(
            language="demo", doc="d", title="D", strategy="multi-html-toc", path="docs"
        ),
    ],
)
async def test_a_place_without_pages_is_told(
    project: Project, document: Document
) -> None:
    (project.root / "empty").mkdir()

    done = await run(project, document)

    assert done.error is not None
    assert done.error.code == "specs.source_failed"


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999/x", "http://"])
async def test_an_address_that_is_none_is_told(project: Project, url: str) -> None:
    go = language(Settings(), "go").document(None)

    done = await run(project, go, place=url)

    assert done.error is not None
    assert done.error.code == "specs.source_failed"


async def test_a_password_in_an_address_is_used_and_not_shown(
    server: FileServer, project: Project
) -> None:
    server.files["/spec"] = b"<h2 id=a>A</h2>"
    url = server.url.replace("://", "://user:secret@") + "/spec"
    document = Document(
        language="demo", doc="d", title="D", strategy="single-html", url=url
    )

    done = await report(project, document)

    assert done.source_url == f"{server.url}/spec"
    assert "Authorization" in server.seen[-1][1]
    async with writable(project) as session:
        newest = await session.run(queries.newest, "demo", "d")
        assert newest is not None
        [only] = await session.run(queries.placed, newest.id)
    assert only.url == f"{server.url}/spec#a"


async def test_only_pages_behind_http_are_fetched(project: Project) -> None:
    go = language(Settings(), "go").document(None)

    done = await run(project, go, place="ftp://a.example/spec")

    assert done.error is not None
    assert "http" in done.error.cause


async def test_an_address_is_no_place_for_what_is_read_from_disk(
    project: Project,
) -> None:
    done = await run(project, local(path="docs"), place="https://a.example/x")

    assert done.error is not None


@pytest.mark.skipif(sys.platform != "linux", reason="threads share a priority")
async def test_a_run_gives_way_to_whoever_searches(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "source", FILES)
    priorities: list[int] = []

    def watched(*args: Any) -> Any:
        priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return store(*args)

    monkeypatch.setattr(ingesting, "store", watched)
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    await report(project, local(path=str(tmp_path / "source")))

    assert min(priorities) >= 10
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before

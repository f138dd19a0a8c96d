"""Downloads: they go on where they stopped, and keep only what is whole and right."""

import hashlib
import threading
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import httpx2
import pytest
from file_server import Answer, FileServer, Request, file_server

from ubp.embedding import downloads, placing
from ubp.embedding.downloads import Patience, download
from ubp.embedding.parts import Part
from ubp.errors import DownloadFailed

CONTENT = bytes(range(256)) * 2_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2
HASTY = Patience(tries=4, pause=0.001, longest_pause=0.05, connect=2, silence=2)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        server.files["/model"] = CONTENT
        yield server


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "models" / "model.gguf"


def fetch(
    server: FileServer,
    to: Path,
    sha256: str | None = SHA256,
    patience: Patience = HASTY,
) -> list[tuple[int, int | None]]:
    moved: list[tuple[int, int | None]] = []
    download(
        f"{server.url}/model",
        to,
        sha256=sha256,
        progress=lambda done, total: moved.append((done, total)),
        patience=patience,
    )
    return moved


def half_then_hang_up(request: Request) -> None:
    request.head(200, len(CONTENT), ETag='"first"')
    request.wfile.write(CONTENT[:HALF])
    request.hang_up()


def status(code: int, **headers: str) -> Answer:
    return lambda request: request.reply(code, b"no", **headers)


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir() if not each.name.endswith(".lock")}


def test_a_file_arrives_whole_and_leaves_nothing_else(
    server: FileServer, to: Path
) -> None:
    moved = fetch(server, to)

    assert to.read_bytes() == CONTENT
    assert names(to.parent) == {"model.gguf"}
    assert moved[0] == (0, len(CONTENT))
    assert moved[-1] == (len(CONTENT), len(CONTENT))


def test_a_dropped_connection_is_taken_up_where_it_ended(
    server: FileServer, to: Path
) -> None:
    server.script.append(half_then_hang_up)

    fetch(server, to)

    assert to.read_bytes() == CONTENT
    _, again = server.seen[1]
    assert again["Range"] == f"bytes={HALF}-"
    assert again["If-Range"] == '"first"'


def test_what_has_arrived_is_kept_for_the_next_run(
    server: FileServer, to: Path
) -> None:
    server.script.append(half_then_hang_up)
    with pytest.raises(DownloadFailed):
        fetch(server, to, patience=Patience(tries=1))
    assert names(to.parent) == {"model.gguf.part", "model.gguf.part.json"}

    moved = fetch(server, to)

    assert to.read_bytes() == CONTENT
    assert moved[0] == (HALF, len(CONTENT))


def test_all_of_it_having_arrived_before_is_not_fetched_again(
    server: FileServer, to: Path
) -> None:
    server.script.append(half_then_hang_up)
    with pytest.raises(DownloadFailed):
        fetch(server, to, patience=Patience(tries=1))
    Part(to).path.write_bytes(CONTENT)

    fetch(server, to)

    assert to.read_bytes() == CONTENT
    assert len(server.seen) == 1


def test_a_server_that_ignores_ranges_makes_us_start_again(
    server: FileServer, to: Path
) -> None:
    server.script += [
        half_then_hang_up,
        lambda request: request.reply(200, CONTENT, ETag='"first"'),
    ]

    fetch(server, to)

    assert to.read_bytes() == CONTENT


def test_a_server_that_sends_another_part_makes_us_start_again(
    server: FileServer, to: Path
) -> None:
    server.script += [
        half_then_hang_up,
        lambda request: request.reply(206, CONTENT[:9], Content_Range="bytes 0-8/9"),
    ]

    fetch(server, to)

    assert to.read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_fetched_from_its_beginning(
    server: FileServer, to: Path
) -> None:
    server.script.append(half_then_hang_up)
    server.tag = '"second"'
    server.files["/model"] = CONTENT[::-1]

    fetch(server, to, sha256=None)

    assert to.read_bytes() == CONTENT[::-1]


def test_a_file_that_became_shorter_is_fetched_from_its_beginning(
    server: FileServer, to: Path
) -> None:
    server.script.append(half_then_hang_up)
    server.files["/model"] = b"short"

    fetch(server, to, sha256=None)

    assert to.read_bytes() == b"short"


def test_a_weak_tag_is_no_reason_to_go_on(server: FileServer, to: Path) -> None:
    server.tag = 'W/"alike"'

    def half(request: Request) -> None:
        request.head(200, len(CONTENT), ETag='W/"alike"')
        request.wfile.write(CONTENT[:HALF])
        request.hang_up()

    server.script.append(half)

    fetch(server, to)

    assert "Range" not in server.seen[1][1]


def test_a_wrong_checksum_is_refused_and_deleted(server: FileServer, to: Path) -> None:
    with pytest.raises(DownloadFailed):
        fetch(server, to, sha256="0" * 64)

    assert names(to.parent) == set()


def test_a_checksum_in_the_entity_tag_is_believed(server: FileServer, to: Path) -> None:
    server.tag = f'"{"0" * 64}"'

    with pytest.raises(DownloadFailed):
        fetch(server, to, sha256=None)

    server.tag = f'"{SHA256}"'
    fetch(server, to, sha256=None)
    assert to.read_bytes() == CONTENT


def test_a_redirect_is_followed_and_the_hub_says_what_must_come(
    server: FileServer, to: Path
) -> None:
    with file_server() as cache:
        cache.files["/cached"] = CONTENT
        # The same address, but another host: that is what tells them apart.
        elsewhere = f"http://localhost:{cache.server_port}/cached"

        server.script.append(
            status(302, Location=elsewhere, X_Linked_ETag=f'"{SHA256}"')
        )
        fetch(server, to, sha256=None)
        assert to.read_bytes() == CONTENT

        cache.files["/cached"] = CONTENT[::-1]
        cache.tag = f'"{hashlib.sha256(CONTENT[::-1]).hexdigest()}"'
        server.script.append(
            status(302, Location=elsewhere, X_Linked_ETag=f'"{SHA256}"')
        )
        with pytest.raises(DownloadFailed):
            fetch(server, to, sha256=None)


def test_what_the_cache_announces_is_not_taken_for_the_hubs_word(
    server: FileServer, to: Path
) -> None:
    with file_server() as cache:
        cache.files["/cached"] = CONTENT
        cache.tag = f'"{"0" * 64}"'
        elsewhere = f"http://localhost:{cache.server_port}/cached"
        server.script.append(status(302, Location=elsewhere))

        fetch(server, to, sha256=None)

    assert to.read_bytes() == CONTENT


def test_another_announced_checksum_makes_us_start_again(
    server: FileServer, to: Path
) -> None:
    changed = CONTENT[::-1]
    digest = hashlib.sha256(changed).hexdigest()

    def half(request: Request) -> None:
        request.head(200, len(CONTENT), ETag='"first"', X_Linked_ETag=SHA256)
        request.wfile.write(CONTENT[:HALF])
        request.hang_up()

    def rest(request: Request) -> None:
        span = f"bytes {HALF}-{len(changed) - 1}/{len(changed)}"
        request.reply(206, changed[HALF:], Content_Range=span, X_Linked_ETag=digest)

    server.script += [half, rest]
    server.files["/model"] = changed

    fetch(server, to, sha256=None)

    assert to.read_bytes() == changed


@pytest.mark.parametrize(
    "answer",
    [
        status(429, Retry_After="0"),
        status(429, Retry_After="3600"),
        status(503, Retry_After=formatdate(0, usegmt=True)),
        status(500),
        status(502, Retry_After="soon"),
    ],
)
def test_a_server_that_is_busy_is_asked_again(
    server: FileServer, to: Path, answer: Answer
) -> None:
    server.script.append(answer)

    fetch(server, to)

    assert to.read_bytes() == CONTENT
    assert len(server.seen) == 2


@pytest.mark.parametrize("code", [404, 410, 401, 403, 400])
def test_a_refusal_is_final(server: FileServer, to: Path, code: int) -> None:
    server.script.append(status(code))

    with pytest.raises(DownloadFailed) as refused:
        fetch(server, to)

    assert str(code) in refused.value.cause
    assert len(server.seen) == 1


def test_tries_are_bounded(server: FileServer, to: Path) -> None:
    server.script += [status(503)] * 20

    with pytest.raises(DownloadFailed):
        fetch(server, to)

    assert len(server.seen) == HASTY.tries


def test_nobody_listening_is_a_failure_that_says_so(to: Path) -> None:
    with file_server() as gone:
        url = gone.url

    with pytest.raises(DownloadFailed) as failed:
        download(f"{url}/model", to, patience=HASTY)

    assert "ConnectError" in failed.value.cause


@pytest.mark.parametrize("url", ["ftp://host/model", "nonsense", "http://[::1/model"])
def test_an_address_that_is_none_is_a_failure(to: Path, url: str) -> None:
    with pytest.raises(DownloadFailed):
        download(url, to, patience=HASTY)


@pytest.mark.parametrize(
    "way",
    [["http://hub/a"], ["http://mirror/a", "https://hub/a"]],
    ids=["at the end", "on the way"],
)
def test_an_encrypted_download_stays_encrypted(way: list[str], to: Path) -> None:
    steps = [
        httpx2.Response(200, request=httpx2.Request("GET", url))
        for url in ("https://hub/a", *way)
    ]
    steps[-1].history = steps[:-1]

    with pytest.raises(DownloadFailed, match="without encryption"):
        downloads._accept(steps[-1], "https://hub/a", Part(to), None)


def test_redirects_in_circles_are_a_failure(server: FileServer, to: Path) -> None:
    server.script += [status(302, Location="/model")] * 100

    with pytest.raises(DownloadFailed):
        fetch(server, to)


def test_a_silent_server_is_not_waited_for_forever(
    server: FileServer, to: Path
) -> None:
    done = threading.Event()
    server.script.append(lambda _: (done.wait(5), None)[1])

    fetch(server, to, patience=Patience(tries=2, pause=0, silence=0.1))
    done.set()

    assert to.read_bytes() == CONTENT


def test_a_full_disk_is_noticed_before_it_is_full(
    server: FileServer, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "_SPARE", 1 << 60)

    with pytest.raises(DownloadFailed):
        fetch(server, to)

    assert server.seen == []


def test_two_at_once_do_not_write_to_the_same_part(
    server: FileServer, to: Path
) -> None:
    to.parent.mkdir()

    with Part(to).alone():
        with pytest.raises(DownloadFailed):
            fetch(server, to)

    fetch(server, to)
    assert to.read_bytes() == CONTENT


def test_a_damaged_note_about_a_part_makes_us_start_again(
    server: FileServer, to: Path
) -> None:
    to.parent.mkdir()
    Part(to).path.write_bytes(b"something")
    to.with_name("model.gguf.part.json").write_bytes(b"{")

    fetch(server, to)

    assert to.read_bytes() == CONTENT

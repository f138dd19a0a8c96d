"""What was fetched, kept on disk."""

import hashlib
import json
from pathlib import Path

import pytest

from ubp.errors import NoRoom
from ubp.packs.specs.page_cache import Cached, PageCache

URL = "https://a.example/page"
KEY = hashlib.sha256(URL.encode()).hexdigest()[:16]


def page(text: str, etag: str | None = '"1"') -> Cached:
    return Cached(body=text.encode(), etag=etag, charset="utf-8")


def test_what_is_put_is_got_and_the_last_counts(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "go" / "go-spec")

    assert cache.get(URL) is None
    cache.put(URL, page("one"))
    cache.put(URL, page("two", None))

    assert cache.get(URL) == page("two", None)
    assert cache.get(f"{URL}2") is None
    files = sorted(each.name for each in (tmp_path / "go/go-spec").iterdir())
    assert files == [f"{KEY}.body", f"{KEY}.json"]
    about = json.loads((tmp_path / f"go/go-spec/{KEY}.json").read_text("utf-8"))
    assert (about["url"], about["etag"]) == (URL, None)
    assert about["fetchedAt"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("json", b"{ not json"),
        ("json", b"\xff"),
        ("json", b"{}"),
        ("body", b"half of it"),
    ],
)
def test_what_is_not_whole_counts_as_absent(
    tmp_path: Path, file: str, content: bytes
) -> None:
    cache = PageCache(tmp_path)
    cache.put(URL, page("one"))

    (tmp_path / f"{KEY}.{file}").write_bytes(content)

    assert cache.get(URL) is None


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(NoRoom):
        PageCache(tmp_path / "file" / "sub").put(URL, page("one"))

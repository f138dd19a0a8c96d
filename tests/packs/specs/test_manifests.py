"""Lists of pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.specs.manifests import in_index, in_listing, in_manifest, stays_inside

MANIFEST = """# Summary

[Preface](preface.md)

---

- [One](one.md)
    - [Deep](sub/deep.md) and [ignored](ignored.md)
- [Elsewhere](https://example.org/outside.md)
- [Self](SUMMARY.md)
- No link at all
- [Picture](picture.png)
- [§2](two.md#second "title")
- [One again](./one.md#place)
- [Spaced](Everyday%20Types.md)
"""


def test_a_manifest_gives_the_first_page_of_each_line_in_order_and_once() -> None:
    assert in_manifest(MANIFEST, "SUMMARY.md") == [
        "preface.md",
        "one.md",
        "sub/deep.md",
        "two.md",
        "Everyday Types.md",
    ]


def test_an_empty_manifest_is_an_empty_list() -> None:
    assert in_manifest("# Summary\n\nNothing yet.\n", "SUMMARY.md") == []


def test_an_index_gives_its_chapters_in_order_and_once() -> None:
    links = [
        "jls-9.html",
        "jls-10.html#x",
        "./jls-9.html",
        "preface.html",
        "jls-x.html",
        "../jls-1.html",
    ]
    page = "".join(f'<a href="{link}">x</a>' for link in links) + "<a>none</a>"

    assert in_index(page, r"jls-\d+\.html") == ["jls-9.html", "jls-10.html"]


def test_a_listing_gives_its_markdown_files() -> None:
    body = b'[{"type":"file","name":"a.md","size":1},{"type":"dir","name":"b.md"},{"type":"file","name":"c.svg"}]'

    assert in_listing(body) == ["a.md"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"message": "rate limit"}', b"[1]", b"\xff"]
)
def test_what_is_no_listing_is_told(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        in_listing(body)


@pytest.mark.parametrize(
    ("page", "inside"),
    [
        ("a.md", True),
        ("sub/../a.md", True),
        ("../a.md", False),
        ("sub/../../a.md", False),
        ("/etc/a.md", False),
        ("..\\a.md", False),
        ("..a.md", True),
    ],
)
def test_a_page_stays_inside_its_folder(page: str, inside: bool) -> None:
    assert stays_inside(page) is inside


@given(st.text())
def test_any_text_is_an_answer(text: str) -> None:
    in_manifest(text, "SUMMARY.md")
    in_index(text, r".*\.html")

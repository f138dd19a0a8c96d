"""Real specifications, counted by other means than ours."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from spec_books import CORPORA

from ubp.packs.specs.addresses import page_address
from ubp.packs.specs.html_pages import cut_html
from ubp.packs.specs.identifiers import identified
from ubp.packs.specs.manifests import in_manifest
from ubp.packs.specs.markdown_pages import cut_markdown
from ubp.packs.specs.sections import Cut
from ubp.packs.specs.snapshots import CutPage, Snapshot, assembled

SPECS = CORPORA / "specs"

pytestmark = pytest.mark.skipif(
    not SPECS.exists(), reason="the shared corpora are not here"
)


class Headings(HTMLParser):
    """Counts headings of a level, outside of what is navigation."""

    def __init__(self, levels: str) -> None:
        super().__init__()
        self._tags = {f"h{level}" for level in levels}
        self._around: list[str] = []
        self.found = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if (
            tag == "nav"
            or dict(attrs).get("role") == "navigation"
            or tag in self._around
        ):
            self._around.append(tag)
        elif tag in self._tags and not self._around:
            self.found += 1

    def handle_endtag(self, tag: str) -> None:
        if self._around and tag == self._around[-1]:
            self._around.pop()


def headings(path: Path, levels: str) -> int:
    parser = Headings(levels)
    parser.feed(path.read_text(encoding="utf-8"))
    return parser.found


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[a-z]{4,}", text.lower()))


def snapshot(pages: dict[str, list[Cut]]) -> Snapshot:
    cut = [
        CutPage(
            path=path,
            address=page_address(
                "https://a.example", name=path, suffix=".html", own="https://b.example"
            ),
            digest="",
            etag=None,
            sections=sections,
        )
        for path, sections in pages.items()
    ]
    return assembled(
        cut,
        language="x",
        doc="x",
        policy="excerpt_only",
        version="v",
        fetched_at="",
        source_url="",
    )


def check(pages: dict[str, list[Cut]]) -> None:
    """No two sections share an id, and every link is well-formed."""
    made = snapshot(pages).sections
    assert len({each.section_id for each in made}) == len(made)
    for each in made:
        parts = urlsplit(each.url)
        assert parts.scheme == "https"
        assert parts.fragment
        assert re.fullmatch(r"[\x21-\x7e]+", each.url)
        assert each.title


@pytest.mark.parametrize(
    ("file", "levels"),
    [
        ("go/go_spec.html", "234"),
        ("go/go_mem.html", "234"),
        ("ecma262/spec.html", "1234"),
        ("python_reference/html/lexical_analysis.html", "1234"),
        ("python_reference/html/simple_stmts.html", "1234"),
        ("python_reference/html/executionmodel.html", "1234"),
    ],
)
def test_every_heading_of_a_page_is_a_section(file: str, levels: str) -> None:
    text = (SPECS / file).read_text(encoding="utf-8")

    found = cut_html("https://a.example", text, [int(level) for level in levels])

    assert len(found) == headings(SPECS / file, levels)
    check({file: found})


def test_every_word_of_the_go_specification_is_in_a_section() -> None:
    text = (SPECS / "go/go_spec.html").read_text(encoding="utf-8")

    found = cut_html("https://go.dev/ref/spec", text, (2, 3, 4))

    told = words(" ".join(f"{each.title} {each.content}" for each in found))
    plain = re.sub(r"<!--.*?-->|<[^>]*>|&[a-z]+;", " ", text, flags=re.DOTALL)
    assert not {word for word in words(plain) if word not in told}


def test_every_heading_and_word_of_the_rust_reference_is_in_a_section() -> None:
    root = SPECS / "rust_reference"
    manifest = (root / "SUMMARY.md").read_text(encoding="utf-8")
    pages: dict[str, list[Cut]] = {}
    for page in in_manifest(manifest, "SUMMARY.md"):
        text = (root / page).read_text(encoding="utf-8")
        pages[page] = cut_markdown(page, text).sections
        told = " ".join(f"{each.title} {each.content}" for each in pages[page])
        assert not words(text).keys() - words(told).keys(), page

    assert len(pages) == len(set(re.findall(r"\(([^)]+\.md)\)", manifest)))
    check(pages)


def test_every_page_of_the_handbook_is_cited_where_it_is_published() -> None:
    folder = SPECS / "typescript_handbook/handbook-v2"
    pages = {
        file.name: cut_markdown(file.name, file.read_text(encoding="utf-8"))
        for file in sorted(folder.glob("*.md"))
    }

    assert all(page.permalink.startswith("/docs/handbook/") for page in pages.values())
    check({name: page.sections for name, page in pages.items()})


def test_both_layouts_of_chapters_give_the_same_sections() -> None:
    names: dict[str, list[str]] = {}
    for layout in ("docbook", "ids"):
        chapters = sorted((SPECS / "jls_like" / layout).glob("jls-*.html"))
        found = identified(
            (file.stem, cut_html(file.name, file.read_text("utf-8"), (2, 3, 4)))
            for file in chapters
        )
        names[layout] = [each.section_id for each in found]

    assert names["docbook"] == names["ids"]
    assert "jls-4.2.1" in names["ids"]

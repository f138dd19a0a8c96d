"""Cutting a note into chunks."""

import pytest
from hypothesis import given
from strategies import documents

from ubp.packs.notes import chunks
from ubp.packs.notes.chunks import TOO_LARGE, context_after, slug, split
from ubp.reading.markdown import read


def cut(
    content: str, title: str = "", path: str = "docs/x.md"
) -> list[tuple[str, str]]:
    found, _ = split(content, title, path)
    return [(each.heading, content[each.start : each.end]) for each in found]


def parents(content: str, title: str = "", path: str = "docs/x.md") -> list[str]:
    return [each.parent_heading for each in split(content, title, path)[0]]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("20251230_my-doc.md", "my-doc"),
        ("simple.md", "simple"),
        ("path/to/20251230_doc.md", "doc"),
        ("a_b_c.md", "b_c"),
        ("20251230_.md", "20251230_"),
    ],
)
def test_a_note_is_called_by_its_file_name_without_the_date(
    path: str, name: str
) -> None:
    assert slug(path) == name


def test_a_chunk_is_what_stands_under_a_level_2_heading() -> None:
    text = (
        "## Section 1\n\nContent 1\n\n### Deeper\n\nMore\n\n## Section 2\nContent 2\n"
    )

    assert cut(text) == [
        ("Section 1", "Content 1\n\n### Deeper\n\nMore"),
        ("Section 2", "Content 2"),
    ]


def test_text_before_the_first_level_2_heading_is_a_chunk_of_its_own() -> None:
    text = "# Top\n\nBefore.\n\n## A\n\nAfter.\n"

    assert cut(text) == [("Top", "Before."), ("A", "After.")]


@pytest.mark.parametrize(
    ("content", "title", "path", "heading"),
    [
        ("# H1\n\ntext", "Title", "x.md", "H1"),
        ("text", "Title", "x.md", "Title"),
        ("text", "", "20250101_x.md", "x"),
        ("##\n\ntext", "Title", "x.md", "Title"),
    ],
)
def test_what_has_no_level_2_heading_is_under_its_parents(
    content: str, title: str, path: str, heading: str
) -> None:
    assert cut(content, title, path) == [(heading, "text")]


def test_the_parent_is_the_level_1_heading_in_force_where_a_chunk_starts() -> None:
    text = "early\n\n# One\n\n## A\n\na\n\n# Two\n\nbetween\n\n## B\n\nb\n"

    assert parents(text, "Title") == ["Title", "One", "Two", "Two"]
    assert [heading for heading, _ in cut(text, "Title")] == ["Title", "A", "Two", "B"]


def test_a_heading_in_code_a_quote_or_a_list_is_content() -> None:
    text = "## Shell\n\n```sh\n## brew\n# stir\n```\n\n> ## quoted\n\n- ## listed\n"

    assert cut(text) == [("Shell", text.removeprefix("## Shell\n\n").rstrip())]


def test_what_is_blank_is_no_chunk() -> None:
    assert cut("## One\n\n## Two\n\n   \n\n## Three\n\nx") == [("Three", "x")]
    assert cut("") == []


def test_indentation_of_the_first_line_is_kept() -> None:
    assert cut("## Code\n\n    indented\n") == [("Code", "    indented")]


def test_japanese_is_cut_at_the_same_places() -> None:
    text = "# 上\n\n前文。\n\n## 手順\n\n急須にお湯を注ぐ。\n\n三分待つ。\n"

    assert cut(text) == [("上", "前文。"), ("手順", "急須にお湯を注ぐ。\n\n三分待つ。")]


def test_a_chunk_that_is_too_large_is_cut_at_level_3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunks, "LARGEST", 12)
    text = (
        "## Main\n\nBefore.\n\n### Sub1\n\none two three four five\n\n"
        "### Sub2\n\nsix seven eight\n\n## Small\n\n### Kept\n\nx\n"
    )

    assert cut(text) == [
        ("Main", "Before."),
        ("Main > Sub1", "one two three four five"),
        ("Main > Sub2", "six seven eight"),
        ("Small", "### Kept\n\nx"),
    ]
    assert split(text, "", "x.md")[1] == []


def test_one_that_cannot_be_cut_stays_whole_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunks, "LARGEST", 3)
    text = "## Main\n\none two three four five"

    found, warnings = split(text, "", "x.md")

    assert [each.heading for each in found] == ["Main"]
    assert [each.kind for each in warnings] == [TOO_LARGE]


@pytest.mark.parametrize(
    ("content", "context"),
    [
        ("One. Two. Three.", "Two。Three。"),
        ("一つ目。二つ目！三つ目？", "二つ目。三つ目。"),
        (
            "Version 1.2.3 is at https://a.example/x.html now",
            "Version 1.2.3 is at https://a.example/x.html now。",
        ),
        ("Really? Yes!\nNo", "Yes。No。"),
        ("only", "only。"),
        (" \n ", ""),
        ("", ""),
    ],
)
def test_a_chunk_goes_on_from_the_last_two_sentences_before_it(
    content: str, context: str
) -> None:
    assert context_after(content) == context


@given(documents)
def test_no_word_of_a_note_is_lost(text: str) -> None:
    content = text.rstrip()
    found, _ = split(content, "t", "x.md")

    headings = [b for b in read(content).blocks if b.level in (1, 2)]
    left = content
    for each in reversed(found):
        left = left[: each.start] + left[each.end :]
    for block in reversed(headings):
        left = left.replace(block.source, "", 1)
    assert not left.strip()

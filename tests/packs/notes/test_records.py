"""A file's text -> what the notes pack stores of it."""

from pathlib import Path

import pytest
from hypothesis import given
from notebooks import note, note_and_warnings
from strategies import anything, documents, front_matter

from ubp.config import Settings
from ubp.packs.notes.passages import passage
from ubp.project import Project

DOCS = Project(Path("/p"), Settings(), Path("/p/docs"))


def test_the_content_is_what_stands_below_the_front_matter() -> None:
    read = note("---\ntitle: T\n---\n\n\n# A\n\n    x\n\n\n")

    assert (read.title, read.content) == ("T", "# A\n\n    x")


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("title: ' Two\n  lines '", "Two lines"),
        ("title: 2024", "2024"),
        ("title: true", "true"),
        ("title: {a: b}", ""),
        ("title:", ""),
        ("other: x", ""),
    ],
)
def test_a_title_is_one_line_of_text(written: str, title: str) -> None:
    assert note(f"---\n{written}\n---\nx").title == title


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("solo", ("solo",)),
        ('"x, y"', ("x", "y")),
        ('"p q"', ("p", "q")),
        ('"machine learning, ops"', ("machine learning", "ops")),
        ('"お茶、飲み物"', ("お茶", "飲み物")),
        ('["#hash", "## two"]', ("hash", "two")),
        ("[2024, true, ~, '']", ("2024", "true")),
        ("[dup, dup]", ("dup",)),
        ("[[nested]]", ("nested",)),
        ("{a: b}", ()),
    ],
)
def test_tags_are_read_however_they_are_written(
    written: str, tags: tuple[str, ...]
) -> None:
    assert note(f"---\ntags: {written}\n---\nx").tags == tags


def test_topics_are_tags_too() -> None:
    read = note('---\ntags: [a]\ntopics: ["AWS", "a", "ポエム"]\n---\nx')

    assert read.tags == ("a", "AWS", "ポエム")


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("[a, b.md]", ("a", "b")),
        ("my old note.md", ("my old note",)),
        ("docs/x/a.md", ("docs/x/a",)),
        ("'[[a|the first]]'", ("a",)),
        ("[[a]]", ("a",)),
        ("./a.md", ("a",)),
        ('[".md", "./.md", a]', ("a",)),
        ("", ()),
    ],
)
def test_a_note_names_those_it_replaces(written: str, names: tuple[str, ...]) -> None:
    assert note(f"---\nprevious: {written}\n---\nx").previous == names


def test_a_tag_that_looks_like_a_number_is_as_it_was_written() -> None:
    assert note("---\ntags: [3.10, 3.9]\n---\nx").tags == ("3.10", "3.9")


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("notes/20251230_plan.md", "20251230"),
        ("2025-12-30.md", "20251230"),
        ("2025/12-30.md", ""),
        ("20240101/20251230.md", "20251230"),
        ("20240101/plan.md", "20240101"),
        ("20259999.md", ""),
        ("1202512301.md", ""),
    ],
)
def test_a_date_is_taken_from_the_path(path: str, date: str) -> None:
    assert note("x", path).path_date == date


def test_a_note_is_known_from_the_docs_folder_too() -> None:
    assert note("x", "docs/sub/a.md", DOCS).docs_key == "sub/a"
    assert note("x", "journal/a.md", DOCS).docs_key == ""


def test_what_is_embedded_says_what_it_is_about() -> None:
    text = passage("Title", ["a", "b"], "Before。", "Parent", "Heading", "Content")

    assert text.head == (
        "title:Title|tags:a,b\n\n[prev] Before。\n\n# Parent\n\n## Heading"
    )
    assert text.body == "Content"
    assert passage("", [], "", "P", "H", "C").head == "title:|tags:\n\n# P\n\n## H"


def test_another_title_or_tag_is_another_text_to_embed() -> None:
    texts = [
        "---\ntitle: A\n---\nx",
        "---\ntitle: B\n---\nx",
        "---\ntitle: A\ntags: t\n---\nx",
    ]

    assert len({note(text).chunks[0].passage for text in texts}) == 3


def test_code_in_a_japanese_note_is_part_of_it() -> None:
    text = "日本語の説明が続く。\n\n## コード\n\n```\nprint(1)\n```\n\n説明。"

    assert {each.language for each in note(text).chunks} == {"ja"}


def test_front_matter_that_is_broken_is_a_warning() -> None:
    read, warnings = note_and_warnings("---\ntags: [never\n---\nText.")

    assert (read.tags, read.content) == ((), "Text.")
    assert len(warnings) == 1


@given(front_matter, documents)
def test_any_file_becomes_a_note(head: str, body: str) -> None:
    read = note(f"---\n{head}\n---\n{body}")

    for each in read.chunks:
        assert read.content[each.start : each.start + each.length].strip()


@given(anything)
def test_any_text_becomes_a_note(text: str) -> None:
    assert note(text).content == text.rstrip() or text.startswith(
        ("\n", " ", "\t", "---")
    )

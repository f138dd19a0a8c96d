"""Cutting Markdown."""

import re

import pytest
from hypothesis import given
from strategies import anything, documents

from ubp.packs.specs.markdown_pages import cut_markdown
from ubp.packs.specs.sections import Cut
from ubp.reading.markdown import read


def cut(text: str, page: str = "sub/page.md") -> list[Cut]:
    return cut_markdown(page, text).sections


def named(text: str) -> dict[str, str]:
    return {each.name: each.content for each in cut(text)}


def test_headings_down_to_level_four_begin_sections() -> None:
    text = (
        "# A\n\na\n\n## B\n### C\n#### D\n\nd\n\n##### e\n\nf\n\nSetext\n------\n\ns\n"
    )

    assert [each.path for each in cut(text)] == [
        "A",
        "A > B",
        "A > B > C",
        "A > B > C > D",
        "A > Setext",
    ]
    assert named(text)["d"] == "d\n\n##### e\n\nf"


@pytest.mark.parametrize(
    ("heading", "name", "title"),
    [
        ("What's New? (2024)", "whats-new-2024", "What's New? (2024)"),
        ("Named Traits {#traits}", "traits", "Named Traits"),
        ("`const` *and* a `b`", "const-and-a-b", "const and a b"),
        ("Drop & borrow", "drop-borrow", "Drop & borrow"),
        ("型の推論", "型の推論", "型の推論"),
    ],
)
def test_a_section_is_called_by_its_id_or_its_title(
    heading: str, name: str, title: str
) -> None:
    [only] = cut(f"## {heading}\n")

    assert (only.name, only.title) == (name, title)


def test_a_title_without_letters_gets_a_generated_name() -> None:
    [only] = cut("## +++\n\nx\n")

    assert re.fullmatch("gen-[0-9a-f]{12}", only.name)


def test_anchors_are_those_of_the_rendered_book() -> None:
    anchors = [
        each.anchor for each in cut("# Drop & borrow\n# Same\n# Same\n# Own {#o}\n")
    ]

    assert anchors == ["drop--borrow", "same", "same-1", "o"]


def test_what_is_in_a_fence_is_no_heading() -> None:
    text = "# A\n\n```py\n# x\n```\n\n~~~\n## y\n~~~\n\n````\n# z\n```\n# z\n````\n\n## B\n"

    assert [each.title for each in cut(text)] == ["A", "B"]


def test_annotations_of_code_are_removed_and_code_stays() -> None:
    text = "# A\n\n```ts\n// @errors: 2345\nlet a = 1; // @noErrors\nlet b = a;\n//    ^?\n```\n\nhttps://a.example/@b\n"

    assert cut(text)[0].content == (
        "```ts\nlet a = 1;\nlet b = a;\n```\n\nhttps://a.example/@b"
    )


def test_the_title_of_the_page_is_the_root_and_has_what_stands_above() -> None:
    text = "---\r\ntitle: 'The Page'\r\npermalink: /docs/page.html\r\n---\r\n\r\nIntro.\r\n\r\n## A\r\n\r\na\r\n"

    page = cut_markdown("page.md", text)

    assert page.permalink == "/docs/page.html"
    assert [(each.name, each.path, each.content) for each in page.sections] == [
        ("the-page", "The Page", "Intro."),
        ("a", "The Page > A", "a"),
    ]


def test_a_title_that_the_first_heading_repeats_is_there_once() -> None:
    text = "---\ntitle: Same\n---\n# Same\n\nx\n\n## B\n"

    assert [each.path for each in cut(text)] == ["Same", "Same > B"]


def test_front_matter_that_is_no_yaml_is_read_line_by_line() -> None:
    text = '---\ntitle: "A: b: c"\nother: x: y\n---\ntext\n'

    [only] = cut(text)

    assert only.title == "A: b: c"


def test_a_page_without_headings_is_one_section() -> None:
    with_link = "---\ntitle: Linked\npermalink: /l.html\n---\n\nText.\n"

    assert named(with_link) == {"linked": "Text."}
    [lonely] = cut("---\ntitle: Lonely\n---\nText.\n")
    assert re.fullmatch("gen-[0-9a-f]{12}", lonely.name)
    [nameless] = cut("Text.\n")
    assert (nameless.title, nameless.content) == ("page", "Text.")
    assert cut("") == []


def test_the_name_of_a_rule_belongs_to_the_heading_below_it() -> None:
    text = "r[a]\n# A\n\nr[a.intro]\nText.\n\nr[b]\n## B\n\nMore.\n"

    assert named(text) == {"a": "r[a]\n\nr[a.intro]\nText.", "b": "r[b]\n\nMore."}


def test_text_above_the_first_heading_of_a_page_without_title_is_kept() -> None:
    assert named("Above.\n\n# A\n\nBelow.\n") == {"a": "Above.\n\nBelow."}


def test_indentation_of_the_first_line_is_kept() -> None:
    assert named("# A\n\n    code\n") == {"a": "    code"}


def test_a_heading_without_text_is_called_by_its_name() -> None:
    first, second = cut("# {#own}\n\nx\n\n##\n\ny\n")

    assert (first.title, first.path) == ("own", "own")
    assert second.path == f"own > {second.name}"


def test_any_number_of_spaces_is_as_good_as_one() -> None:
    gap = " " * 200_000

    [only] = cut(f"# A{gap}b {{#own}}\n\nc{gap}d{gap}// @noErrors\n")

    assert (only.title, only.name) == ("A b", "own")
    assert only.content.split() == ["c", "d"]


@given(anything)
def test_any_text_is_an_answer(text: str) -> None:
    cut(text)


@given(documents)
def test_no_word_of_a_text_is_lost(text: str) -> None:
    # Without what is left out, or moved, on purpose.
    plain = re.sub(r"//|---|\{#|r\[", " ", text)
    told = " ".join(each.content for each in cut(plain)).split()

    blocks = read(plain).blocks
    content = [block.source for block in blocks if not 0 < block.level <= 4]
    assert set(" ".join(content).split()) <= set(told)

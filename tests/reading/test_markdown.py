"""One Markdown reader: blocks with their source, links as written, nothing lost."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, documents

from ubp.reading.markdown import Block, Link, normalise, read

COMMONMARK = (
    Path(__file__).parents[3] / "shared/corpora/bad_input/commonmark_examples.jsonl"
)

FENCE = "```python\na = 1\n\n\nb = 2\n```"


def squeezed(text: str) -> str:
    """*text* without any white space."""
    return "".join(text.split())


def sources(text: str) -> list[str]:
    return [block.source for block in read(text).blocks]


def targets(text: str) -> list[str]:
    return [link.target for link in read(text).links]


@pytest.mark.parametrize("text", ["a\r\nb\rc\n", "a\nb\nc\n", "a\rb\r\nc\r"])
def test_line_ends_become_one_kind(text: str) -> None:
    assert normalise(text) == "a\nb\nc\n"


def test_empty_text_has_nothing() -> None:
    assert read("") == ([], [])
    assert read(" \n\n\t\n") == ([], [])


def test_blocks_are_the_source_of_what_stands_at_the_top_level() -> None:
    text = "# One\n\nText\nmore.\n\n- a\n- b\n\n> quote\n\n---\n\n    code\n"

    assert sources(text) == [
        "# One",
        "Text\nmore.",
        "- a\n- b",
        "> quote",
        "---",
        "    code",
    ]


@pytest.mark.parametrize(
    ("text", "level", "plain"),
    [
        ("# One", 1, "One"),
        ("###### Six ######", 6, "Six"),
        ("Title\n=====", 1, "Title"),
        ("Two\nlines\n---", 2, "Two lines"),
        ("## *A* `b` [c](d.md) [[e|f]]", 2, "A b c f"),
        ("## 認証フロー", 2, "認証フロー"),
        ("## R&amp;D \\# 1", 2, "R&D # 1"),
        ("##", 2, ""),
    ],
)
def test_heading_has_a_level_and_plain_text(text: str, level: int, plain: str) -> None:
    assert read(text).blocks == [Block(text, level, plain, end=len(text))]


@pytest.mark.parametrize(
    "text",
    [
        "> ## quoted",
        "- ## in a list",
        "1. one\n\n   ## below it",
        "> - ## both",
        "```\n## in code\n```",
        "    ## indented",
        "<div>\n## in HTML\n</div>",
        "#no-space",
        "####### seven",
    ],
)
def test_what_only_looks_like_a_heading_is_content(text: str) -> None:
    [block] = read(text).blocks

    assert block.level == 0
    assert block.source == text


@pytest.mark.parametrize(
    "text",
    [
        FENCE,
        "~~~\n\n\n## never closed",
        "    code\n\n    code",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "<div>\ntext\n</div>",
    ],
)
def test_code_tables_and_html_are_whole(text: str) -> None:
    [block] = read(text).blocks

    assert block.whole
    assert block.source == text


def test_code_inside_a_list_is_known_by_its_place() -> None:
    [block] = read("- 項目\n\n  ```\n  a\n\n  b\n  ```\n\n  end").blocks

    [(start, end)] = block.fences
    assert block.source[start:end].strip() == "```\n  a\n\n  b\n  ```"


@pytest.mark.parametrize(
    "definition", ["[ref]: target.md", "[ref]: <a b.md>\n  'title'", "[^n]: A note."]
)
def test_definitions_are_blocks_too(definition: str) -> None:
    text = f"Before [ref] and[^n].\n\n{definition}\n\nAfter."

    assert definition in sources(text)


def test_indentation_of_code_is_kept() -> None:
    assert sources("text\n\n    if a:\n        b\n") == ["text", "    if a:\n        b"]


@given(st.one_of(documents, anything))
def test_every_visible_character_is_in_some_block(text: str) -> None:
    assert squeezed("".join(sources(text))) == squeezed(text)


@given(documents)
def test_blocks_are_parts_of_the_text(text: str) -> None:
    for block in read(text).blocks:
        assert block.source in text


@given(documents)
def test_every_link_stands_in_a_block(text: str) -> None:
    blocks, links = read(text)

    for link in links:
        assert 0 <= link.block < len(blocks)
    assert [link.block for link in links] == sorted(link.block for link in links)


@given(documents)
def test_code_ranges_lie_within_their_block(text: str) -> None:
    for block in read(text).blocks:
        for start, end in block.fences:
            assert 0 <= start < end
            assert block.source[start:end].strip()


@pytest.mark.skipif(not COMMONMARK.exists(), reason="the shared corpora are not here")
def test_examples_of_the_commonmark_specification_lose_nothing() -> None:
    cases = [json.loads(line) for line in COMMONMARK.read_text("utf-8").splitlines()]

    lossy = [
        case["example"]
        for case in cases
        if squeezed("".join(sources(case["markdown"]))) != squeezed(case["markdown"])
    ]
    assert cases
    assert lossy == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "[[" * 5_000,
        "*a " * 5_000,
        "> " * 2_000,
        "- " * 2_000,
        "`" * 10_000,
        "<" * 10_000,
        "[a](" * 5_000,
        "\0\ufffd\ufeff\u2028",
        "a\0b",
    ],
    ids=lambda text: repr(text[:4]),
)
def test_hostile_text_is_an_answer(text: str) -> None:
    assert squeezed("".join(sources(text))) == squeezed(text)


def test_wikilink_has_its_target_and_label() -> None:
    links = read("See [[認証フロー|depends_on]] and [[ api/auth ]].").links

    assert [(link.style, link.target, link.label) for link in links] == [
        ("wiki", "認証フロー", "depends_on"),
        ("wiki", " api/auth ", None),
    ]


def test_markdown_link_has_the_address_as_written() -> None:
    [link] = read("[text](../api/a%20b.md?x#y 'title')").links

    assert link == Link(
        "markdown",
        "../api/a%20b.md?x#y",
        None,
        0,
        "[text](../api/a%20b.md?x#y 'title')",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a][ref]\n\n[ref]: b.md", ["b.md"]),
        ("[ref][]\n\n[ref]: b.md", ["b.md"]),
        ("[ref]\n\n[ref]: b.md", ["b.md"]),
        ("<b.md> and <c/d.md>", ["b.md", "c/d.md"]),
        ("<https://example.com/b.md>", ["https://example.com/b.md"]),
        ("[a](<b c.md>)", ["b c.md"]),
        ("![[page]]", ["page"]),
        ("![[page.md#part]]", ["page.md#part"]),
        ("![[picture.png]]", []),
        ("![picture](page.md)", []),
        ("| a |\n|---|\n| [[p\\|depends_on]] |", ["p"]),
        ("- [[a]]\n  > [[b]]", ["a", "b"]),
        ("## [[a]]", ["a"]),
        ("[[one]] [[two]] [[three]]", ["one", "two", "three"]),
    ],
)
def test_links_are_found_where_people_write_them(text: str, found: list[str]) -> None:
    assert targets(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`",
        "``[a](b.md)``",
        "```\n[[a]] [b](c.md) <d.md>\n```",
        "    [[a]] <b.md>",
        "<!-- [[a]] -->",
        "\\[[a]]",
        "[[]]",
        "[a] (b.md)",
        "`<b.md>`",
    ],
)
def test_code_comments_and_escapes_are_no_links(text: str) -> None:
    assert targets(text) == []


def test_context_of_a_link_is_the_text_around_it() -> None:
    before, after = "あ" * 60, "b" * 60

    [link] = read(f"{before}[[target]]{after}").links

    assert link.context == f"{'あ' * 50}[[target]]{'b' * 50}"


def test_context_of_an_angled_link_is_the_text_around_it() -> None:
    [link] = read(f"{'a' * 300}<page.md>{'b' * 300}").links

    assert link.context == f"{'a' * 50}<page.md>{'b' * 50}"


def test_link_knows_its_block() -> None:
    links = read("[[a]]\n\n## B [[c]]\n\n- [[d]]\n\n[[e]]").links

    assert [(link.target, link.block) for link in links] == [
        ("a", 0),
        ("c", 1),
        ("d", 2),
        ("e", 3),
    ]

"""Pages cut into sections: at headings, then by size, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

from ubp.packs.docs.sections import LARGEST, SMALLEST, Section, split
from ubp.reading import markdown
from ubp.reading.chunking import estimate, paragraphs
from ubp.reading.markdown import Block

LONG = "word " * 30  # 39 tokens: stands alone
FENCE = "```python\na = 1\n\n\nb = 2\n\n## no heading\n```"


def sections(text: str) -> list[Section]:
    return split(markdown.read(text).blocks)


def outline(text: str) -> list[tuple[str | None, str]]:
    """Heading and content of each section, the long filler as an ellipsis."""
    return [
        (section.heading, section.content.replace(LONG.strip(), "…"))
        for section in sections(text)
    ]


def visible(text: str) -> str:
    """*text* without white space and number signs, which merging adds."""
    return "".join(text.replace("#", "").split())


def test_page_with_nothing_is_one_empty_section() -> None:
    empty = Section(None, 0, (), "", 0, continued=False, blocks=())

    assert sections("") == [empty]
    assert sections(" \n\n\t\n") == [empty]


def test_second_and_third_level_headings_begin_sections() -> None:
    text = f"{LONG}\n\n## A\n\n{LONG}\n\n### B\n\n{LONG}\n\n## C\n\n{LONG}"

    assert outline(text) == [(None, "…"), ("A", "…"), ("B", "…"), ("C", "…")]


def test_first_level_heading_is_content_as_plain_text() -> None:
    assert outline(f"# The *title*\n\n{LONG}\n\n## A\n\n{LONG}") == [
        (None, "The title\n\n…"),
        ("A", "…"),
    ]


def test_first_level_heading_inside_a_section_stays_in_it() -> None:
    assert outline(f"## A\n\n{LONG}\n\n# Title\n\nend") == [("A", "…\n\nTitle\n\nend")]


def test_deeper_headings_are_content_as_written() -> None:
    text = f"## A\n\n{LONG}\n\n#### *Deep*\n\ntext\n\n###### Deeper"

    assert outline(text) == [("A", "…\n\n#### *Deep*\n\ntext\n\n###### Deeper")]


@pytest.mark.parametrize("inside", ["> ## quoted", "- ## listed", FENCE])
def test_heading_inside_another_block_begins_nothing(inside: str) -> None:
    assert outline(f"## A\n\n{LONG}\n\n{inside}") == [("A", f"…\n\n{inside}")]


def test_heading_path_remembers_the_parent() -> None:
    headings = ["### Orphan", "## A", "### B", "### C", "## D"]
    text = "\n\n".join(f"{heading}\n\n{LONG}" for heading in headings)

    assert [section.heading_path for section in sections(text)] == [
        ("Orphan",),
        ("A",),
        ("A", "B"),
        ("A", "C"),
        ("D",),
    ]


def test_section_before_the_first_heading_needs_content() -> None:
    assert [section.heading for section in sections(f"\n\n## A\n\n{LONG}")] == ["A"]


def test_small_section_joins_the_one_before_with_its_heading_line() -> None:
    text = f"## A\n\n{LONG}\n\n### B\n\nsmall\n\n## C\n\n## D\n\ntiny"

    assert outline(text) == [("A", "…\n\n### B\n\nsmall\n\n## C\n\n## D\n\ntiny")]


def test_first_section_is_never_merged_away() -> None:
    assert outline(f"tiny\n\n## A\n\n{LONG}") == [(None, "tiny"), ("A", "…")]


def test_oversized_section_is_cut_at_blank_lines_under_the_same_heading() -> None:
    text = "## A\n\n" + "\n\n".join([LONG] * 10)

    found = sections(text)

    # Six paragraphs of 39 tokens fit into 256.
    assert [section.content.count(LONG.strip()) for section in found] == [6, 4]
    assert [section.heading for section in found] == ["A", "A"]
    assert [section.continued for section in found] == [False, True]


def test_limit_can_be_smaller() -> None:
    text = "## A\n\n" + "\n\n".join(["one two three"] * 20)

    found = split(markdown.read(text).blocks, largest=40)

    assert [section.content.count("one") for section in found] == [10, 10]
    assert [section.heading for section in found] == ["A", "A"]


def test_single_paragraph_above_the_limit_stays_whole() -> None:
    paragraph = ("word " * 1_000).strip()

    assert [s.content for s in sections(f"## A\n\n{paragraph}")] == [paragraph]


def test_end_of_a_cut_section_that_is_too_small_goes_back_without_a_heading() -> None:
    paragraphs_ = [*[LONG.strip()] * 6, ("end " * 20).strip()]

    [section] = sections("## A\n\n" + "\n\n".join(paragraphs_))

    assert section.content == "\n\n".join(paragraphs_)
    assert section.tokens == 260


def test_fence_is_never_cut() -> None:
    code = "```\n" + "\n\n".join(["line of code"] * 200) + "\n```"

    found = sections(f"## A\n\n{LONG}\n\n{code}\n\n{LONG}")

    assert [section.content for section in found if "line" in section.content] == [code]


def test_list_is_cut_between_its_items_but_not_inside_their_code() -> None:
    item = f"- {LONG.strip()}\n\n  ```\n  a\n\n  b\n  ```"

    found = sections("## A\n\n" + "\n\n".join([item] * 12))

    assert len(found) > 1
    assert sum(s.content.count("  ```\n  a\n\n  b\n  ```") for s in found) == 12


def test_section_knows_the_blocks_it_was_made_from() -> None:
    text = f"{LONG}\n\n## A\n\n{LONG}\n\n{LONG}\n\n### B\n\ntiny\n\n## C\n\n{LONG}"

    assert [section.blocks for section in sections(text)] == [
        (0,),
        (1, 2, 3, 4, 5),
        (6, 7),
    ]


def text_of(block: Block) -> str:
    """What of a block must be in a section: headings become plain text."""
    return block.text if 1 <= block.level <= 3 else block.source


@given(documents)
def test_nothing_is_lost_or_doubled_or_moved(text: str) -> None:
    blocks = markdown.read(text).blocks

    found = split(blocks)

    written = "".join(
        ("" if section.continued else section.heading or "") + section.content
        for section in found
    )
    assert visible(written) == visible("".join(map(text_of, blocks)))


@given(documents)
def test_every_paragraph_is_in_one_piece_in_some_section(text: str) -> None:
    blocks = markdown.read(text).blocks

    contents = [section.content for section in split(blocks)]

    for block in blocks:
        if not 1 <= block.level <= 3:
            for paragraph in paragraphs(block):
                assert any(paragraph in content for content in contents)


@given(documents)
def test_every_block_belongs_to_some_section(text: str) -> None:
    blocks = markdown.read(text).blocks

    numbers = {number for section in split(blocks) for number in section.blocks}

    assert numbers == set(range(len(blocks)))


@given(documents)
def test_only_the_first_piece_may_be_small(text: str) -> None:
    for section in sections(text)[1:]:
        assert estimate(section.content) >= SMALLEST


@given(documents)
def test_sections_know_their_size(text: str) -> None:
    for section in sections(text):
        assert section.tokens == estimate(section.content)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(("## A", "### B", "# Title")),
            st.integers(1, 100).map(lambda words: "word " * words),
        ),
        max_size=30,
    ),
    st.sampled_from((64, LARGEST)),
)
def test_large_piece_is_one_paragraph_or_grew_by_small_ones(
    blocks: list[str], largest: int
) -> None:
    for section in split(markdown.read("\n\n".join(blocks)).blocks, largest=largest):
        parts = section.content.split("\n\n")
        fitting = 1
        while (
            fitting < len(parts)
            and estimate("\n\n".join(parts[: fitting + 1])) <= largest
        ):
            fitting += 1

        joined = [part for part in parts[fitting:] if not part.startswith("#")]
        assert all(estimate(part) < SMALLEST for part in joined)


@given(st.lists(st.integers(1, 120), min_size=1, max_size=12))
def test_fences_of_any_length_stay_whole(lengths: list[int]) -> None:
    fences = [
        "```text\n" + "line\n\n" * length + f"end {number}\n```"
        for number, length in enumerate(lengths)
    ]

    contents = [s.content for s in sections("\n\n".join(["## A", *fences]))]

    for fence in fences:
        assert sum(fence in content for content in contents) == 1


def test_thousands_of_tiny_sections_lose_nothing() -> None:
    """A glossary: joining must not copy what it has joined again and again."""
    text = "\n\n".join(f"## Term {n}\n\nMeaning {n}." for n in range(20_000))

    sections = split(markdown.read(text).blocks)

    joined = "\n".join(f"{each.heading}\n{each.content}" for each in sections)
    assert all(f"Meaning {n}." in joined for n in (0, 1, 9_999, 19_999))
    assert joined.count("Meaning") == 20_000

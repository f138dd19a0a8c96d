"""Cutting HTML."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_books import page_html

from ubp.packs.specs.html_pages import cut_html
from ubp.packs.specs.sections import Cut

LEVELS = (2, 3, 4)


def cut(text: str, levels: tuple[int, ...] = LEVELS) -> list[Cut]:
    return cut_html("https://demo.example/page", text, levels)


def named(text: str) -> dict[str, str]:
    return {each.name: each.content for each in cut(text)}


def test_a_section_is_what_follows_its_heading_in_blocks() -> None:
    text = "<h2 id=a>A</h2><p>One\n  two.</p><p>Three.</p><h2 id=b>B</h2>"

    assert named(text) == {"a": "One two.\n\nThree.", "b": ""}


def test_paths_follow_the_levels() -> None:
    text = "<h2>A</h2><h3>B</h3><h4>C</h4><h3>D</h3><h2>E</h2><h5>no</h5>"

    assert [each.path for each in cut(text)] == [
        "A",
        "A > B",
        "A > B > C",
        "A > D",
        "E",
    ]


def test_a_heading_in_a_section_within_a_section_is_below_it_whatever_its_level() -> (
    None
):
    text = (
        '<div class="chapter"><div class="titlepage"><h2><a name="c1"></a>Chapter</h2></div>'
        '<p>Before.</p><div class="section"><div><h2><a name="c1.1"></a>Inner</h2></div>'
        "<p>Text.</p></div></div><h2 id=c2>Next</h2>"
    )

    assert [(each.name, each.path) for each in cut(text)] == [
        ("c1", "Chapter"),
        ("c1.1", "Chapter > Inner"),
        ("c2", "Next"),
    ]
    assert named(text)["c1"] == "Before."


def test_text_however_deep_belongs_to_the_heading_before_it() -> None:
    text = (
        "<h2 id=a>A</h2><div><div><p>Deep.</p></div><ul><li>One<li>Two</ul></div>tail"
    )

    assert named(text) == {"a": "Deep.\n\nOne\n\nTwo\n\ntail"}


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ('<section id=s><h2 id=own>T<a name="x"></a></h2></section>', "own"),
        ('<section id=s><h2><a name="x"></a>T</h2></section>', "x"),
        ('<section id=s><h2><a href="#y">T</a></h2></section>', "s"),
        ("<article><section id=s><div><h3>T</h3></div></section></article>", "s"),
        ("<emu-clause id=s><h2>T</h2></emu-clause>", "s"),
    ],
)
def test_a_section_is_called_by_heading_then_anchor_then_container(
    heading: str, name: str
) -> None:
    assert cut(heading)[0].name == name


def test_the_id_of_a_container_is_that_of_its_first_heading_only() -> None:
    text = "<section id=s><h2 id=own>A</h2><h3>B</h3></section>"

    first, second = cut(text)

    assert first.name == "own"
    assert re.fullmatch("gen-[0-9a-f]{12}", second.name)


def test_a_section_without_a_place_to_link_to_is_cited_where_it_stands() -> None:
    text = "<h2 id=a>A</h2><h3>B</h3><h4>C</h4><h3 id=d>D</h3><h2>E</h2>"

    found = cut(text)

    assert [each.anchor for each in found] == ["a", "a", "a", "d", found[-1].name]
    assert len({each.name for each in found}) == 5


def test_generated_names_are_stable_and_differ() -> None:
    text = "<h2>Same</h2><p>x</p><h2>Same</h2>"

    assert [each.name for each in cut(text)] == [
        each.name for each in cut(text + "<p>y</p>")
    ]
    assert len({each.name for each in cut(text)}) == 2


def test_code_keeps_its_lines_and_spaces_lose_their_kind() -> None:
    text = "<h2 id=a>A&nbsp;b</h2><p>x&nbsp;y</p><pre>\nif x {\n    y()\n}\n</pre>after<br>break"

    [only] = cut(text)

    assert only.title == "A b"
    assert only.content == "x y\n\nif x {\n    y()\n}\n\nafter\nbreak"


def test_a_row_of_a_table_is_one_block() -> None:
    text = "<h2 id=a>A</h2><table><tr><th>K<th>V</tr><tr><td><p>1</p><td>x <pre>y</pre></tr></table>z"

    assert named(text) == {"a": "K | V\n\n1 | x y\n\nz"}


def test_a_heading_in_a_table_begins_a_section() -> None:
    text = (
        "<table><tr><td>menu<td><h2 id=a>A</h2><pre>x\ny</pre><h3 id=b>B</h3>"
        "<table><tr><td>1<td>2</table>z</table>"
    )

    assert named(text) == {"a": "x\ny", "b": "1 | 2\n\nz"}


def test_a_heading_without_text_is_called_by_its_name() -> None:
    first, second = cut("<h2 id=a></h2><p>x</p><h3></h3><p>y</p>")

    assert (first.title, first.path, first.content) == ("a", "a", "x")
    assert second.path == f"a > {second.name}"


def test_paragraphs_inside_a_heading_are_kept_apart() -> None:
    assert cut("<h2>A<p>b</p><p>c")[0].title == "A b c"


def test_what_belongs_to_the_site_is_left_out() -> None:
    text = (
        "<header><h2>Site</h2></header><nav><h2>Menu</h2></nav>"
        '<div role="navigation"><h3>More</h3></div><h2 id=a>A<a class="headerlink">¶</a></h2>'
        '<div class="toc">1. A</div><p>Text.</p><script>var x</script><style>p {}</style>'
        '<div class="navfooter">Next</div><footer>Legal</footer>'
    )

    [only] = cut(text)

    assert (only.title, only.content) == ("A", "Text.")


def test_a_header_of_a_section_is_kept() -> None:
    text = "<article><header><h2 id=a>A</h2></header><p>Text.</p></article>"

    assert named(text) == {"a": "Text."}


def test_where_there_is_a_main_part_nothing_else_counts() -> None:
    text = "<h2>Around</h2><main><h2 id=a>A</h2><p>Text.</p></main><p>After.</p>"

    assert named(text) == {"a": "Text."}


def test_other_levels_begin_sections_where_they_are_asked_for() -> None:
    text = "<h1 id=t>Top</h1><p>Above.</p><h2 id=a>A</h2>"

    assert [each.name for each in cut(text)] == ["a"]
    assert [each.name for each in cut(text, (1, 2))] == ["t", "a"]


def test_ecmarkup_is_cut_by_its_clauses_and_keeps_steps_and_grammar() -> None:
    text = (
        "<emu-clause id=sec-a><h1>A</h1><emu-alg>\n  1. Let _x_ be 1.\n    1. Return.\n</emu-alg>"
        "<emu-clause id=sec-b><h1>B</h1><emu-grammar type=definition>\n  X ::\n    `y`\n"
        "</emu-grammar><p>See <emu-grammar>X : Y</emu-grammar>.</p></emu-clause></emu-clause>"
    )

    first, second = cut(text, (1,))

    assert (first.name, first.content) == ("sec-a", "1. Let _x_ be 1.\n  1. Return.")
    assert (second.path, second.content) == ("A > B", "X ::\n  `y`\n\nSee X : Y.")


def test_a_page_without_headings_is_one_section_called_by_its_title() -> None:
    [only] = cut("<title>Paper</title><p>Just text.</p>")

    assert (only.title, only.path, only.content) == ("Paper", "Paper", "Just text.")


def test_a_heading_nobody_ended_gives_away_no_more_than_a_title() -> None:
    [only] = cut(f"<h2 id=a>Title <p>{'words ' * 400}")

    assert len(only.title) <= 300
    assert only.content.startswith("Title words")
    assert len(only.content) > 2000


def test_nesting_without_end_is_no_problem() -> None:
    [only] = cut("<h2 id=a>A</h2>" + "<div>" * 2_000 + "deep")

    assert only.content == "deep"


@given(st.text())
def test_any_text_is_an_answer(text: str) -> None:
    cut(text)
    cut(page_html(("a", text, text)))


WORDS = st.text("abcdefg ", max_size=30)
TITLES = WORDS.filter(str.strip)


@given(st.lists(st.tuples(st.integers(1, 6), TITLES, WORDS), max_size=8))
def test_no_word_below_the_first_heading_is_lost(
    parts: list[tuple[int, str, str]],
) -> None:
    text = "<h2>first</h2>" + "".join(
        f"<div><h{level}>{title}</h{level}></div><p>{words}</p>"
        for level, title, words in parts
    )

    told = " ".join(f"{each.title} {each.content}" for each in cut(text)).split()

    expected = "first " + " ".join(f"{title} {words}" for _, title, words in parts)
    assert told == expected.split()

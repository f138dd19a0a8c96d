"""Learning plans."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.specs.plans import Week, planned, topic
from ubp.packs.specs.queries import PlacedSection


def section(path: str, length: int = 100) -> PlacedSection:
    return PlacedSection(path, path.rpartition(" > ")[2], path, "u", length)


GO = [
    section(path)
    for path in (
        "Introduction",
        "Notation",
        "Lexical elements",
        "Lexical elements > Tokens",
        "Constants",
        "Types",
        "Types > Slice types",
        "Errors",
    )
]


def topics(weeks: list[Week]) -> list[str]:
    return list(dict.fromkeys(topic(each) for week in weeks for each in week.sections))


def test_one_week_has_everything_in_order() -> None:
    [only] = planned(GO, 1, [], "go")

    assert only.sections == GO
    assert only.minutes == 1
    assert (
        only.theme
        == "Introduction, Notation, Lexical elements, Constants, Types, Errors"
    )


def test_a_focus_comes_after_what_it_rests_on_and_before_the_rest() -> None:
    assert topics(planned(GO, 2, ["TYPES"], "go")) == [
        "Introduction",
        "Notation",
        "Lexical elements",
        "Types",
        "Constants",
        "Errors",
    ]
    assert topics(planned(GO, 2, ["how errors work"], "go"))[3] == "Errors"


def test_numbers_before_a_topic_do_not_hide_that_it_comes_first() -> None:
    python = [section("3. Data model"), section("2. Lexical analysis")]

    assert topics(planned(python, 1, ["x"], "python"))[0] == "2. Lexical analysis"


def test_a_large_topic_is_cut_where_its_halves_are_alike() -> None:
    big = [section("T", 10), section("T > a", 500), section("T > b", 490)]

    assert [
        [s.length for s in week.sections] for week in planned(big, 2, [], "go")
    ] == [
        [10, 500],
        [490],
    ]


def test_a_topic_larger_than_a_week_is_read_in_several_by_its_subtopics() -> None:
    vast = [
        section(f"Vast > {part} > {number}")
        for part in ("a", "b", "c", "d")
        for number in range(5)
    ]
    sections = [section("Small", 500), *vast, section("Other", 500)]

    made = planned(sections, 6, [], "go")

    assert [week.theme for week in made] == ["Small", *["Vast"] * 4, "Other"]
    assert [{each.path[:8] for each in week.sections} for week in made[1:5]] == [
        {"Vast > a"},
        {"Vast > b"},
        {"Vast > c"},
        {"Vast > d"},
    ]


def test_headings_nested_without_end_can_be_planned() -> None:
    nested = [section(" > ".join(["T"] * depth)) for depth in range(1, 2_000)]

    assert len(planned(nested, 12, [], "go")) == 12


parts = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 3_000)), min_size=1, max_size=40
)


@given(parts, st.integers(1, 12), st.lists(st.sampled_from("abx"), max_size=2))
def test_every_section_is_in_one_week_and_no_week_is_empty(
    given_: list[tuple[str, int]], weeks: int, focus: list[str]
) -> None:
    sections = [
        PlacedSection(f"{n}", name, name, "u", size)
        for n, (name, size) in enumerate(given_)
    ]

    made = planned(sections, weeks, focus, "go")

    assert len(made) == min(weeks, len(sections))
    assert all(week.sections for week in made)
    assert sorted(s for week in made for s in week.sections) == sorted(sections)


def test_weeks_of_equal_sections_are_equal() -> None:
    sections = [section(f"T{n}") for n in range(40)]

    sizes = [len(week.sections) for week in planned(sections, 8, [], "go")]

    assert all(abs(a - b) <= 1 for a, b in pairwise(sizes))

"""Names of sections."""

from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.specs.addresses import cited, page_address
from ubp.packs.specs.identifiers import identified
from ubp.packs.specs.sections import Cut, excerpt, generated_id


def cuts(*names: str) -> list[Cut]:
    return [Cut(title=n, path=n, name=n, anchor=n, content="") for n in names]


def test_the_first_keeps_the_name_and_later_ones_say_where_they_are() -> None:
    found = identified(
        [("one", cuts("examples", "examples", "x")), ("sub/two", cuts("examples", "y"))]
    )

    assert [each.section_id for each in found] == [
        "examples",
        "examples-1",
        "x",
        "sub/two#examples",
        "y",
    ]
    assert [each.long_id for each in found][:2] == ["one#examples", "one#examples-1"]
    assert {each.bare_id for each in found[:2]} == {"examples"}


def test_a_name_may_be_used_any_number_of_times() -> None:
    found = identified([("one", cuts(*["x"] * 30_000)), ("two", cuts("x"))])

    assert found[-2].section_id == "x-29999"
    assert found[-1].section_id == "two#x"


names = st.sampled_from(["a", "a-1", "p#a", "p#a-1", "b", ""])


@given(
    st.lists(
        st.tuples(st.sampled_from(["p", "q"]), st.lists(names, max_size=6)), max_size=5
    )
)
def test_no_two_sections_share_an_id(pages: list[tuple[str, list[str]]]) -> None:
    found = identified([(page, cuts(*here)) for page, here in pages])

    assert len({each.section_id for each in found}) == len(found)
    assert len(found) == sum(len(here) for _, here in pages)


def test_addresses_are_those_of_the_published_pages() -> None:
    own = "https://raw.example/src/items/modules.md"
    book = "https://doc.rust-lang.org/reference"
    site = "https://www.typescriptlang.org/docs/handbook/2"
    page = page_address(book, name="items/modules", suffix=".html", own=own)
    linked = page_address(
        site, name="x", suffix=".html", own=own, permalink="/docs/handbook/intro.html"
    )

    assert cited(page, "modules") == f"{book}/items/modules.html#modules"
    assert linked == "https://www.typescriptlang.org/docs/handbook/intro.html"
    elsewhere = page_address(
        site, name="x", suffix="", own=own, permalink="https://evil.example/a b.html"
    )
    assert elsewhere == "https://www.typescriptlang.org/a%20b.html"
    assert page_address(book, name="x", suffix="", own=own, single=True) == book
    assert page_address("", name="x", suffix=".html", own=own) == own
    assert page_address(site, name="Everyday Types", suffix="", own=own).endswith(
        "/Everyday%20Types"
    )


def test_a_fragment_is_well_formed_whatever_the_id() -> None:
    assert cited("https://a.example/p", "jls-4.2.1") == "https://a.example/p#jls-4.2.1"
    assert (
        cited("https://a.example/p", 'a b"型')
        == "https://a.example/p#a%20b%22%E5%9E%8B"
    )


def test_an_excerpt_ends_with_dots_only_if_it_is_one() -> None:
    assert [len(excerpt("x" * n)) for n in (1199, 1200, 1201, 5000)] == [
        1199,
        1200,
        1203,
        1203,
    ]


def test_generated_ids_depend_on_page_title_and_place() -> None:
    made = {generated_id(p, t, n) for p in "ab" for t in "cd" for n in (0, 1)}

    assert len(made) == 8

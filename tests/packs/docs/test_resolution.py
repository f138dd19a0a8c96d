"""Which page a link means, among the pages there are."""

import unicodedata
from collections.abc import Iterable

import pytest
from databases import with_pages
from hypothesis import given
from hypothesis import strategies as st
from strategies import link_targets, page_paths

from ubp.packs.docs.links import key_of, plan
from ubp.packs.docs.resolution import resolved
from ubp.packs.docs.writes import PagesByName


def found(
    target: str, pages: Iterable[str], *, on: str = "here.md", style: str = "wiki"
) -> tuple[str | None, bool]:
    """The path a link on a page leads to, and whether it might have been another.

    A page is given as its path, or as ``path = title``.
    """
    texts = {}
    for page in pages:
        path, _, title = page.partition(" = ")
        texts[path] = f"# {title}"
    db = with_pages(texts)

    hit = resolved(plan(style, target, on), on, PagesByName(db))

    if hit is None:
        return None, False
    [(path,)] = db.execute("SELECT path FROM docs_page WHERE id = ?", (hit.page,))
    return path, hit.ambiguous


def leads_to(
    target: str, pages: Iterable[str], *, on: str = "here.md", style: str = "wiki"
) -> str | None:
    return found(target, pages, on=on, style=style)[0]


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("auth", "api/Auth.md"),
        ("AUTH", "api/Auth.md"),
        ("Auth.md", "api/Auth.md"),
        ("認証フロー", "設計/認証フロー.md"),
        ("a b (1)", "x/a b (1).md"),
        ("café", "cafe\u0301.md"),
        ("cafe\u0301", "café.md"),
        (unicodedata.normalize("NFD", "ガイド"), "ガイド.md"),
        ("ガイド", unicodedata.normalize("NFD", "ガイド") + ".md"),
    ],
)
def test_name_is_found_anywhere_whatever_its_case_and_composition(
    target: str, path: str
) -> None:
    assert found(target, [path, "other.md"]) == (path, False)


def test_unknown_name_dangles() -> None:
    assert leads_to("missing", ["a.md", "b/c.md"]) is None


def test_part_of_a_name_is_not_the_name() -> None:
    assert leads_to("auth", ["oauth.md", "auth-flow.md", "auth/index.md"]) is None


def test_page_in_the_same_folder_is_preferred() -> None:
    pages = ["auth.md", "api/auth.md", "guides/auth.md"]

    assert found("auth", pages, on="guides/start.md") == ("guides/auth.md", True)


def test_else_the_page_fewest_folders_deep() -> None:
    pages = ["a/b/auth.md", "z/auth.md"]

    assert found("auth", pages, on="guides/start.md") == ("z/auth.md", True)


def test_else_the_first_by_path() -> None:
    pages = ["z/auth.md", "b/auth.md", "c/auth.md"]

    assert found("auth", pages, on="guides/start.md") == ("b/auth.md", True)


def test_same_folder_counts_however_deep_it_is() -> None:
    pages = ["auth.md", "a/b/c/auth.md"]

    assert leads_to("auth", pages, on="a/b/c/start.md") == "a/b/c/auth.md"


def test_path_is_first_taken_from_the_docs_folder() -> None:
    pages = ["api/auth.md", "guides/api/auth.md"]

    assert found("api/auth", pages, on="guides/start.md") == ("api/auth.md", False)


def test_then_from_the_folder_of_the_page() -> None:
    pages = ["guides/api/auth.md", "x/api/auth.md"]

    assert leads_to("api/auth", pages, on="guides/start.md") == "guides/api/auth.md"


def test_then_as_the_ending_of_a_path() -> None:
    pages = ["x/y/api/auth.md", "z/api/auth.md", "z/myapi/auth.md"]

    assert found("api/auth", pages, on="guides/start.md") == ("z/api/auth.md", True)


def test_ending_begins_at_a_folder() -> None:
    assert leads_to("api/auth", ["myapi/auth.md"]) is None


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("./auth", "guides/auth.md"),
        ("../auth", "auth.md"),
        ("../api/auth.md", "api/auth.md"),
        ("/api/auth", "api/auth.md"),
        ("../../auth", None),
        ("./missing", None),
        ("/auth/x", None),
    ],
)
def test_relative_and_absolute_paths_mean_one_page(
    target: str, path: str | None
) -> None:
    pages = ["auth.md", "guides/auth.md", "api/auth.md", "x/missing.md", "x/auth/x.md"]

    assert leads_to(target, pages, on="guides/start.md") == path


def test_title_is_tried_last() -> None:
    pages = ["one.md = Two", "two.md = One"]

    assert leads_to("two", pages) == "two.md"
    assert leads_to("One", pages) == "one.md"


def test_title_is_compared_without_case() -> None:
    assert leads_to("the LOGIN flow", ["x/a.md = The Login Flow"]) == "x/a.md"


def test_title_may_hold_a_slash() -> None:
    assert leads_to("TCP/IP", ["net.md = TCP/IP"]) == "net.md"


def test_among_equal_titles_the_same_rules_hold() -> None:
    pages = ["z/a.md = Setup", "b/c.md = Setup", "guides/d.md = Setup"]

    assert found("setup", pages, on="guides/start.md") == ("guides/d.md", True)
    assert found("setup", pages, on="x/start.md") == ("b/c.md", True)


def test_page_may_link_to_itself() -> None:
    assert leads_to("start", ["start.md"], on="start.md") == "start.md"


# -- Markdown links --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("api/auth.md", "api/auth.md"),
        ("API/Auth.MD", "api/auth.md"),
        ("auth.md", None),
        ("x/api/auth.md", None),
    ],
)
def test_address_of_a_page_is_its_whole_path(target: str, path: str | None) -> None:
    assert leads_to(target, ["api/auth.md"], style="markdown") == path


def test_address_is_no_title() -> None:
    assert leads_to("Setup.md", ["a.md = Setup"], style="markdown") is None


ALL = ("a/b.md", "a/b/index.md", "a/b/_index.md", "a/b/README.md")


@pytest.mark.parametrize("first", range(len(ALL)))
def test_site_link_means_the_page_or_the_index_of_a_folder(first: int) -> None:
    assert leads_to("a/b", ALL[first:], style="markdown") == ALL[first]


def test_address_with_the_extension_means_no_folder() -> None:
    assert leads_to("a/b.md", ALL[1:], style="markdown") is None


def test_site_link_to_nothing_dangles() -> None:
    assert leads_to("a/c", ALL, style="markdown") is None


def test_paths_that_differ_only_by_case_are_ambiguous() -> None:
    assert found("a.md", ["A.md", "a.md"], style="markdown") == ("A.md", True)


# -- anything --------------------------------------------------------------------------

few_paths = st.lists(page_paths, max_size=6, unique=True)


@given(few_paths, link_targets, page_paths, st.sampled_from(("wiki", "markdown")))
def test_any_target_is_a_page_or_nothing(
    pages: list[str], target: str, on: str, style: str
) -> None:
    assert leads_to(target, pages, on=on, style=style) in {None, *pages}


@given(few_paths.filter(bool), page_paths, st.data())
def test_whole_path_without_extension_always_leads_there(
    pages: list[str], on: str, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(pages))

    hit = leads_to(path, pages, on=on, style="markdown")

    assert hit is not None
    assert key_of(hit) == key_of(path)


@given(few_paths, page_paths, st.data())
def test_answer_does_not_depend_on_the_order_of_pages(
    pages: list[str], on: str, data: st.DataObject
) -> None:
    target = data.draw(st.sampled_from(("a", "guide", "a/b", "index", "設計/a")))
    shuffled = data.draw(st.permutations(pages))

    assert found(target, shuffled, on=on) == found(target, pages, on=on)

"""What a link on a page means, before anybody looks for its target."""

import posixpath
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, link_targets, page_paths

from ubp.packs.docs.kinds import LINK_TYPES
from ubp.packs.docs.links import PageLink, Plan, key_of, plan, understood
from ubp.reading import markdown
from ubp.reading.markdown import Link


def links(text: str, path: str = "page.md", prefix: str = "") -> list[PageLink]:
    return understood(markdown.read(text).links, path, prefix)[0]


def meant(text: str, path: str = "page.md", prefix: str = "") -> list[tuple[str, str]]:
    """Target and type of each link in *text*."""
    return [(link.target, link.type) for link in links(text, path, prefix)]


def warnings(text: str) -> list[str]:
    return [each.kind for each in understood(markdown.read(text).links, "p.md", "")[1]]


# -- wikilinks -------------------------------------------------------------------------


@pytest.mark.parametrize("type_", LINK_TYPES)
def test_label_that_is_a_type_sets_the_type(type_: str) -> None:
    assert meant(f"[[認証フロー|{type_}]]") == [("認証フロー", type_)]


@pytest.mark.parametrize("label", ["the login", "Depends_On", "depends on", "x"])
def test_other_label_is_a_name_for_a_reference(label: str) -> None:
    assert meant(f"[[page|{label}]]") == [("page", "references")]
    assert warnings(f"[[page|{label}]]") == []


def test_label_that_looks_like_a_type_is_a_warning() -> None:
    assert meant("[[page|relates_to]]") == [("page", "references")]
    assert warnings("[[page|relates_to]]") == ["unknown_link_type"]


def test_spaces_around_target_and_label_do_not_count() -> None:
    assert meant("[[  api/auth  |  extends  ]]") == [("api/auth", "extends")]


@pytest.mark.parametrize(
    "text", ["[[]]", "[[ ]]", "[[|extends]]", "[[#part]]", "[[/]]"]
)
def test_wikilink_without_a_target_is_none(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize("text", ["[[.]]", "[[..]]", "[[x/..]]", "[[../]]", "[[a/.]]"])
def test_wikilink_to_a_folder_by_dots_is_none(text: str) -> None:
    assert links(text) == []


def test_slash_at_the_end_does_not_count() -> None:
    assert meant("[[api/auth/]]") == [("api/auth", "references")]


def test_fragment_is_kept_beside_the_target() -> None:
    [link] = links("[[page#Some heading|implements]]")

    assert (link.target, link.fragment, link.type) == (
        "page",
        "Some heading",
        "implements",
    )


def test_links_in_code_do_not_count() -> None:
    assert meant("```\n[[a]]\n```\n\n`[[b]]` [[c]]") == [("c", "references")]


def test_links_are_in_the_order_of_the_text() -> None:
    assert meant("[[one]] and [[two|extends]], [three](three.md)") == [
        ("one", "references"),
        ("two", "extends"),
        ("three.md", "references"),
    ]


# -- Markdown links --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("sibling.md", "guides/sibling.md"),
        ("./sibling.md", "guides/sibling.md"),
        ("../api/endpoint.md", "api/endpoint.md"),
        ("../guides/./deep/../a.md", "guides/a.md"),
        ("a.md#part", "guides/a.md"),
        ("a.md?x=1#part", "guides/a.md"),
        ("a%20b.md", "guides/a b.md"),
        ("%E8%AA%8D%E8%A8%BC.md", "guides/認証.md"),
        ("認証.md", "guides/認証.md"),
        ("bad%zz.md", "guides/bad%zz.md"),
        ("bad%ff.md", "guides/bad%ff.md"),
        ("UPPER.MD", "guides/UPPER.MD"),
        ("/api/a.md", "api/a.md"),
        ("/api/a", "api/a"),
        ("/api/a/", "api/a"),
        ("/api/a/#part", "api/a"),
    ],
)
def test_address_becomes_a_path_in_the_docs_folder(address: str, target: str) -> None:
    assert meant(f"[x](<{address}>)", "guides/auth.md") == [(target, "references")]


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/a.md",
        "http://example.com/a.md",
        "HTTPS://EXAMPLE.COM/a.md",
        "//example.com/a.md",
        "mailto:a@example.md",
        "file:///etc/passwd.md",
        "javascript:alert(1).md",
        "#only-a-fragment",
        "?only=a-query",
        "",
        "picture.png",
        "folder/",
        "page",
        "/picture.png",
        "/",
        "../../../etc/passwd.md",
        "../..",
        "/../secret.md",
        "%2e%2e/%2e%2e/secret.md",
        "/a/../../secret.md",
        "a%00b.md",
    ],
)
def test_address_that_leads_to_no_page_is_no_link(address: str) -> None:
    assert links(f"[x](<{address}>)", "guides/auth.md") == []


def test_fragment_of_an_address_is_kept() -> None:
    [link] = links("[x](a.md?q#the-part)")

    assert link.fragment == "the-part"


@pytest.mark.parametrize(
    ("address", "optional"),
    [("a.md", False), ("/a.md", False), ("/a/b", True), ("/a/b/", True)],
)
def test_address_without_extension_only_counts_if_it_resolves(
    address: str, *, optional: bool
) -> None:
    [link] = links(f"[x]({address})")

    assert link.optional is optional


@pytest.mark.parametrize("prefix", ["/docs/", "docs", "/docs", "docs/"])
@pytest.mark.parametrize(
    ("address", "target", "optional"),
    [
        ("/docs/a/b/", "a/b", False),
        ("/docs/a.md", "a.md", False),
        ("/docs.md", "docs.md", False),
        ("/docset/a", "docset/a", True),
        ("/other/a", "other/a", True),
        ("docs/a.md", "docs/a.md", False),
    ],
)
def test_site_prefix_is_stripped_from_links_that_start_with_it(
    prefix: str, address: str, target: str, *, optional: bool
) -> None:
    [link] = links(f"[x]({address})", prefix=prefix)

    assert (link.target, link.optional) == (target, optional)


# -- one page, one link ----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[[api/auth|depends_on]] [x](api/auth.md)",
        "[x](api/auth.md) [[api/auth|depends_on]]",
        "[x](API/Auth.md) [[api/auth.md|depends_on]]",
        "[x](/api/auth) [[api/auth|depends_on]]",
    ],
)
def test_wikilink_wins_over_a_markdown_link_to_the_same_target(text: str) -> None:
    [link] = links(text)

    assert (link.style, link.type) == ("wiki", "depends_on")


def test_repeated_link_counts_once_and_the_first_wins() -> None:
    found = links("first [[a]]\n\nsecond [[A.md]] [[a#part]]\n\n[[a|extends]]")

    assert [(link.target, link.type, link.block) for link in found] == [
        ("a", "references", 0),
        ("a", "extends", 2),
    ]


# -- keys ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Page.md", "page"),
        ("PAGE.MD", "page"),
        ("a/B.md", "a/b"),
        ("page.markdown", "page.markdown"),
        ("ガイド", "ガイド"),
        ("カ\u3099イド.md", "ガイド"),
        ("Cafe\u0301", "café"),
        (".md", ""),
    ],
)
def test_names_are_compared_without_case_composition_and_extension(
    name: str, key: str
) -> None:
    assert key_of(name) == key


@given(anything)
def test_composed_and_decomposed_names_are_one(name: str) -> None:
    assert key_of(unicodedata.normalize("NFD", name)) == key_of(name)


def test_key_of_a_name_does_not_depend_on_its_extension() -> None:
    assert key_of("ΟΔΟΣ.md") == key_of("ΟΔΟΣ")


# -- plans -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Auth", Plan(ending="auth", title="auth")),
        ("auth.md", Plan(ending="auth", title="auth")),
        (
            "api/Auth",
            Plan(
                exact=("api/auth", "guides/api/auth"),
                ending="api/auth",
                title="api/auth",
            ),
        ),
        ("./auth", Plan(exact=("guides/auth",))),
        ("../auth", Plan(exact=("auth",))),
        ("../../auth", Plan(exact=("../auth",))),
        ("/api/auth", Plan(exact=("api/auth",), title="/api/auth")),
    ],
)
def test_wikilink_is_looked_up_by_path_then_ending_then_title(
    target: str, expected: Plan
) -> None:
    assert plan("wiki", target, "Guides/start.md") == expected


def test_markdown_link_is_looked_up_by_its_path_only() -> None:
    assert plan("markdown", "api/Auth.md", "x.md") == Plan(exact=("api/auth",))


def test_site_link_may_mean_the_page_of_a_folder() -> None:
    assert plan("markdown", "a/b", "x.md") == Plan(
        exact=("a/b", "a/b/index", "a/b/_index", "a/b/readme")
    )


def test_name_of_a_plan_is_the_last_segment() -> None:
    assert plan("wiki", "a/b", "x.md").name == "b"
    assert plan("wiki", "b", "x.md").name == "b"
    assert plan("markdown", "a/b", "x.md").name == "b"


def test_folder_that_ends_like_a_page_keeps_its_name() -> None:
    assert plan("wiki", "./b", "notes.md/a.md") == Plan(exact=("notes.md/b",))


# -- anything --------------------------------------------------------------------------

written_links = st.lists(
    st.builds(
        Link,
        style=st.sampled_from(("wiki", "markdown")),
        target=link_targets,
        label=st.none() | st.sampled_from(LINK_TYPES) | anything,
        block=st.integers(0, 9),
        context=anything,
    ),
    max_size=6,
)


@given(written_links, page_paths, st.sampled_from(("", "/docs/", "a", "/")))
def test_any_target_is_an_answer_that_stays_in_the_docs_folder(
    written: list[Link], path: str, prefix: str
) -> None:
    found, _ = understood(written, path, prefix)

    for link in found:
        assert link.type in LINK_TYPES
        assert link.target
        if link.style == "markdown":
            assert link.target == posixpath.normpath(link.target)
            assert not link.target.startswith(("/", "../"))
            assert link.target not in (".", "..")


@given(written_links, page_paths)
def test_every_link_that_is_understood_has_a_plan(
    written: list[Link], path: str
) -> None:
    found, _ = understood(written, path, "")

    for link in found:
        planned = plan(link.style, link.target, path)
        assert planned.exact or planned.ending is not None
        assert "/" not in planned.name


@given(written_links, page_paths)
def test_a_target_and_type_is_understood_once(written: list[Link], path: str) -> None:
    found, _ = understood(written, path, "")

    marks = [(key_of(link.target), link.type) for link in found]
    assert len(set(marks)) == len(marks)

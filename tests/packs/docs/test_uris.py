"""A page's path and its URI."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.errors import ResourceNotFound
from ubp.packs.docs.uris import PREFIX, TEMPLATE, page_uri, path_of

PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(PATHS)
def test_a_path_survives_its_uri(path: str) -> None:
    uri = page_uri(path)

    assert path_of(uri) == path
    assert uri.isascii()
    assert uri.isprintable()
    assert not set(uri) & set(' "<>\\^`{|}#?[]')


@given(st.text())
def test_any_uri_is_a_path_or_not_found(uri: str) -> None:
    for each in (uri, PREFIX + uri):
        try:
            path_of(each).encode()
        except ResourceNotFound as error:
            assert error.uri == each


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a.md", "ubp://docs/a.md"),
        ("guides/認証.md", "ubp://docs/guides/%E8%AA%8D%E8%A8%BC.md"),
        ("a b/100%.md", "ubp://docs/a%20b/100%25.md"),
        ("what?#1.md", "ubp://docs/what%3F%231.md"),
        ("it's (1)+2@x;y=z,&!$*:~.md", "ubp://docs/it's%20(1)+2@x;y=z,&!$*:~.md"),
    ],
)
def test_only_what_must_be_escaped_is(path: str, uri: str) -> None:
    assert page_uri(path) == uri


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("ubp://docs/guides/認証.md", "guides/認証.md"),
        ("ubp://docs/%61.md", "a.md"),
        ("ubp://docs/a%2Fb.md", "a/b.md"),
        ("ubp://docs/what?#1.md", "what?#1.md"),
        ("ubp://docs/a+b.md", "a+b.md"),
        ("ubp://docs/%e8%aa%8d.md", "認.md"),
    ],
)
def test_a_uri_may_be_written_in_other_ways(uri: str, path: str) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "a.md",
        "file:///etc/passwd",
        "ubp://notes/a.md",
        "ubp://docs",
        "UBP://docs/a.md",
        "ubp://docs/100%.md",
        "ubp://docs/%zz.md",
        "ubp://docs/a%2",
        "ubp://docs/%ff.md",
        "ubp://docs/%ed%a0%80.md",
        "ubp://docs/\ud800.md",
    ],
)
def test_what_is_no_uri_of_a_page_is_not_found(uri: str) -> None:
    with pytest.raises(ResourceNotFound):
        path_of(uri)


def test_the_template_is_the_uri_with_its_path_left_open() -> None:
    assert TEMPLATE.replace("{+path}", "a/b.md") == page_uri("a/b.md")

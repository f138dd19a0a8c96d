"""What people type -> what FTS5 accepts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_books import book, found

from ubp.packs.specs.query_syntax import phrases, understood

NASTY = (
    "what is a slice?",
    "C++",
    "foo-bar",
    "map[string]int",
    "a:b",
    "it's",
    '"unbalanced',
    "AND",
    "NEAR(a b)",
    "slice AND",
    "NOT slice",
    "AND OR NOT",
    "(slice",
    "slice)",
    "(slice OR",
    ")",
    "((",
    "(" * 500 + "a OR b" + ")" * 500,
    "^slice",
    "title:slice",
    "{slice}",
    "slice*types",
    '""',
    "\\",
    "%",
    "x\x00y",
    "\ud800",
    "日本語",
    "型",
    "a" * 5000,
    "ab." * 5000 + "cd",
    "::a.b.ab::型.c",
)


@pytest.mark.parametrize(
    ("query", "strict"),
    [
        ("slice types", '"slice" AND "types"'),
        ("apple NOT pear", '"apple" NOT "pear"'),
        ("a AND NOT b", '"a" NOT "b"'),
        ("fig OR pear plum", '"fig" OR "pear" AND "plum"'),
        ('"red apple" x', '"red apple" AND "x"'),
        ("lanter*", '"lanter" *'),
        ("(fig OR pear) AND plum", '( "fig" OR "pear" ) AND "plum"'),
        (
            'plum NOT ("red fig" OR (a b))',
            '"plum" NOT ( "red fig" OR ( "a" AND "b" ) )',
        ),
        ("plum ( fig OR pear )", '"plum" AND ( "fig" OR "pear" )'),
        ("func() OR (method", '"func" AND "or" AND "method"'),
        ("() OR a", '"or" AND "a"'),
        ("x() OR y()", '"x" OR "y"'),
        ("slice AND", '"slice" AND "and"'),
        ("and or", '"and" AND "or"'),
        ("map[string]int", '"map string int"'),
        ("認証フロー", '"認証 証フ フロ ロー"'),
    ],
)
def test_a_query_is_understood_as_it_is_meant(query: str, strict: str) -> None:
    assert understood(query).strict == strict


def test_words_that_say_little_are_no_reason_to_find_nothing() -> None:
    asked = understood("what is a slice type?")

    assert asked.every == '"slice" AND "type"'
    assert asked.some == '"slice" OR "type"'


def test_the_parts_of_a_name_tell_what_is_meant_and_so_does_the_whole() -> None:
    every = '("promise" OR "promise all") AND "all"'

    assert understood("what is Promise.all?").every == every
    assert understood("e.g. a slice").every == '"slice"'
    assert understood("the slice").every == '"slice"'


@pytest.mark.parametrize("name", ["any", "all", "with", "keys", "then"])
def test_a_method_is_found_by_its_name(name: str) -> None:
    methods = ("then", "keys", "with", "any", "all")
    page = "".join(
        f"# {thing}.{method}\n\nThe keys of a {thing}.\n\n"
        for thing in ("Promise", "Map", "KeysOfPromise")
        for method in methods
    )

    assert found(book({"a.md": page}), f"Promise.{name}")[0] == f"Promise.{name}"


def test_what_has_no_words_is_looked_for_as_it_stands() -> None:
    assert understood(":= <-").symbols == (":=", "<-")
    assert understood(" \t\n") == ("", "", "", ())


def test_the_phrases_of_an_expression_are_counted_as_fts5_does() -> None:
    assert phrases('"a b" AND "c" * NOT "d"') == ['"a b"', '"c" *', '"d"']


BOOK = {"a.md": "# Slices\n\nA slice.\n\n# 型\n\n日本語 C++ := x\n"}


@pytest.mark.parametrize("query", NASTY, ids=lambda query: repr(query)[:20])
def test_nothing_that_is_typed_is_an_error(query: str) -> None:
    found(book(BOOK), query)


@given(st.lists(st.sampled_from([*NASTY, '"', "*", "a*", '"b c"', "OR"]), max_size=6))
def test_no_mixture_is_an_error_either(parts: list[str]) -> None:
    db = book(BOOK)
    found(db, " ".join(parts))
    found(db, "".join(parts))

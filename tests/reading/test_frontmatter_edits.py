"""Editing front matter: what is not meant stays, to the byte."""

from difflib import ndiff
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.reading import frontmatter
from ubp.reading.frontmatter_edits import CannotEdit, Parts, edited, parts_of

BY_HAND = """---
# what this is about
title: By hand   # keep me
vendor-ref: 'acme-7781'
labels:
  - a  # one
  - "b"

# before due
due: 2031-02-03
watchers: [ann, "bob"]
meta:
  owner: {team: blue, seats: 4}
  links:
    - url: https://example.org/a
empty:
text: |
  hello

  there

last: x
---

Body
---
not: front matter
"""


def parts(text: str) -> Parts:
    found = parts_of(text)
    assert found is not None
    return found


def changed_lines(text: str, changes: dict[str, Any]) -> list[str]:
    after = "".join(edited(parts(text), changes))
    return [
        line.rstrip("\n")
        for line in ndiff(
            text.splitlines(keepends=True), after.splitlines(keepends=True)
        )
        if line[0] in "+-"
    ]


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, []),
        ({"last": "x"}, []),
        (
            {"title": "New"},
            ["- title: By hand   # keep me", "+ title: New   # keep me"],
        ),
        ({"vendor-ref": None}, ["- vendor-ref: 'acme-7781'"]),
        ({"labels": ["a", "b", "c"]}, ["+   - c"]),
        ({"labels": ["b"]}, ["-   - a  # one"]),
        ({"watchers": ["bob"]}, ['- watchers: [ann, "bob"]', '+ watchers: ["bob"]']),
        (
            {"watchers": ["ann", "bob", "eve"]},
            ['- watchers: [ann, "bob"]', '+ watchers: [ann, "bob", eve]'],
        ),
        ({"empty": "full"}, ["- empty:", "+ empty: full"]),
        ({"empty": ["x"]}, ["- empty:", "+ empty: [x]"]),
        ({"new": 3}, ["+ new: 3"]),
        ({"due": "yes"}, ["- due: 2031-02-03", '+ due: "yes"']),
        ({"text": None}, ["- text: |", "-   hello", "- ", "-   there"]),
        (
            {"meta": None},
            [
                "- meta:",
                "-   owner: {team: blue, seats: 4}",
                "-   links:",
                "-     - url: https://example.org/a",
            ],
        ),
    ],
    ids=str,
)
def test_only_the_lines_of_what_changes_are_others(
    changes: dict[str, Any], lines: list[str]
) -> None:
    found = [line for line in changed_lines(BY_HAND, changes) if line[0] != "?"]

    assert sorted(found) == sorted(lines)


def test_windows_line_ends_stay() -> None:
    text = BY_HAND.replace("\n", "\r\n")

    after = "".join(edited(parts(text), {"labels": ["a", "b", "c"], "new": "x\ny"}))

    assert after.count("\n") == after.count("\r\n")
    assert "  - c\r\n" in after


def test_a_block_in_braces_can_be_edited() -> None:
    text = '---\n{"id": "x", "title": "y", "z": [1, 2]}\n---\n'

    after = "".join(edited(parts(text), {"title": None, "lane": "core", "id": "q"}))

    assert after == '---\n{"id": q, "z": [1, 2], "lane": "core"}\n---\n'


@pytest.mark.parametrize(
    "block",
    [
        "a: &x [1]\nb: *x\n",
        "? [complex]\n: 1\n",
        "a: [\n",
        "- a list\n",
        "<<: {a: 1}\n? b\n: *missing\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused(block: str) -> None:
    with pytest.raises(CannotEdit):
        edited(parts(f"---\n{block}---\n"), {"b": "new", "a": "other"})


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.text(max_size=40)
    | st.sampled_from(
        ["yes", "1e3", "0x1f", "~", "2024-01-01", "- x", "a: b", "#", " x "]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
keys = st.sampled_from(
    ["title", "lane", "labels", "due", "meta", "text", "new", "ключ", "名"]
)


@given(st.lists(st.dictionaries(keys, values, max_size=3), max_size=4))
def test_whatever_is_set_is_read_again_and_nothing_else_changes(
    rounds: list[dict[str, Any]],
) -> None:
    now = parts(BY_HAND)
    said, _, _ = frontmatter.split("".join(now))
    for changes in rounds:
        try:
            now = edited(now, changes)
        except CannotEdit:
            continue  # refused, so nothing was changed
        said.update(changes)
        said = {k: v for k, v in said.items() if k not in changes or v is not None}

    again, body, warnings = frontmatter.split("".join(now))
    assert (again, warnings) == (said, [])
    assert body == parts(BY_HAND).rest
    assert "vendor-ref: 'acme-7781'\n" in now.block
    assert "# before due\n" in now.block


@given(st.text(max_size=60))
def test_every_line_of_printable_text_can_be_a_value(text: str) -> None:
    text = "".join(c for c in text if c.isprintable())

    after = edited(Parts("---\n", "", "---\n", ""), {"title": text})

    assert frontmatter.split("".join(after)).values == {"title": text}


@given(st.text(alphabet="ab:-# \n\"'[]{},|>&*!%@?\t\r\u2028", max_size=60))
def test_any_block_is_changed_rightly_or_refused(block: str) -> None:
    text = f"---\n{block}\n---\nrest\n"
    found = parts_of(text)
    if found is None:
        return
    try:
        after = edited(found, {"a": "new"})
    except CannotEdit:
        return
    before = frontmatter.split(text.replace("\r\n", "\n")).values
    said = frontmatter.split("".join(after).replace("\r\n", "\n")).values
    assert said == {**before, "a": "new"}

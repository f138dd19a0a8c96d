"""JSON with comments: changed in one place, and nowhere else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.clients.jsonc import Document, NotJson, parse

KEYS = ("servers", "ubp")
ENTRY = {"command": "/bin/ubp", "args": ["serve", "プロジェクト"]}


def read(text: str) -> Document:
    return parse(text, comments=True)


def added(text: str, path: tuple[str, ...] = KEYS) -> str:
    return read(text).adding(path, ENTRY).of(text)


def removed(text: str, path: tuple[str, ...] = KEYS) -> str:
    return read(text).removing(path).of(text)


def test_a_member_is_added_after_the_last_and_the_comment_on_its_line() -> None:
    text = '// top\n{\n\t"a": 1, // one\n\t"servers": {\n\t\t"b": {} // other\n\t} /* end */\n}\n'

    made = added(text)

    assert made.startswith(
        '// top\n{\n\t"a": 1, // one\n\t"servers": {\n\t\t"b": {}, // other\n\t\t"ubp": {\n'
    )
    assert made.endswith("\t\t}\n\t} /* end */\n}\n")
    assert read(made).get(KEYS) == ENTRY


def test_a_comma_at_the_end_stays_a_comma_at_the_end() -> None:
    text = '{\n  "servers": {\n    "b": {}, // mine\n  },\n}'

    made = added(text)

    assert '"b": {}, // mine\n    "ubp": {' in made
    assert made.endswith("    },\n  },\n}")
    assert removed(made) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "// nothing yet",
        '{\n  "a": 1 // c\u3000\n}',
        "/* nothing\n yet */\n",
        "{}",
        "{ }",
        "{\n}\n",
        "{ // c\n}",
        '{"servers":{}}',
        '{"servers":{"a":1}}',
        '{"a": [1, 2,], }',
        '{\r\n    "a": "//no comment /* */ ,}"\r\n}\r\n',
        '{\n  "servers": {"x": {}}\n}',
        '{\n  "servers": {\n    // empty\n  }\n}',
        '{\n  "a": 1\n  /* block\n  */\n}',
        '{"a": 1\n}',
        '{\n  "a": 1 }',
    ],
)
def test_what_was_there_stays_and_what_is_added_can_be_cut_out(text: str) -> None:
    before = read(text)
    edit = before.adding(KEYS, ENTRY)

    made = edit.of(text)

    after = read(made)
    assert after.get(KEYS) == ENTRY
    assert {**after.value, "servers": None} == {**before.value, "servers": None}
    back = made[: edit.start] + text[edit.start : edit.end]
    assert back + made[edit.start + len(edit.new) :] == text
    assert ("\r\n" in made) == ("\r\n" in text)
    assert read(removed(made)).get(KEYS) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"s": {"x": 1, "y": 2}}', '{"s": {"y": 2}}'),
        ('{"s": {"y": 2, "x": 1}}', '{"s": {"y": 2}}'),
        ('{"s": {"x": 1}}', '{"s": {}}'),
        ('{"s": {\n  "x": 1,\n}}', '{"s": {}}'),
        (
            '{"s": {\n  "x": 1, // x\n  // y\n  "y": 2\n}}',
            '{"s": {\n  // x\n  // y\n  "y": 2\n}}',
        ),
        ('{"s": {\n  "y": 2, // y\n  "x": 1\n}}', '{"s": {\n  "y": 2 // y\n}}'),
        ('{"s": {\n  // x\n  "x": 1\n}}', '{"s": {\n  // x\n}}'),
        ('{"s": {\n  // x\n  "x": 1 }}', '{"s": {\n  // x\n   }}'),
    ],
)
def test_removing_takes_one_member_and_one_comma(text: str, wanted: str) -> None:
    assert removed(text, ("s", "x")) == wanted
    assert read(wanted).get(("s", "x")) is None


def test_a_value_is_replaced_in_its_place() -> None:
    text = '{\n  "s": {\n    "x": [1], // kept\n    "y": 2\n  }\n}'

    made = read(text).replacing(("s", "x"), ["a", "b"]).of(text)

    assert made == text.replace("[1]", '[\n      "a",\n      "b"\n    ]')


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "nothing",
        "\x1f",
        '{"a": NaN}',
        "{'a': 1}",
        '{"a": 1 "b": 2}',
        '{"a": 1,,}',
        "{,}",
        '{"a": "open}',
        "{} {}",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        read(text)


def test_comments_are_refused_where_a_client_does_not_read_them() -> None:
    with pytest.raises(NotJson, match="line 2"):
        parse('{\n  // no\n  "a": 1}', comments=False)


@pytest.mark.parametrize("text", ['{"servers": []}', '{"servers": {}, "servers": {}}'])
def test_a_place_that_is_not_certain_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        read(text).get(KEYS)


leaves = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)
servers = st.dictionaries(st.text(), values, max_size=3)
objects = st.dictionaries(st.text(), values, max_size=3)
spaces = st.sampled_from(["", " ", "\n  ", "/* , } */", "// { ,\n", "\r\n\t"])


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An object, written as wildly as JSON with comments allows."""

    def written(value: Any) -> str:
        def item(text: str) -> str:
            return draw(spaces) + text + draw(spaces)

        if isinstance(value, dict):
            parts = [
                item(json.dumps(key, ensure_ascii=False)) + ":" + item(written(each))
                for key, each in value.items()
            ]
        elif isinstance(value, list):
            parts = [item(written(each)) for each in value]
        else:
            return json.dumps(value, ensure_ascii=False)
        ends_with_comma: bool = draw(st.booleans())
        end = "," + draw(spaces) if parts and ends_with_comma else ""
        inside = ",".join(parts) + end if parts else draw(spaces)
        return "{" + inside + "}" if isinstance(value, dict) else "[" + inside + "]"

    value: dict[str, Any] = draw(objects)
    value.pop("servers", None)
    if draw(st.booleans()):
        value["servers"] = {k: v for k, v in draw(servers).items() if k != "ubp"}
    return draw(spaces) + written(value) + draw(spaces), value


@given(texts())
def test_whatever_the_text_only_the_entry_comes_and_goes(
    written: tuple[str, dict[str, Any]],
) -> None:
    text, value = written

    made = added(text)
    gone = removed(made)

    assert read(text).value == value
    inside = {**value.get("servers", {}), "ubp": ENTRY}
    assert read(made).value == {**value, "servers": inside}
    assert read(gone).value == {**value, "servers": value.get("servers", {})}


@given(st.text() | st.text(alphabet='{}[],:"/*\\ \n1a'))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = read(text)
        made = document.adding(("key",), 1).of(text)
    except NotJson:
        return
    assert read(made).value == {**document.value, "key": 1} or "key" in document.value

"""The block at the top of a file: always an answer, and the body never suffers."""

import json
import re
from pathlib import Path
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, front_matter

from ubp.reading import frontmatter
from ubp.reading.frontmatter import INVALID, LARGEST_BLOCK, FrontMatter, split

YAML_CASES = Path(__file__).parents[3] / "shared/corpora/bad_input/yaml_cases.jsonl"
BLOCK = re.compile(r"---[ \t]*\n(?:.*\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def kinds(found: FrontMatter) -> list[str]:
    return [warning.kind for warning in found.warnings]


def test_values_and_body_are_parted() -> None:
    text = "---\ntitle: A page\ntags: [a, b]\n---\n\n# Body\n"

    assert split(text) == FrontMatter(
        {"title": "A page", "tags": ["a", "b"]}, "\n# Body\n", []
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "---\ntitle: never closed\n",
        "\n---\ntitle: not at the top\n---\n",
        " ---\ntitle: indented\n---\n",
        "----\ntitle: a rule\n----\n",
        "--- title: on one line ---\n",
    ],
)
def test_text_without_a_block_is_all_body(text: str) -> None:
    assert split(text) == FrontMatter({}, text, [])


@pytest.mark.parametrize("block", ["", "\n\n", "# only a comment\n", "~\n", "null\n"])
def test_empty_block_is_no_values_and_no_warning(block: str) -> None:
    assert split(f"---\n{block}---\nbody") == FrontMatter({}, "body", [])


@pytest.mark.parametrize("closing", ["---\n", "...\n", "---  \t\n"])
def test_block_ends_at_dashes_or_dots(closing: str) -> None:
    assert split(f"---\na: b\n{closing}body") == FrontMatter({"a": "b"}, "body", [])


def test_block_may_end_with_the_file() -> None:
    assert split("---\na: b\n---") == FrontMatter({"a": "b"}, "", [])


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("title: [unclosed", id="invalid"),
        pytest.param("a: b: c", id="two colons"),
        pytest.param("\tkey: value", id="tab"),
        pytest.param("- a\n- b", id="a list"),
        pytest.param("just words", id="words"),
        pytest.param("42", id="a number"),
        pytest.param("a: !!python/object:os.system x", id="a Python object"),
        pytest.param("a: \x07", id="a control character"),
        pytest.param("? [a]\n: b", id="a list as key"),
        pytest.param("a: *nowhere", id="an unknown alias"),
        pytest.param(f"a: {'x' * (LARGEST_BLOCK + 1)}", id="too large"),
    ],
)
def test_unusable_block_is_one_warning_and_the_same_body(block: str) -> None:
    found = split(f"---\n{block}\n---\nbody")

    assert found.values == {}
    assert found.body == "body"
    assert kinds(found) == [INVALID]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(f"a: {'[' * 100_000}", id="brackets, never closed"),
        pytest.param(f"a: {'[' * 60}{']' * 60}", id="brackets"),
        pytest.param(f"{'{a: ' * 60}b{'}' * 60}", id="braces"),
        pytest.param(f"{'- ' * 100_000}a", id="dashes"),
        pytest.param(f"{'? ' * 100_000}a", id="question marks"),
        pytest.param("-\t" * 100_000, id="dashes and tabs"),
        pytest.param(
            "\n".join(f"{' ' * depth}k:" for depth in range(400)), id="indentation"
        ),
        pytest.param("\n".join(f"{' ' * n}-" for n in range(400)), id="lists"),
    ],
)
def test_deep_nesting_is_a_warning(block: str) -> None:
    found = split(f"---\n{block}\n---\nbody")

    assert found.values == {}
    assert found.body == "body"
    assert kinds(found) == [INVALID]


def test_nesting_people_use_is_kept() -> None:
    block = f"a: {'[' * 20}deep{']' * 20}"

    found = split(f"---\n{block}\n---\n")

    assert found.warnings == []
    assert json.dumps(found.values["a"]) == f'{"[" * 20}"deep"{"]" * 20}'


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(
            "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
            + "\n".join(
                f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)
            ),
            id="billions",
        ),
        pytest.param("a: &a [*a]", id="itself"),
        pytest.param("a: &a {b: *a, c: *a}", id="itself twice"),
    ],
)
def test_alias_bomb_is_a_warning(block: str) -> None:
    found = split(f"---\n{block}\n---\nbody")

    assert found.values == {}
    assert kinds(found) == [INVALID]


def test_alias_is_the_value_it_names() -> None:
    found = split("---\na: &a [1, 2]\nb: *a\n---\n")

    assert found.values == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2024-01-02", "2024-01-02"),
        ("2024-01-02 03:04:05", "2024-01-02 03:04:05"),
        ("2024-13-45", "2024-13-45"),
        ("12:30:45", "12:30:45"),
        ("no", "no"),
        ("off", "off"),
        ("Yes", "Yes"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("42", 42),
        ("-7", -7),
        ("0", 0),
        ("007", "007"),
        ("0x1f", "0x1f"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        ("1e3", "1e3"),
        ("-0.25", -0.25),
        ("3.10", "3.10"),
        ("+1.5", "+1.5"),
        ("1.5e3", "1.5e3"),
        (".inf", ".inf"),
        ("!!float .inf", ".inf"),
        ("!!float inf", "inf"),
        ("!!float 2.5", 2.5),
        (".nan", ".nan"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1.0.0", "1.0.0"),
        ("'42'", "42"),
        ("=", "="),
        ("日本語", "日本語"),
        ('"a\\0b"', "ab"),
    ],
)
def test_only_what_json_has_is_not_a_string(written: str, value: object) -> None:
    found = split(f"---\nkey: {written}\n---\n")

    assert found == FrontMatter({"key": value}, "", [])
    assert type(found.values["key"]) is type(value)


def test_keys_are_always_text() -> None:
    found = split("---\n1: a\n1.5: b\n~: c\n2024-01-02: d\n---\n")

    assert found.values == {"1": "a", "1.5": "b", "None": "c", "2024-01-02": "d"}


def test_merge_key_is_a_key_like_any_other() -> None:
    found = split("---\n<<: {a: b}\n---\n")

    assert found.values == {"<<": {"a": "b"}}


@given(front_matter)
def test_any_text_is_an_answer_and_no_character_of_the_body_is_lost(text: str) -> None:
    found = split(text)

    assert text.endswith(found.body)
    block = text.removesuffix(found.body) if found.body else text
    assert block == "" or BLOCK.fullmatch(block)


@given(front_matter)
def test_values_can_always_be_json(text: str) -> None:
    values = split(text).values

    decoded = msgspec.json.decode(msgspec.json.encode(values))
    assert decoded == values


# YAML takes every JSON, except for escaped surrogates and lines that Unicode ends.
VISIBLE = st.text(st.characters(categories=("L", "N", "P", "S")))


@given(
    st.dictionaries(
        VISIBLE,
        st.one_of(st.none(), st.booleans(), st.integers(-(10**17), 10**17), VISIBLE),
        min_size=1,
    ),
    anything,
)
def test_what_is_written_as_json_is_read_back(
    values: dict[str, object], body: str
) -> None:
    text = f"---\n{json.dumps(values, ensure_ascii=False)}\n---\n{body}"

    assert split(text) == FrontMatter(values, body, [])


@pytest.mark.skipif(not YAML_CASES.exists(), reason="the shared corpora are not here")
def test_cases_of_the_yaml_test_suite_are_answers() -> None:
    cases = [json.loads(line) for line in YAML_CASES.read_text("utf-8").splitlines()]

    for case in cases:
        text = f"---\n{case['yaml']}\n---\nbody"
        found = split(text)
        msgspec.json.encode(found.values)
        assert found.body.endswith("body")


@pytest.mark.parametrize(
    "value", ["!!bool perhaps", "!!int ''", "!!float ''", "!!timestamp soon"]
)
def test_tag_that_does_not_fit_its_value_is_a_warning(value: str) -> None:
    found = split(f"---\na: {value}\n---\nbody")

    assert found.values == {}
    assert found.body == "body"
    assert kinds(found) == [INVALID]


def test_number_beyond_all_bounds_can_still_be_json() -> None:
    found = split(f"---\na: !!int 0x{'f' * 5_000}\n---\nbody")

    assert msgspec.json.encode(found.values)


_TOKENS = st.sampled_from(
    [
        "title",
        "id",
        "labels",
        "true",
        "null",
        "no",
        "yes",
        "P1",
        "01HZY3K5E0",
        "1e5",
        "12",
        "0",
        "012",
        "1.5",
        "2024-05-06",
        "2024-05-06T07:08:09Z",
        '"a"',
        "'b'",
        '"a:',
        'b"',
        "日本語",
        "é",
        "[",
        "]",
        ",",
        ":",
        "#",
        "-",
        "?",
        "!",
        "&",
        "*",
        "{",
        "}",
        "|",
        ">",
        "%",
        "@",
        "`",
        "=",
        "~",
        ".",
        "/",
        "(",
        ")",
        ";",
        "a-b",
        "a_b",
        "\\",
        "\u2028",
        "\x85",
        "\ufeff",
        "\t",
    ]
)
_LINES = st.lists(
    st.tuples(
        st.sampled_from(["title", "id", "a-b", "_x", "null", "True", "k k", "日"]),
        st.sampled_from([": ", ":", " : ", ":  "]),
        st.lists(_TOKENS, max_size=4).flatmap(
            lambda each: st.sampled_from(
                [" ".join(each), ", ".join(each), "".join(each)]
            )
        ),
        st.sampled_from(["{}", "[{}]", '"{}"', "'{}'", "{} ", "{} # c"]),
    ).map(lambda parts: parts[0] + parts[1] + parts[3].replace("{}", parts[2])),
    min_size=1,
    max_size=3,
)


@given(_LINES)
def test_what_is_read_quickly_is_what_yaml_says(lines: list[str]) -> None:
    block = "\n".join([*lines, ""])
    quick = frontmatter._simple(block)

    if quick is not None:
        with patch.object(frontmatter, "_simple", return_value=None):
            assert split(f"---\n{block}---\n") == FrontMatter(quick, "", [])


def test_a_usual_block_is_read_quickly() -> None:
    block = (
        "id: 01HZY3K5E00000000000000001\ntitle: Write the parser (part 2)\nsize: 3\n"
        'labels: [backend, "needs review"]\ncreated_at: "2024-05-01T08:00:00Z"\n'
        "due: 2024-05-01\nlane: 検索\nnone: []\n"
    )

    assert frontmatter._simple(block) == {
        "id": "01HZY3K5E00000000000000001",
        "title": "Write the parser (part 2)",
        "size": 3,
        "labels": ["backend", "needs review"],
        "created_at": "2024-05-01T08:00:00Z",
        "due": "2024-05-01",
        "lane": "検索",
        "none": [],
    }

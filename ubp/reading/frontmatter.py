"""Split the block at the top of a file from its body, and decode it.

YAML is read with libyaml. Only what JSON has too is recognised: null, true and false,
numbers. Dates stay the text their author wrote, as do numbers that would be shown in
another way, such as version 3.10; and ``no`` is a word, not a falsehood.
"""

import re
from math import isfinite
from typing import Any, NamedTuple

import yaml

from ubp.messages import Warned

__all__ = ("INVALID", "FrontMatter", "split", "tags", "texts")

INVALID = "invalid_frontmatter"

LARGEST_BLOCK = 256 * 1024
"""Characters. A larger block is no front matter anybody wrote."""

_MOST_VALUES = 20_000
"""Aliases can make a short block stand for billions of values."""

_DEEPEST = 50

# What a block must contain to be nested deeper than anybody nests by hand.
_MAY_BE_DEEP = re.compile(r"(?:[-?][ \t]+){20}|(?:[\[{][^\[{]*){50}")

_TAG_KEYS = ("tags", "topics")
"""Where authors put them; the latter is what Zenn wants."""

_COMMAS = re.compile("[,、，]")
_SPACES = re.compile(r"\s+")

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)


class FrontMatter(NamedTuple):
    """The values at the top of a file, the rest of it, and what was wrong."""

    values: dict[str, Any]
    body: str
    warnings: list[Warned]


class _JsonLoader(yaml.CSafeLoader):
    """The safe loader with JSON's idea of what is not a string."""


_JsonLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})\Z", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:[0-9]{1,300}\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?\Z",
        list("-+0123456789."),
    ),
):
    _JsonLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first
    )


class _Loader(_JsonLoader):
    """The same, but a number that would be shown in another way stays text."""


def _float(loader: _Loader, node: yaml.ScalarNode) -> float | str:
    """A number, unless its author would miss something of it: 3.10 is not 3.1."""
    number: float = loader.construct_yaml_float(node)
    written: str = node.value
    return number if isfinite(number) and repr(number) == written else written


_Loader.add_constructor("tag:yaml.org,2002:float", _float)


def split(text: str, *, as_written: bool = True) -> FrontMatter:
    """Front matter and body of *text*, in lines of Unix style.

    A block that cannot be used gives a warning and no values; the body is the same.
    Unless *as_written*, 3.10 is the number that any other reader of YAML sees.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return FrontMatter({}, text, [])
    block, body = text[opening.end() : closing.start()], text[closing.end() :]
    try:
        values = _decode(block, _Loader if as_written else _JsonLoader)
    except _Unusable as error:
        return FrontMatter({}, body, [Warned(INVALID, str(error))])
    return FrontMatter(values, body, [])


def tags(values: dict[str, Any]) -> tuple[str, ...]:
    """The tags in front matter, however they are written; each once.

    One text may hold several: between commas where it has any, else between spaces.
    """
    found: list[str] = []
    for key in _TAG_KEYS:
        given = values.get(key)
        if isinstance(given, str):
            separator = _COMMAS if _COMMAS.search(given) else _SPACES
            given = separator.split(given)
        found += (text.lstrip("#").strip() for text in texts(given))
    return tuple(dict.fromkeys(text for text in found if text))


def texts(given: Any) -> list[str]:
    """A value that should be a list of texts, as one; what says nothing is left out."""
    match given:
        case None:
            return []
        case list():
            return [text for each in given for text in texts(each)]
        case bool():
            return [str(given).lower()]
        case dict():
            return []
        case _:
            text = str(given).strip()
            return [text] if text else []


class _Unusable(Exception):
    """The block is not what front matter can be; the message says why."""


def _decode(block: str, loader: type[_JsonLoader]) -> dict[str, Any]:
    if len(block) > LARGEST_BLOCK:
        raise _Unusable("The front matter is too large to be front matter.")
    if (simple := _simple(block)) is not None:
        return simple
    try:
        _refuse_depth(block)
        loaded = yaml.load(block, Loader=loader)  # noqa: S506 - a safe loader
        plain = _Plain().value(loaded)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 2})" if mark else ""
        raise _Unusable(
            f"The front matter is not valid YAML: {problem}{where}."
        ) from None
    except _DOES_NOT_FIT:
        raise _Unusable(
            "The front matter is not valid YAML: a value does not fit."
        ) from None
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise _Unusable("The front matter is not a mapping of names to values.")
    return plain


# Lines that YAML can only read in one way: a name, and a word or words, a text in
# quotes without escapes, a number, a moment, or a short list of these.
_PLAIN = r"[^\W\d_](?:[\w ./()+@=;-]*[\w)+])?"
_CODE = r"[0-9][0-9A-Za-z]*[A-Za-z][0-9A-Za-z]*"
_MOMENT = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?"
_INSIDE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_QUOTED = rf"\"[^\"\\{_INSIDE}]*\"|'[^'{_INSIDE}]*'"
_ONE = rf"{_PLAIN}|{_CODE}|{_QUOTED}"
_SIMPLE_LINE = re.compile(
    rf"(?P<key>[A-Za-z_][A-Za-z0-9_-]*):(?: (?P<number>0|[1-9][0-9]{{0,17}})"
    rf"| (?P<text>{_ONE}|{_MOMENT})| \[(?P<list>(?:(?:{_ONE})(?:, (?:{_ONE}))*)?)\])\Z"
)
_SIMPLE_ITEM = re.compile(_ONE)
_NOT_TEXT = frozenset({"null", "true", "false"})


def _simple(block: str) -> dict[str, Any] | None:
    """What most blocks say, many times quicker than by libyaml; None for the others."""
    values: dict[str, Any] = {}
    for line in block.removesuffix("\n").split("\n"):
        found = _SIMPLE_LINE.match(line)
        if found is None or found["key"].lower() in _NOT_TEXT:
            return None
        if found["number"] is not None:
            values[found["key"]] = int(found["number"])
            continue
        texts = [found["text"]]
        if found["list"] is not None:
            texts = _SIMPLE_ITEM.findall(found["list"])
        if any(text.lower() in _NOT_TEXT for text in texts):
            return None
        plain = [text[1:-1] if text[0] in "'\"" else text for text in texts]
        values[found["key"]] = plain[0] if found["list"] is None else plain
    return values


def _refuse_depth(block: str) -> None:
    """Refuse what would overflow the stack of libyaml's recursive composer."""
    if not _MAY_BE_DEEP.search(block):
        return
    depth = 0
    for event in yaml.parse(block, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise _Unusable("The front matter is nested too deeply.")


# What constructors of PyYAML raise where an explicit tag does not fit its value.
_DOES_NOT_FIT = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
"""Larger integers become text: not every reader of JSON has them."""


class _Plain:
    """Turns decoded YAML into what JSON can say, within bounds."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def value(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _Unusable("The front matter expands to too many values.")
        match value:
            case dict():
                return {
                    _text(key): self.value(inner, depth + 1)
                    for key, inner in value.items()
                }
            case list() | tuple() | set():
                return [self.value(inner, depth + 1) for inner in value]
            case int() if not _SMALLEST <= value <= _LARGEST:
                return hex(value)
            case None | bool() | int() | float():
                return value
            case _:
                return _text(value)


def _text(value: Any) -> str:
    """*value* as text that every database and wire can carry."""
    text = value if isinstance(value, str) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")

"""Change values in the block at the top of a file, and not one byte besides.

The parser says where each value stands, and only there is the text replaced: order,
comments, quoting, blank lines and unknown keys stay as their author wrote them. The new
text is then read again; if it does not say what it should, the change is refused.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from ubp.reading import frontmatter

__all__ = ("CannotEdit", "Parts", "edited", "parts_of", "rendered_block")

_BLOCK = re.compile(
    r"\A(---[ \t]*(\r?\n))(.*?)(^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z))",
    re.MULTILINE | re.DOTALL,
)

_LONGEST_INLINE = 72
"""Characters of a list that still stands on one line."""

# What no version of YAML takes for anything but text, wherever it stands.
_PLAIN = re.compile(r"[^\W_](?:[\w ./()+=~;-]*[\w.()+])?\Z")
_NUMBERS = re.compile(
    r"0x[0-9a-f_]+\Z|0o?[0-7_]+\Z|0b[01_]+\Z"
    r"|[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?\Z|inf\Z|nan\Z",
    re.IGNORECASE,
)
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_DATE = re.compile(r"\d{4}-\d")
_LINES = re.compile(r"[^\s\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_NOT_IN_LINES = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]| $", re.MULTILINE
)


class CannotEdit(Exception):
    """The block is not one that can be changed with care; the message says why."""


class Parts(NamedTuple):
    """A text: opening fence, block, closing fence and what follows."""

    opening: str
    block: str
    closing: str
    rest: str

    @property
    def newline(self) -> str:
        return "\r\n" if self.opening.endswith("\r\n") else "\n"


class _Entry(NamedTuple):
    """A key and its value, and where they stand in the block."""

    name: str
    key: yaml.Node
    value: yaml.Node


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def parts_of(text: str) -> Parts | None:
    """*text* taken apart; None if it has no front matter."""
    found = _BLOCK.match(text)
    if found is None:
        return None
    return Parts(found[1], found[3], found[4], text[found.end() :])


def edited(parts: Parts, changes: Mapping[str, Any]) -> Parts:
    """*parts* with other values; None takes a key out, and one it lacks is added.

    Raises:
        CannotEdit: It is not a block of names and values, or one with tricks.
    """
    before = _decoded(parts)
    wanted = {**before, **changes}
    wanted = {
        key: value
        for key, value in wanted.items()
        if key not in changes or value is not None
    }
    if list(wanted.items()) == list(before.items()):
        return parts
    root = _composed(parts.block)
    block = parts.block
    newline = parts.newline
    if root is None:
        block = _added(block, changes, newline)
    else:
        entries = _entries(root)
        edits: list[_Edit] = []
        new: dict[str, Any] = {}
        for name, value in changes.items():
            mine = [entry for entry in entries if entry.name == name]
            if not mine and value is not None:
                new[name] = value
            elif mine and value is None:
                edits += _removals(block, root, entries, mine)
            elif mine and value != before.get(name):
                edits.append(_replacement(block, mine[-1], value, newline))
        block = _applied(block, edits)
        if new:
            block = (
                _added_inline(block, new)
                if root.flow_style
                else _added(block, new, newline)
            )
    made = parts._replace(block=block)
    try:
        says = _decoded(made)
    except CannotEdit:
        says = None
    if says != wanted or parts_of("".join(made)) != made:
        raise CannotEdit("It is written in a way that cannot be changed safely.")
    return made


def rendered_block(values: Mapping[str, Any]) -> str:
    """A new block that holds *values*, in their order."""
    return _added("", values, "\n")


# -- reading ---------------------------------------------------------------------------


def _decoded(parts: Parts) -> dict[str, Any]:
    text = f"---\n{parts.block}---\n".replace("\r\n", "\n")
    values, _, warnings = frontmatter.split(text)
    if warnings:
        raise CannotEdit(warnings[0].text)
    return values


def _composed(block: str) -> yaml.MappingNode | None:
    """The mapping in *block*, which is known to be sound; None if it is empty."""
    root = yaml.compose(block, Loader=yaml.CSafeLoader)
    if root is None or not isinstance(root, yaml.MappingNode):
        return None
    return root


def _entries(root: yaml.MappingNode) -> list[_Entry]:
    entries: list[_Entry] = []
    reached = root.start_mark.index
    for key, value in root.value:
        # What an alias stands for is elsewhere.
        if (
            key.start_mark.index < reached
            or value.start_mark.index < key.end_mark.index
        ):
            raise CannotEdit("It has an alias, which stands for another value.")
        if not isinstance(key, yaml.ScalarNode):
            raise CannotEdit("It has a key that is no word.")
        reached = value.start_mark.index
        entries.append(_Entry(str(key.value), key, value))
    return entries


def _end(block: str, node: Any) -> int:
    """Where the text of *node* ends: before comments and blank lines that follow."""
    if isinstance(node, yaml.ScalarNode):
        end: int = node.end_mark.index
        if node.style in ("|", ">"):
            end = node.start_mark.index + len(
                block[node.start_mark.index : end].rstrip("\r\n \t")
            )
        return end
    if node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(block, last[1] if isinstance(last, tuple) else last)


def _line_start(block: str, at: int) -> int:
    return block.rfind("\n", 0, at) + 1


def _line_end(block: str, at: int) -> int:
    """Behind the line break that ends the line of *at*."""
    found = block.find("\n", at)
    return len(block) if found < 0 else found + 1


# -- changing --------------------------------------------------------------------------


def _applied(block: str, edits: Sequence[_Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        block = block[: edit.start] + edit.text + block[edit.end :]
    return block


def _removals(
    block: str, root: yaml.MappingNode, entries: list[_Entry], mine: list[_Entry]
) -> list[_Edit]:
    if not root.flow_style:
        return [
            _Edit(
                _line_start(block, entry.key.start_mark.index),
                _line_end(block, _end(block, entry.value)),
                "",
            )
            for entry in mine
        ]
    spans = [
        (entry.key.start_mark.index, entry.value.end_mark.index) for entry in entries
    ]
    return _without(spans, [entries.index(entry) for entry in mine])


def _without(spans: Sequence[tuple[int, int]], gone: Sequence[int]) -> list[_Edit]:
    """Edits that take items and the commas around them out of a flow collection."""
    kept = [number for number in range(len(spans)) if number not in gone]
    if not kept:
        return [_Edit(spans[0][0], spans[-1][1], "")]
    return [
        _Edit(spans[number][0], spans[number + 1][0], "")
        if number < kept[-1]
        else _Edit(spans[number - 1][1], spans[number][1], "")
        for number in gone
    ]


def _replacement(block: str, entry: _Entry, value: Any, newline: str) -> _Edit:
    node = entry.value
    start, end = node.start_mark.index, _end(block, node)
    if isinstance(node, yaml.SequenceNode) and isinstance(value, list) and value:
        kept = _kept_items(node, value)
        if kept is not None:
            edits = _item_edits(block, node, kept, value, newline)
            return _merged(block, start, end, edits)
    text = _value(value, newline, indent="  ")
    if start == end or "\n" in block[start:end] or text.startswith(newline):
        # From behind the colon, whatever the layout was.
        colon = block.index(":", entry.key.end_mark.index)
        end = max(end, colon + 1)
        lead = "" if text.startswith(newline) else " "
        return _Edit(colon + 1, end, lead + text)
    return _Edit(start, end, text)


def _merged(block: str, start: int, end: int, edits: list[_Edit]) -> _Edit:
    """*edits* as one, of the whole value."""
    start = min([start, *(edit.start for edit in edits)])
    end = max([end, *(edit.end for edit in edits)])
    moved = [_Edit(e.start - start, e.end - start, e.text) for e in edits]
    return _Edit(start, end, _applied(block[start:end], moved))


def _kept_items(node: yaml.SequenceNode, value: list[Any]) -> list[int] | None:
    """Which items stay, if the others go and those that are new come last."""
    kept: list[int] = []
    for number, item in enumerate(node.value):
        if not isinstance(item, yaml.ScalarNode):
            return None
        if len(kept) < len(value) and item.value == value[len(kept)]:
            kept.append(number)
    rest = value[len(kept) :]
    old = {item.value for item in node.value}
    return kept if kept and not any(each in old for each in rest) else None


def _item_edits(
    block: str, node: yaml.SequenceNode, kept: list[int], value: list[Any], newline: str
) -> list[_Edit]:
    items = node.value
    gone = [number for number in range(len(items)) if number not in kept]
    added = [_inline(item) for item in value[len(kept) :]]
    if node.flow_style:
        spans = [(item.start_mark.index, item.end_mark.index) for item in items]
        edits = _without(spans, gone)
        behind = spans[kept[-1]][1]
        if added:
            edits.append(_Edit(behind, behind, "".join(f", {text}" for text in added)))
        return edits
    edits = [
        _Edit(
            _line_start(block, items[number].start_mark.index),
            _line_end(block, _end(block, items[number])),
            "",
        )
        for number in gone
    ]
    if added:
        last = items[kept[-1]]
        first = _line_start(block, last.start_mark.index)
        dash = block[first : last.start_mark.index]
        behind = _line_end(block, _end(block, last))
        edits.append(
            _Edit(behind, behind, "".join(f"{dash}{text}{newline}" for text in added))
        )
    return edits


def _added(block: str, values: Mapping[str, Any], newline: str) -> str:
    if block and not block.endswith("\n"):
        block += newline
    for name, value in values.items():
        if value is None:
            continue
        text = _value(value, newline, indent="  ")
        lead = "" if text.startswith(newline) else " "
        block += f"{_inline(name)}:{lead}{text}{newline}"
    return block


def _added_inline(block: str, values: Mapping[str, Any]) -> str:
    """The same in a mapping between braces."""
    end = block.rindex("}")
    head = block[:end].rstrip()
    comma = "" if head.endswith(("{", ",")) else ", "
    pairs = ", ".join(
        f"{json.dumps(name, ensure_ascii=False)}: {_flow(value)}"
        for name, value in values.items()
    )
    return f"{head}{comma}{pairs}{block[len(head) : end]}{block[end:]}"


# -- writing values --------------------------------------------------------------------


def _value(value: Any, newline: str, *, indent: str) -> str:
    """A value behind its key; where it begins with a line break, as a block."""
    if isinstance(value, list):
        items = [_inline(item) for item in value]
        inline = f"[{', '.join(items)}]"
        if len(inline) <= _LONGEST_INLINE or any("\n" in item for item in items):
            return inline
        return "".join(f"{newline}{indent}- {item}" for item in items)
    if isinstance(value, str) and "\n" in value and _can_be_lines(value):
        lines = value.split("\n")
        body = "".join(
            f"{newline}{indent}{line}" if line else newline for line in lines
        )
        return f"|-{body}"
    return _inline(value)


def _can_be_lines(text: str) -> bool:
    return (
        _LINES.match(text) is not None
        and not text.endswith("\n")
        and _NOT_IN_LINES.search(text) is None
    )


def _inline(value: Any) -> str:
    """A value on one line, also within a list."""
    if isinstance(value, str) and _is_plain(value):
        return value
    return _flow(value)


def _flow(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    # JSON lets pass what YAML takes for a line break, or refuses.
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        text,
    )


def _is_plain(text: str) -> bool:
    return (
        _PLAIN.match(text) is not None
        and not text.isspace()
        and text.lower() not in _WORDS
        and _NUMBERS.match(text) is None
        and _DATE.match(text) is None
        and text.isprintable()
    )

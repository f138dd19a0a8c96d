"""JSON, with comments or without, changed in one place and nowhere else.

Comments and commas at the end of a list are replaced by as many spaces. What is left is
plain JSON of the same length, which the parser of the standard library reads; where it
found something, that is in the text as well. A change is one ``Edit``: a stretch of the
text and what takes its place. All else stays as somebody wrote it.
"""

import json
import re
from typing import Any, NoReturn

from msgspec import Struct

__all__ = ("Document", "Edit", "NotJson", "parse")

Path = tuple[str, ...]

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_BLANK = " \t\r\n"
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")


class NotJson(ValueError):
    """The text cannot be read, or cannot be changed safely; says why."""


class Edit(Struct, frozen=True):
    """What stands from *start* to *end* is to become *new*."""

    start: int
    end: int
    new: str

    def of(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


class _Member(Struct, frozen=True):
    key: str
    start: int
    value: int
    """Where its value begins."""
    end: int


class _Object(Struct, frozen=True):
    start: int
    members: tuple[_Member, ...]
    close: int
    """Where its closing brace is."""

    def get(self, key: str) -> _Member | None:
        found = [each for each in self.members if each.key == key]
        if len(found) > 1:
            raise NotJson(f"The key {key!r} is there twice")
        return found[0] if found else None


def parse(text: str, *, comments: bool) -> "Document":
    """Read *text*; an empty one is an empty object that is not there yet.

    Raises:
        NotJson: It is something else; says where.
    """
    uncommented = _TOKEN.sub(_blank_comment, text) if comments else text
    plain = _blank_commas(uncommented) if comments else text
    if not plain.strip(_BLANK):
        return Document(text, uncommented, plain, None)
    try:
        value = _DECODER.decode(plain)
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, error.pos) + 1
        raise NotJson(f"{error.msg}, in line {line}") from None
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None
    if not isinstance(value, dict):
        raise NotJson("It holds no object")
    return Document(text, uncommented, plain, value)


class Document:
    """A text that is JSON, and where things are in it."""

    def __init__(
        self, text: str, uncommented: str, plain: str, value: dict[str, Any] | None
    ) -> None:
        self.text = text
        self.value: dict[str, Any] = {} if value is None else value
        self._is_empty = value is None
        self._uncommented = uncommented
        self._plain = plain
        self._newline = "\r\n" if "\r\n" in text else "\n"
        indent = _INDENT.search(text)
        self._unit = indent[1] if indent else "  "

    def get(self, path: Path) -> Any:
        """What is at *path*; None if there is nothing.

        Raises:
            NotJson: Something on the way is no object, or is there twice.
        """
        value: Any = self.value
        if not self._is_empty:
            self._walk(path[:-1])
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def adding(self, path: Path, value: Any) -> Edit:
        """How *value* gets to *path*, where nothing is; so do the objects above it.

        Raises:
            NotJson: Something on the way is no object, or is there twice.
        """
        if self._is_empty:
            joint = "" if not self.text or self.text.endswith("\n") else self._newline
            made = self._shown(_nested(path, value), "") + self._newline
            return Edit(len(self.text), len(self.text), joint + made)
        objects = self._walk(path[:-1])
        inner, missing = objects[-1], path[len(objects) - 1 :]
        key, below = missing[0], _nested(missing[1:], value)
        if not inner.members:
            return self._filling(inner, key, below)
        return self._appending(inner, key, below)

    def replacing(self, path: Path, value: Any) -> Edit:
        """How *value* takes the place of what is at *path*."""
        member = self._member(path)
        start = self._line_start(member.start)
        return Edit(
            member.value, member.end, self._shown(value, self._indent_at(start))
        )

    def removing(self, path: Path) -> Edit:
        """How what is at *path* goes, and the comma that then is one too many."""
        member = self._member(path)
        inner = self._walk(path[:-1])[-1]
        at = inner.members.index(member)
        if at + 1 < len(inner.members):
            return self._cutting(member, inner.members[at + 1].start)
        comma = self._uncommented.find(",", member.end, inner.close)
        if at > 0:
            last = inner.members[at - 1]
            before = self._uncommented.index(",", last.end)
            between = self.text[before + 1 : member.start].rstrip(_BLANK)
            if comma >= 0:  # and the one before becomes the comma at the end
                return Edit(before + 1, comma + 1, between)
            kept = self.text[last.end : before] + between
            return Edit(last.end, member.end, kept)
        around = self.text[inner.start + 1 : member.start]
        around += self.text[member.end : inner.close]
        if not around.strip(f"{_BLANK},"):
            return Edit(inner.start + 1, inner.close, "")
        return self._cutting(member, inner.close)

    def _cutting(self, member: _Member, until: int) -> Edit:
        """The member, its comma if it has one, and the space it took."""
        comma = self._uncommented.find(",", member.end, until)
        if comma >= 0:
            kept = self.text[member.end : comma].strip(_BLANK)
            return Edit(member.start, _skip(self.text, comma + 1), kept)
        ends_its_line = self.text[member.end : member.end + 2].startswith(
            ("\n", "\r\n")
        )
        start = len(self.text[: member.start].rstrip(_BLANK))
        return Edit(start if ends_its_line else member.start, member.end, "")

    def _filling(self, inner: _Object, key: str, value: Any) -> Edit:
        """The first member of an empty object."""
        old = self.text[inner.start + 1 : inner.close]
        if self._is_inline():
            return Edit(
                inner.start + 1, inner.close, old.rstrip(_BLANK) + _pair(key, value)
            )
        outer = self._indent_at(self._line_start(inner.start))
        indent = outer + self._unit
        made = f"{json.dumps(key, ensure_ascii=False)}: {self._shown(value, indent)}"
        new = f"{old.rstrip(_BLANK)}{self._newline}{indent}{made}{self._newline}{outer}"
        return Edit(inner.start + 1, inner.close, new)

    def _appending(self, inner: _Object, key: str, value: Any) -> Edit:
        """One more member, after the last and what is said of it on its line."""
        first, last = inner.members[0], inner.members[-1]
        comma = self._uncommented.find(",", last.end, inner.close)
        after = last.end if comma < 0 else comma + 1
        is_inline = "\n" not in self._plain[inner.start : first.start]
        if is_inline:
            made = _pair(key, value)
            return Edit(after, after, f", {made}" if comma < 0 else f" {made},")
        # Comments are blank here, their line ends too: this is the end of a line.
        line_end = self._plain.find("\n", after, inner.close)
        line_end = inner.close if line_end < 0 else line_end
        rest = self.text[after:line_end].rstrip(_BLANK)
        indent = self._indent_at(self._line_start(first.start))
        made = f"{json.dumps(key, ensure_ascii=False)}: {self._shown(value, indent)}"
        added = f"{rest}{self._newline}{indent}{made}"
        new = f",{added}" if comma < 0 else f"{added},"
        return Edit(after, after + len(rest), new)

    def _shown(self, value: Any, indent: str) -> str:
        """*value* over several lines, as the rest of the text is."""
        if self._is_inline():
            return json.dumps(value, ensure_ascii=False)
        made = json.dumps(value, ensure_ascii=False, indent=self._unit)
        return made.replace("\n", self._newline + indent)

    def _is_inline(self) -> bool:
        """Whether there is something, and all of it on one line."""
        return bool(self.value) and "\n" not in self._plain.strip(_BLANK)

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _indent_at(self, line: int) -> str:
        end = line
        while end < len(self.text) and self.text[end] in " \t":
            end += 1
        return self.text[line:end]

    def _member(self, path: Path) -> _Member:
        objects = self._walk(path[:-1])
        member = objects[-1].get(path[-1]) if len(objects) == len(path) else None
        if member is None:
            raise KeyError(path)
        return member

    def _walk(self, path: Path) -> list[_Object]:
        """The objects from the root along *path*, as far as they are there."""
        objects = [self._object(_SPACE.match(self._plain).end())]  # type: ignore[union-attr]
        for key in path:
            member = objects[-1].get(key)
            if member is None:
                return objects
            if self._plain[member.value] != "{":
                raise NotJson(f"{key!r} is there, but is no object")
            objects.append(self._object(member.value))
        return objects

    def _object(self, start: int) -> _Object:
        plain = self._plain
        members = []
        at = _skip(plain, start + 1)
        while plain[at] != "}":
            key, end = _DECODER.raw_decode(plain, at)
            value = _skip(plain, _skip(plain, end) + 1)
            _, after = _DECODER.raw_decode(plain, value)
            members.append(_Member(key, at, value, after))
            at = _skip(plain, after)
            if plain[at] == ",":
                at = _skip(plain, at + 1)
        return _Object(start, tuple(members), at)


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _pair(key: str, value: Any) -> str:
    return json.dumps({key: value}, ensure_ascii=False)[1:-1]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _blank_comment(token: re.Match[str]) -> str:
    found = token[0]
    return found if found.startswith('"') else " " * len(found)


def _blank_commas(text: str) -> str:
    """Without the commas at the ends of lists; of what is no JSON anyway, with them."""

    def blank(token: re.Match[str]) -> str:
        before = token.start() - 1
        while before >= 0 and text[before] in _BLANK:
            before -= 1
        ends_a_list = token[0] == "," and text[before] not in "{[,:"
        return " " if ends_a_list else token[0]

    return _COMMA.sub(blank, text)


def _refuse(constant: str) -> NoReturn:
    raise NotJson(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)

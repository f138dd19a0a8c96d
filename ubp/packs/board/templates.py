"""The little of Handlebars that a board's template may use.

``{{name}}``, with dots for what is inside, ``{{this}}``, and ``{{#each name}}`` up to
``{{/each}}``. Numbers are written as in JSON. Nothing is escaped: what is made is
Markdown.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

__all__ = ("TemplateError", "filled")

_TAG = re.compile(r"\{\{\{?\s*(.*?)\s*\}?\}\}", re.DOTALL)
_NAME = re.compile(r"(?:\.\./|this\.)*(?:@?\w+)(?:\.\w+)*\Z")


class TemplateError(Exception):
    """The template cannot be used; the message says where."""


def filled(template: str, values: Any) -> str:
    """*template* with *values* in it.

    Raises:
        TemplateError: It has a tag that is not closed, or not known.
    """
    parts, _ = _parsed(_TAG.split(template), 0, inside=False)
    return "".join(_written(parts, [values]))


def _parsed(
    pieces: Sequence[str], start: int, *, inside: bool
) -> tuple[list[Any], int | None]:
    """What stands from *start*, and where the block ends it is inside of."""
    parts: list[Any] = []
    at = start
    while at < len(pieces):
        piece = pieces[at]
        if at % 2 == 0:
            if "{{" in piece or "}}" in piece:
                raise TemplateError("There is a tag that is not closed.")
            parts.append(piece)
        elif piece.startswith("!"):
            pass
        elif piece.startswith("#each"):
            name = _checked(piece.removeprefix("#each").strip())
            block, end = _parsed(pieces, at + 1, inside=True)
            if end is None:
                raise TemplateError("{{#each}} is not closed.")
            parts.append(("each", name, block))
            at = end
        elif piece == "/each":
            if not inside:
                raise TemplateError("{{/each}} closes nothing.")
            return parts, at
        elif piece.startswith(("#", "/", "^", ">", "else")):
            raise TemplateError(f"{{{{{piece}}}}} is not known here.")
        else:
            parts.append(("value", _checked(piece)))
        at += 1
    return parts, None


def _checked(name: str) -> str:
    if not _NAME.match(name):
        raise TemplateError(f"{name!r} is no name.")
    return name


def _written(parts: Sequence[Any], scopes: list[Any]) -> list[str]:
    made: list[str] = []
    for part in parts:
        if isinstance(part, str):
            made.append(part)
        elif part[0] == "value":
            made.append(_text(_value(part[1], scopes)))
        else:
            items = _value(part[1], scopes)
            for item in items if isinstance(items, list) else ():
                made += _written(part[2], [*scopes, item])
    return made


def _value(name: str, scopes: list[Any]) -> Any:
    up = name.count("../")
    names = name.replace("../", "").split(".")
    value = scopes[max(0, len(scopes) - 1 - up)]
    for each in names:
        if each != "this":
            value = value.get(each) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

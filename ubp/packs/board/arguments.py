"""What arguments of the board's tools have in common."""

import re
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta

from ubp.errors import shortened
from ubp.packs.board.failures import InvalidValue
from ubp.packs.board.ulids import ulid_or_none
from ubp.reading import frontmatter
from ubp.reading.frontmatter_edits import rendered_block

__all__ = (
    "BoardName",
    "CardId",
    "Priority",
    "checked_id",
    "checked_text",
    "checked_title",
    "checked_values",
)

BoardName = Annotated[str, Meta(description="Which board")]
CardId = Annotated[str, Meta(description="ULID")]
Priority = Literal["P0", "P1", "P2", "P3"]

LONGEST_TITLE = 200
_LONGEST_KEY = 100
_IN_NO_FILE = re.compile("[\x00\ud800-\udfff]")

_OWN = ("id", "created_at", "completed_at")
_TEXTS = ("description", "lane", "resume_hint")
_LISTS = ("labels", "assignees", "next_steps", "blockers")
_PRIORITIES = ("P0", "P1", "P2", "P3")


def checked_id(given: str) -> str:
    """The id as it is written.

    Raises:
        InvalidValue: It is none.
    """
    ident = ulid_or_none(given.strip())
    if ident is None:
        raise InvalidValue(
            f"{shortened(given)!r} is no id of a card.",
            cause="An id is a ULID: 26 letters and digits.",
            hint="Take it from kanban_list or `ubp board list`.",
        )
    return ident


def checked_title(given: str) -> str:
    """The title on one line.

    Raises:
        InvalidValue: It is none.
    """
    title = " ".join(given.split())
    if not title or len(title) > LONGEST_TITLE:
        raise InvalidValue(f"A title has 1 to {LONGEST_TITLE} characters.")
    return _printable(title, "title")


def checked_text(given: str, key: str) -> str:
    """A text of any length, which a file can hold.

    Raises:
        InvalidValue: It is none.
    """
    if _IN_NO_FILE.search(given):
        raise InvalidValue(f"`{key}` has a character that cannot be shown.")
    return given


def checked_values(given: dict[str, Any]) -> dict[str, Any]:
    """The values of a patch, as the front matter is to have them; None is to go.

    Raises:
        InvalidValue: One of them does not fit.
    """
    return {
        _key(key): _checked("relates" if key == "relates_to" else key, value)
        for key, value in given.items()
    }


def _key(key: str) -> str:
    if key in _OWN:
        raise InvalidValue(
            f"`{key}` is kept by the board itself and cannot be set.",
            hint="Leave it out; kanban_move and kanban_done keep it.",
        )
    if not key.strip() or len(key) > _LONGEST_KEY or not key.isprintable():
        raise InvalidValue(f"{shortened(key)!r} is no name of a field.")
    return "relates" if key == "relates_to" else key


def _checked(key: str, value: Any) -> Any:
    if key == "title":
        if not isinstance(value, str):
            raise InvalidValue("`title` has to be text; a card cannot be without.")
        return checked_title(value)
    check = _CHECKS.get(key, _own)
    return None if value is None else check(key, value)


def _own(key: str, value: Any) -> Any:
    """A value of a field that is the caller's own."""
    block = rendered_block({key: value})
    if frontmatter.split(f"---\n{block}---\n").values != {key: value}:
        raise InvalidValue(f"`{key}` has a value that a card's file cannot hold.")
    return value


def _priority(key: str, value: Any) -> str:
    if value not in _PRIORITIES:
        raise InvalidValue(f"`{key}` is one of {', '.join(_PRIORITIES)}.")
    return str(value)


def _size(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValue(f"`{key}` is a whole number of at least 0.")
    return value


def _ids(key: str, value: Any) -> list[str] | None:
    ids = [checked_id(each) for each in _texts(key, value)]
    return list(dict.fromkeys(ids)) or None


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"`{key}` has to be text.")
    return _printable(value, key)


def _texts(key: str, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise InvalidValue(f"`{key}` has to be a list of texts.")
    return [_text(key, each) for each in value]


def _printable(text: str, key: str) -> str:
    """*text*, which a file can hold and a terminal can show."""
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
            raise InvalidValue(f"`{key}` has a character that cannot be shown.")
    return text


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(_TEXTS, lambda key, value: _text(key, value) or None),
    **dict.fromkeys(_LISTS, lambda key, value: _texts(key, value) or None),
    "priority": _priority,
    "size": _size,
    "parent": lambda key, value: checked_id(_text(key, value)),
    "depends_on": _ids,
    "relates": _ids,
}

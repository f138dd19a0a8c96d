"""The bytes of a card's file, changed where something changes and nowhere else."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ubp.packs.board.cards import with_body
from ubp.packs.board.failures import Conflict
from ubp.reading.frontmatter_edits import (
    CannotEdit,
    Parts,
    edited,
    parts_of,
    rendered_block,
)

__all__ = ("Body", "changed_content", "new_content")

_BOM = "\ufeff"


class Body(NamedTuple):
    """A text for the body of a card."""

    text: str
    replace: bool = False


def new_content(values: Mapping[str, Any], body: str) -> bytes:
    """The file of a new card."""
    parts = Parts("---\n", rendered_block(values), "---\n", "")
    if body:
        parts = with_body(parts, body, replace=True)
    return "".join(parts).encode()


def changed_content(
    content: bytes,
    ident: str,
    values: Mapping[str, Any],
    body: Body | None = None,
) -> bytes:
    """*content* with other values, None for those that are to go, and another body.

    Raises:
        Conflict: Its author has to mend it first.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise _damaged(ident, "The file is not UTF-8.") from None
    bom = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    parts = parts_of(text)
    if parts is None:
        if not values and body is None:
            return content
        newline = "\r\n" if "\r\n" in text else "\n"
        block = rendered_block({"id": ident}).replace("\n", newline)
        fence = f"---{newline}"
        parts = Parts(fence, block, fence, f"{newline}{text}" if text else "")
    try:
        parts = edited(parts, values)
    except CannotEdit as error:
        raise _damaged(ident, str(error)) from None
    if body is not None:
        parts = with_body(parts, body.text, replace=body.replace)
    return (bom + "".join(parts)).encode()


def _damaged(ident: str, why: str) -> Conflict:
    return Conflict(
        f"The front matter of {ident} cannot be changed. {why}",
        cause=why,
        hint="Mend it in an editor; `ubp board lint` says what is wrong.",
    )
